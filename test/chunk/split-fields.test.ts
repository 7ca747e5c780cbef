/** Pages whose fields are columns of their split lines: what is written is read, by this program and by a reader of the format alone. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import type { FieldColumns } from '../../shared/base/model/page-fields.ts';
import { ChunkAssembler } from '../../shared/storage/chunk/chunk-assembler.ts';
import { ColumnKind, type PageMeta } from '../../shared/storage/chunk/format.ts';
import { decodePage, footerOf, type PageWants, wantedBytes } from '../../shared/storage/chunk/reader.ts';
import { COMPACTION_COMPRESSION, loadBlock } from '../../shared/storage/codec/compression.ts';
import { FALLBACK_ID } from '../../shared/storage/columns/column-decoder.ts';
import { fieldOfKey } from '../../shared/storage/columns/column-field.ts';
import { decodeSplitField } from '../../shared/storage/columns/split-field.ts';
import {
  readFrameBlock,
  SPLIT_NUMBER,
  SPLIT_TEXT,
  SPLIT_WORDS,
  SplitFrame,
} from '../../shared/storage/columns/split-frame.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { entriesOfPage, type PlainEntry, rowsOf } from '../support/rows.ts';
import { bySuite } from '../support/suite.ts';
import { readEntries } from './independent-reader.ts';
import { readSplitFields } from './independent-split.ts';

const HEAD = {
  id: '0123456789abcdef0123456789abcdef',
  tenant: 't',
  day: 20_412,
  level: 2,
  createdMs: 1,
  inputs: [],
};
const DAY_START = BigInt(HEAD.day) * 86_400_000_000_000n;
const EVERYTHING: PageWants = { lines: 'bytes', metadata: 'all' };

function entriesOf(lines: readonly string[]): PlainEntry[] {
  return lines.map((line, i) => ({
    stream: { app: 'a' },
    time: 1_000_000_000 * i,
    line,
    metadata: {},
  }));
}

async function objectOf(lines: readonly string[]): Promise<Buffer> {
  const assembler = new ChunkAssembler(COMPACTION_COMPRESSION, chunkIndexers(0)());
  await assembler.add(rowsOf(entriesOf(lines)), { last: true });
  const { parts, bytes } = await assembler.finish(HEAD);
  return Buffer.concat(parts, bytes);
}

/** Value of each row of a field: a text, undefined, or `parse`. */
function valuesOf(fields: FieldColumns, parser: 'json' | 'logfmt', name: string) {
  const found = fields.column(parser, name);
  return (
    found &&
    Array.from(found.column.ids, id =>
      id === FALLBACK_ID ? 'parse' : id === 0 ? undefined : found.column.valueAt(id - 1),
    )
  );
}

function readField(object: Buffer, page: PageMeta, parser: 'json' | 'logfmt', name: string) {
  const wants: PageWants = {
    lines: 'none',
    metadata: new Set(),
    fieldColumns: { parser, names: new Set([name]) },
  };
  const stored = object.subarray(page.offset, page.offset + wantedBytes(page, wants));
  const rows = decodePage(footerOf(object, 'object'), page, stored, wants, 'object');
  return rows.fieldColumns && valuesOf(rows.fieldColumns, parser, name);
}

const LEVELS = ['info', 'warn', 'error'];

function json(i: number): string {
  const extra = i % 7 === 0 ? `,"err":"e${i % 3}"` : '';
  return `{"ts":"2026-11-20T06:${String(i % 60).padStart(2, '0')}:00Z","level":"${LEVELS[i % 3]}","status":${200 + (i % 5)},"took":${i * 3},"ratio":${(i * 37) % 1000}.5,"wait":"${(i * 7) % 1013}ms","ctx":{"zone":"z${i % 4}","host":"h1"}${extra}}`;
}

function logfmt(i: number): string {
  return `level=${LEVELS[i % 3]} status=${200 + (i % 5)} took=${i * 3} wait=${(i * 7) % 1013}.5ms msg="request ${i % 9} done"`;
}

const many = (lineOf: (i: number) => string, count = 1500) =>
  Array.from({ length: count }, (_, i) => lineOf(i));

function kindsOf(page: PageMeta, kind: number): string[] {
  return page.columns.filter(column => column.kind === kind).map(({ name }) => name.replaceAll('\0', '.'));
}

describe('fields of split lines', () => {
  test('JSON: each field is stored once, as a column of the lines', async () => {
    const lines = many(json);
    const object = await objectOf(lines);
    const footer = footerOf(object, 'object');
    // The waits are texts with a number.
    expect(footer.version).toBe(6);
    const [page] = footer.pages;
    expect(footer.pages).toHaveLength(1);
    expect(kindsOf(page, ColumnKind.splitField)).toEqual([
      'jctx.host',
      'jctx.zone',
      'jerr',
      'jlevel',
      'jratio',
      'jstatus',
      'jtook',
      'jts',
      'jwait',
    ]);
    expect(kindsOf(page, ColumnKind.field)).toEqual([]);
    const parsed = lines.map(line => JSON.parse(line));
    for (const name of ['level', 'status', 'took', 'err', 'wait']) {
      const want = parsed.map(one => (one[name] === undefined ? undefined : String(one[name])));
      expect([name, readField(object, page, 'json', name)]).toEqual([name, want]);
    }
    expect(readField(object, page, 'json', 'ratio')).toEqual(parsed.map(({ ratio }) => ratio.toFixed(1)));
    expect(readField(object, page, 'json', 'ctx_zone')).toEqual(parsed.map(({ ctx }) => ctx.zone));
    // Lines of one parser are left to the parser of the other.
    expect(readField(object, page, 'logfmt', 'level')).toBeUndefined();
  });

  test('JSON, logfmt and other lines in one page: rows of another parser must be parsed', async () => {
    const lineOf = (i: number) =>
      i % 3 === 0 ? json(i) : i % 3 === 1 ? logfmt(i) : `GET /items/${i} took ${i % 11} ms`;
    const lines = many(lineOf, 3000);
    const object = await objectOf(lines);
    const [page] = footerOf(object, 'object').pages;
    expect(kindsOf(page, ColumnKind.splitFrame)).toEqual(['']);
    for (const [parser, mine] of [
      ['json', 0],
      ['logfmt', 1],
    ] as const) {
      const found = readField(object, page, parser, 'level');
      expect(found).toEqual(lines.map((_, i) => (i % 3 === mine ? LEVELS[i % 3] : 'parse')));
    }
  });

  test('a query of one field reads the frame and no lines', async () => {
    const object = await objectOf(many(json));
    const [page] = footerOf(object, 'object').pages;
    const fieldColumns = { parser: 'json', names: new Set(['level']) } as const;
    const some = wantedBytes(page, { lines: 'none', metadata: new Set(), fieldColumns });
    expect(some).toBeLessThan(wantedBytes(page, EVERYTHING));
    expect(page.columns.at(-1)?.kind).toBe(ColumnKind.splitLines);
  });

  test.each([
    ['a key twice', (i: number) => (i % 9 === 0 ? json(i).replace('{', '{"status":1,') : json(i)), 'jstatus'],
    ['an escape', (i: number) => json(i).replace('"level":"warn"', '"level":"w\\u0061rn"'), 'jlevel'],
    ['a null', (i: number) => json(i).replace('"status":203', '"status":null'), 'jstatus'],
    ['an object', (i: number) => json(i).replace('"status":203', '"status":{"a":1}'), 'jstatus'],
    [
      'a colliding name',
      (i: number) => (i % 9 === 0 ? json(i).replace('{', '{"ctx_zone":1,') : json(i)),
      'jctx.zone',
    ],
    [
      'bytes that are no text',
      (i: number) => json(i).replace('"level":"warn"', '"level":"\ufffd"'),
      'jlevel',
    ],
    [
      'keys that end alike',
      (i: number) => json(i).replace('"host":"h1"', '"host":{"zone":"y"}'),
      'jctx.zone',
    ],
  ])('%s: the field has a column of values, or none', async (_, lineOf, name) => {
    const object = await objectOf(many(lineOf));
    const [page] = footerOf(object, 'object').pages;
    expect(kindsOf(page, ColumnKind.splitField)).not.toContain(name);
    expect(kindsOf(page, ColumnKind.splitField)).toContain('jtook');
    expect(readEntries(object).map(({ line }) => line)).toEqual(many(lineOf));
  });

  test('a line of a template that is not strictly JSON: no field is a column of the lines', async () => {
    const lines = many(i => (i === 700 ? json(i).replace('"status":200', '"status":2x0') : json(i)));
    const object = await objectOf(lines);
    const [page] = footerOf(object, 'object').pages;
    expect(kindsOf(page, ColumnKind.splitField)).toEqual([]);
    expect(readField(object, page, 'json', 'level')?.[700]).toBe('parse');
  });

  test('lines, and the fields of a reader of the format alone, are the same for any lines', async () => {
    const line = fc.oneof(
      { weight: 8, arbitrary: fc.nat(5000).map(json) },
      { weight: 8, arbitrary: fc.nat(5000).map(logfmt) },
      { weight: 1, arbitrary: fc.string() },
      { weight: 1, arbitrary: fc.nat(9).map(i => `{"level":"x","status":${'9'.repeat(i)}}`) },
    );
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 40 }), async some => {
        const lines = Array.from({ length: 900 }, (_, i) => some[i % some.length]);
        const object = await objectOf(lines);
        const footer = footerOf(object, 'object');
        const read = footer.pages.flatMap(page =>
          entriesOfPage(
            decodePage(footer, page, object.subarray(page.offset), EVERYTHING, 'object'),
            DAY_START,
          ),
        );
        expect(read.map(({ line: own }) => own)).toEqual(lines);
        expect(readEntries(object).map(({ line: own }) => own)).toEqual(lines);
        for (const page of footer.pages) {
          for (const { name, values } of readSplitFields(object.subarray(page.offset), page)) {
            const field = fieldOfKey(name)!;
            expect([name, readField(object, page, field.parser, field.name)]).toEqual([name, values]);
            found++;
          }
        }
      }),
      { numRuns: 30 },
    );
    expect(found).toBeGreaterThan(bySuite({ fast: 2, full: 15 }));
  });

  test('blocks that are damaged: lines are refused, and fields are parsed', async () => {
    const object = await objectOf(many(json));
    const footer = footerOf(object, 'object');
    const [page] = footer.pages;
    for (const { kind, name, block } of page.columns) {
      if (kind !== ColumnKind.splitField && kind !== ColumnKind.splitFrame) continue;
      const damaged = Buffer.from(object);
      damaged[page.offset + block.offset + block.storedBytes - 1] ^= 1;
      const own = kind === ColumnKind.splitField ? fieldOfKey(name)!.name : 'level';
      expect(readField(damaged, page, 'json', own)).toBeUndefined();
      const rows = decodePage(footer, page, damaged.subarray(page.offset), EVERYTHING, 'object');
      expect(() => rows.lines).toThrow(CorruptionError);
    }
  });

  test('a frame block whose numbers of columns are cut off, unknown, or one too many is refused', async () => {
    const object = await objectOf(many(json));
    const [page] = footerOf(object, 'object').pages;
    const { block } = page.columns.find(({ kind }) => kind === ColumnKind.splitFrame)!;
    const stored = object.subarray(
      page.offset + block.offset,
      page.offset + block.offset + block.storedBytes,
    );
    const raw = loadBlock(stored, block, 'object');
    const fields = kindsOf(page, ColumnKind.splitField).length;
    const { frame, columns } = readFrameBlock(raw, page.rows, fields, 'object');
    expect(new Set(columns).size).toBe(fields);
    expect(raw.length).toBe(frame.bytes + frame.templates + 1 + 2 * fields);
    const unknown = Buffer.from(raw);
    unknown.writeUInt16LE(frame.columns, raw.length - 2);
    for (const changed of [raw.subarray(0, -2), Buffer.concat([raw, Buffer.alloc(2)]), unknown])
      expect(() => readFrameBlock(changed, page.rows, fields, 'object')).toThrow(CorruptionError);
    const wide = Buffer.from(raw);
    wide.writeUInt32LE(2049, 12);
    const large = Buffer.concat([wide, Buffer.alloc(24 * (2049 - frame.columns))]);
    expect(() => readFrameBlock(large, page.rows, fields, 'object')).toThrow(CorruptionError);
    for (let end = 0; end < raw.length; end += 97)
      expect(() => readFrameBlock(raw.subarray(0, end), page.rows, fields, 'object')).toThrow(
        CorruptionError,
      );
  });

  test.each([
    ['text', { type: SPLIT_TEXT, bytes: 0, number: 0 }, Buffer.alloc(0)],
    ['one word', { type: SPLIT_WORDS, bytes: 2, number: 1 }, Buffer.alloc(2)],
    ['numbers', { type: SPLIT_NUMBER, bytes: 0, number: 0 }, Buffer.alloc(0)],
  ])('a column of %s that claims four billion values is refused', (_, record, bytes) => {
    const rows = 3;
    const frame = Buffer.alloc(24 + 24 + rows);
    frame.writeUInt32LE(1, 12);
    frame.writeUInt32LE(rows, 16);
    frame.writeUInt32LE(1, 20);
    frame[24] = record.type;
    frame.writeUInt32LE(0xffff_ffff, 24 + 4);
    frame.writeUInt32LE(record.bytes, 24 + 8);
    frame.writeUInt32LE(record.number, 24 + 12);
    const field = { parser: 'json', column: 0, bytes } as const;
    const read = new SplitFrame(frame, rows, 'page');
    expect(() => decodeSplitField(read, Uint8Array.of(1), field, 'field')).toThrow(CorruptionError);
  });
});
