/**
 * Queries join only the lines of a split page that may pass. They must have the results of a page with all lines, for any rows and
 * filters.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PageRows } from '../../shared/base/model/page.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { patternOfNeedle } from '../../shared/language/regex/byte-patterns.ts';
import { ColumnKind } from '../../shared/storage/chunk/format.ts';
import { PageColumns } from '../../shared/storage/chunk/page-columns.ts';
import {
  decodePage,
  footerOf,
  type PageWants,
  rowsOf as rowsOfColumns,
} from '../../shared/storage/chunk/reader.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { COMPACTION_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { rowsOf } from '../support/rows.ts';
import { clock, makePage } from './support.ts';

const WANTS: PageWants = { lines: 'bytes', metadata: 'all' };
const HEAD = { id: '0f'.repeat(16), tenant: 't', day: 20_412, level: 1, createdMs: 0, inputs: [] };
const WORDS = ['connection refused', 'cache miss', 'job done', 'Handshake Timeout'];

/** Lines of three shapes, with words, numbers, times, IDs and free text. */
const lineOf = (i: number): string => {
  const id = Math.imul(i + 1, 0x9e3779b1) >>> 0;
  const level = ['info', 'warn', 'error'][id % 3];
  const time = `2026-11-20T10:${String(10 + (i % 50))}:00.${100 + (i % 900)}Z`;
  const text = `${WORDS[(id >>> 3) % 4]}${id % 7 === 0 ? ` at 10.0.${id % 256}.7:80` : ''}`;
  if (i % 3 === 0)
    return `{"ts":"${time}","level":"${level}","msg":"${text}","id":"${id.toString(16)}","n":${id % 500}}`;
  if (i % 3 === 1) return `ts=${time} level=${level} msg="${text}" took=${(id % 999) / 10}ms`;
  return `10.0.0.${id % 256} - - [${time}] "GET /a/${id % 40} HTTP/1.1" ${200 + (id % 300)} ${text}`;
};
const LINES = Array.from({ length: 1200 }, (_, i) => lineOf(i));

const object = await (async () => {
  const entries = LINES.map((line, time) => ({ stream: { app: 'x' }, time, line, metadata: {} }));
  const { parts, bytes } = await writeChunk(HEAD, rowsOf(entries), COMPACTION_COMPRESSION);
  return Buffer.concat(parts, bytes);
})();
const footer = footerOf(object, 'object');
const [meta] = footer.pages;
const stored = object.subarray(meta.offset, meta.offset + meta.storedBytes);
const plain = makePage(LINES.map(line => ({ line })));
const splitRows = () => decodePage(footer, meta, stored, WANTS, 'object');

function answer(query: string, page: PageRows, rows: Uint32Array): string[] {
  const pipeline = compileLogPipeline(parseQuery(query) as LogExpr, { clock });
  const found: string[] = [];
  pipeline.run(page, Uint32Array.from(rows), rows.length, {
    wants: () => true,
    emit: (row, entry) => void found.push(`${row} ${entry.line()} ${entry.labelText()}`),
  });
  return found;
}

/** A part of a line, mostly one that occurs. */
const text = fc
  .tuple(fc.nat(LINES.length - 1), fc.nat(90), fc.integer({ min: 1, max: 24 }), fc.nat(9))
  .map(([line, from, length, change]) => {
    const part = LINES[line].slice(from, from + length);
    return change === 0 ? `${part.slice(0, -1)}#` : part;
  });
const quoted = text.map(part => JSON.stringify(part));
const regex = text.map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
const filter = fc.oneof(
  quoted.map(part => `|= ${part}`),
  quoted.map(part => `!= ${part}`),
  fc.tuple(quoted, quoted).map(([a, b]) => `|= ${a} or ${b}`),
  fc.tuple(regex, regex).map(([a, b]) => `|~ ${JSON.stringify(`${a}|${b}`)}`),
  regex.map(part => `|~ ${JSON.stringify(`(?i)${part}`)}`),
  regex.map(part => `|~ ${JSON.stringify(`${part}.*[0-9]`)}`),
  fc.constantFrom('', '|> "<_>level=<_>"', '|= ip("10.0.0.7")'),
);
const stage = fc.constantFrom('', '| json', '| logfmt', '| json | n > 250', '| pattern "<_> [<t>] <_>"');
const query = fc
  .tuple(fc.array(filter, { maxLength: 2 }), stage)
  .map(([filters, last]) => `{app="x"} ${filters.join(' ')} ${last}`);
/** All rows, few rows, or a range. */
const selected = fc
  .tuple(fc.nat(2), fc.nat(LINES.length), fc.integer({ min: 1, max: 400 }))
  .map(([kind, from, step]) =>
    Uint32Array.from(LINES.keys()).filter(row =>
      kind === 0 ? true : kind === 1 ? row % step === from % step : row >= from && row < from + step,
    ),
  )
  .filter(rows => rows.length > 0);

describe('pages with the lines of some rows', () => {
  test('the page is split', () => {
    expect(footer.pages).toHaveLength(1);
    expect(meta.columns.at(-1)?.kind).toBe(ColumnKind.splitLines);
  });

  test('results are those of all lines', () => {
    fc.assert(
      fc.property(query, selected, (text, rows) => {
        expect(answer(text, splitRows(), rows)).toEqual(answer(text, plain, rows));
      }),
      { numRuns: 600 },
    );
  });

  test('a text keeps few rows, and the lines of others are zeros', () => {
    const page = splitRows();
    const selection = Uint32Array.from(LINES.keys());
    const narrowed = page.narrow!(selection, LINES.length, [patternOfNeedle(Buffer.from('level=error'))])!;
    const want = LINES.flatMap((line, row) => (line.includes('level=error') ? [row] : []));
    expect(Array.from(selection.subarray(0, narrowed.count))).toEqual(want);
    const lineIn = (lines: Buffer, row: number) =>
      lines.toString('latin1', page.lineOffsets[row], page.lineOffsets[row + 1]);
    const { lines } = narrowed.page;
    for (const row of LINES.keys()) {
      expect(lineIn(lines, row)).toBe(want.includes(row) ? LINES[row] : '\0'.repeat(LINES[row].length));
    }
    // Another reader of the page needs all of them.
    expect(page.lines.toString()).toBe(LINES.join(''));
    expect(narrowed.page.narrow?.(selection, 1, [])).toBeUndefined();
  });

  test('few rows are joined when their lines are read, and many rows with all lines', () => {
    const page = splitRows();
    const selection = Uint32Array.of(3, 500, 1199);
    const { page: few, count } = page.narrow!(selection, 3, [])!;
    selection.fill(0);
    expect(count).toBe(3);
    const { lineOffsets } = page;
    for (const row of [3, 500, 1199])
      expect(few.lines.toString('latin1', lineOffsets[row], lineOffsets[row + 1])).toBe(LINES[row]);
    expect(few.lines[lineOffsets[4]]).toBe(0);
    expect(page.narrow!(Uint32Array.from(LINES.keys()), LINES.length, [])).toBeUndefined();
  });

  test('cached pages keep all lines', () => {
    const slot = Buffer.alloc(meta.lineBytes);
    const keeper = {
      slotFor: () => slot,
      usedLines: () => undefined,
      forget: () => undefined,
      noteLearned: () => undefined,
      hasLearned: () => false,
    };
    const columns = new PageColumns(footer, meta, 'object', keeper);
    columns.add(0, stored);
    const pattern = patternOfNeedle(Buffer.from('level=error'));
    expect(rowsOfColumns(columns, WANTS).narrow!(Uint32Array.of(1), 1, [pattern])).toBeUndefined();
  });
});
