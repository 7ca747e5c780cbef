/** A reader written only from docs/dev/format.md reads what the program writes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ChunkRecord, encodeRecord, recordOf } from '../../shared/storage/catalog/chunk-record.ts';
import { encodeFooter } from '../../shared/storage/chunk/footer-codec.ts';
import type { ColumnMeta, Footer } from '../../shared/storage/chunk/format.ts';
import { decodePage, footerOf } from '../../shared/storage/chunk/reader.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { arbitraryEntries, entriesOfPage, type PlainEntry, rowsOf } from '../support/rows.ts';
import { readEntries, readFooter, readRecord } from './independent-reader.ts';
import { readSplitFields } from './independent-split.ts';

const ROOT = join(import.meta.dirname, '../..');
const HEAD = {
  id: '000102030405060708090a0b0c0d0e0f',
  tenant: 't',
  day: 20_412,
  level: 0,
  createdMs: 1_763_600_000_000,
  inputs: [],
};

async function write(
  entries: readonly PlainEntry[],
  head: Partial<Omit<typeof HEAD, 'inputs'>> & { inputs?: string[]; origin?: string } = {},
) {
  const written = await writeChunk({ ...HEAD, ...head }, rowsOf(entries), QUICK_COMPRESSION);
  return { ...written, object: Buffer.concat(written.parts, written.bytes) };
}

/** The program's footer in the shape of the independent reader's. */
function plainFooter({ streams, pages, counts, ...rest }: Footer) {
  return {
    ...rest,
    streams: streams.map(({ labels }) => labels),
    pages: pages.map(({ columns, ...page }) => ({
      ...page,
      columns: columns.map(({ block, dictionary, ...column }) => ({ ...column, ...block, dictionary })),
    })),
    counts: Array.from(counts, ofStream =>
      ofStream.map(({ level, minutes, entries, lineBytes, metadataBytes }) => ({
        level,
        buckets: minutes.map((minute, i) => ({
          minute,
          entries: entries[i],
          lineBytes: lineBytes[i],
          metadataBytes: metadataBytes[i],
        })),
      })),
    ),
  };
}

function programEntries(object: Buffer): PlainEntry[] {
  const footer = footerOf(object, 'object');
  const wants = { lines: 'bytes', metadata: 'all' } as const;
  const dayStart = BigInt(footer.day) * 86_400_000_000_000n;
  return footer.pages.flatMap(page =>
    entriesOfPage(decodePage(footer, page, object.subarray(page.offset), wants, 'object'), dayStart),
  );
}

/** Bytes of the listing in docs/dev/format.md#7-an-object-by-hand; its offsets must follow each other. */
function listing(): Buffer {
  const page = readFileSync(join(ROOT, 'docs/dev/format.md'), 'utf8');
  const block = /```hex\n([^`]+)```/.exec(page)![1];
  const bytes: number[] = [];
  for (const line of block.trimEnd().split('\n')) {
    const [, offset, hex] = /^ *(\d+) {2}((?:[0-9a-f]{2} ?)+)/.exec(line)!;
    expect([line, Number(offset)]).toEqual([line, bytes.length]);
    for (const byte of hex.trim().split(' ')) bytes.push(Number.parseInt(byte, 16));
  }
  return Buffer.from(bytes);
}

describe('a reader that knows docs/dev/format.md alone', () => {
  test('reads the golden file of version 1', () => {
    const object = readFileSync(join(ROOT, 'test/chunk/golden/v1.chunk'));
    const { entries } = JSON.parse(readFileSync(join(ROOT, 'test/chunk/golden/v1.json'), 'utf8'));
    expect(entries).toHaveLength(400);
    expect(readEntries(object)).toEqual(entries);
    expect(readFooter(object)).toEqual(plainFooter(footerOf(object, 'golden')));
  });

  test('reads the golden file of version 2, which has split and plain lines', () => {
    const object = readFileSync(join(ROOT, 'test/chunk/golden/v2.chunk'));
    const { entries } = JSON.parse(readFileSync(join(ROOT, 'test/chunk/golden/v2.json'), 'utf8'));
    expect(entries).toHaveLength(600);
    expect(readEntries(object)).toEqual(entries);
    const footer = readFooter(object);
    expect(footer).toEqual(plainFooter(footerOf(object, 'golden')));
    expect(footer.version).toBe(2);
    expect(footer.pages.map(({ columns }) => columns.at(-1)?.kind)).toEqual([8, 4]);
  });

  test.each([
    ['3, which has fields of split lines', 3],
    ['4, whose split lines show times', 4],
    ['5, which has lengths of a fixed width', 5],
    ['6, which has low bits of times', 6],
    ['7, whose pages are not in the order of their rows', 7],
  ])('reads the golden file of version %s', (_, version) => {
    const object = readFileSync(join(ROOT, `test/chunk/golden/v${version}.chunk`));
    const text = readFileSync(join(ROOT, `test/chunk/golden/v${version}.json`), 'utf8');
    const { entries, fields } = JSON.parse(text);
    expect(entries).toHaveLength(version === 7 ? 1200 : 600);
    expect(readEntries(object)).toEqual(entries);
    const footer = footerOf(object, 'golden');
    expect(footer.version).toBe(version);
    const has = (is: (column: ColumnMeta) => boolean | undefined) =>
      footer.pages.some(({ columns }) => columns.some(is));
    expect(has(({ isTimed }) => isTimed)).toBe(version >= 4);
    expect(has(({ kind }) => kind === 11)).toBe(version >= 5);
    expect(has(({ kind }) => kind === 12)).toBe(version >= 6);
    expect(readFooter(object)).toEqual(plainFooter(footer));
    const own = footer.pages.map(page =>
      Object.fromEntries(
        readSplitFields(object.subarray(page.offset), page).map(({ name, values }) => [
          `10 ${name}`,
          values.map(value => (value === 'parse' ? false : (value ?? null))),
        ]),
      ),
    );
    expect(own.flatMap(ofPage => Object.keys(ofPage)).length).toBeGreaterThan(3);
    for (const [i, ofPage] of own.entries()) expect(fields[i]).toMatchObject(ofPage);
  });

  test('reads an object with fields, residuals and sections, and ignores those', () => {
    const object = readFileSync(join(ROOT, 'test/chunk/golden/v3-enriched.chunk'));
    const { entries } = JSON.parse(readFileSync(join(ROOT, 'test/chunk/golden/v3-enriched.json'), 'utf8'));
    expect(entries).toHaveLength(240);
    expect(readEntries(object)).toEqual(entries);
    const footer = readFooter(object);
    expect(footer).toEqual(plainFooter(footerOf(object, 'golden')));
    const kinds = footer.pages.map(({ columns }) => columns.map(({ kind }) => kind));
    expect(kinds.filter(ofPage => ofPage.includes(5) && ofPage.includes(7))).toHaveLength(kinds.length);
  });

  test('reads the example of the page, which equals the output of the writer', async () => {
    const entries: PlainEntry[] = [
      {
        stream: { a: 'b' },
        time: 1_000_000_000,
        line: 'one',
        metadata: { detected_level: 'info', k: 'v' },
      },
      { stream: { a: 'b' }, time: 1_000_123_457, line: 'two!', metadata: { detected_level: 'info' } },
    ];
    const bytes = listing();
    expect(readEntries(bytes)).toEqual(entries);
    expect(readFooter(bytes)).toMatchObject({ ...HEAD, rows: 2, metadataBytes: 38 });
    const { object } = await write(entries);
    expect(bytes.toString('hex')).toBe(object.toString('hex'));
  });

  test('reads everything that the writer writes', async () => {
    const heads = fc.record({
      day: fc.integer({ min: -106_752, max: 106_751 }),
      tenant: fc.string({ unit: 'grapheme', maxLength: 10 }),
      level: fc.integer({ min: 0, max: 5 }),
      inputs: fc.array(fc.constantFrom('ab'.repeat(16), '01'.repeat(16)), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), heads, async (entries, head) => {
        const { object, footer } = await write(entries, head as object);
        expect(readEntries(object)).toEqual(programEntries(object));
        expect(readFooter(object)).toEqual(plainFooter(footer));
      }),
      { numRuns: 100 },
    );
  });

  test('reads dictionaries outside the footer, repeated values, and several pages', async () => {
    const entries = Array.from({ length: 3000 }, (_, i): PlainEntry => {
      const metadata = { id: `${i % 700}`, ...(i % 3 === 0 ? { big: 'x'.repeat(i % 600) } : {}) };
      return { stream: { s: `${i % 3}` }, time: i * 1_000_003, line: 'y'.repeat(i % 1500), metadata };
    });
    const { object, footer } = await write(entries);
    expect(footer.pages.length).toBeGreaterThan(2);
    const columns = footer.pages.flatMap(page => page.columns.filter(({ kind }) => kind === 2));
    expect(columns.every(({ dictionary }) => dictionary === undefined)).toBe(true);
    expect(readEntries(object)).toEqual(programEntries(object));
    expect(readEntries(object)).toHaveLength(3000);
  });

  test('skips unknown parts, as the program does', async () => {
    const entries: PlainEntry[] = [{ stream: { a: 'b' }, time: 5, line: 'x', metadata: {} }];
    const { object, footer, footerBytes } = await write(entries);
    const extra = Buffer.from('some filter');
    const block = {
      offset: object.length - footerBytes,
      storedBytes: extra.length,
      rawBytes: extra.length,
      codec: 0,
      crc: crc32(extra),
    };
    const [page] = footer.pages;
    const unknown = {
      kind: 5,
      name: 'status',
      block: { ...block, offset: 0, storedBytes: 1 },
      constant: false,
    };
    const larger = {
      ...footer,
      pages: [{ ...page, columns: [unknown, ...page.columns, { ...unknown, kind: 1000 }] }],
      sections: [{ kind: 77, block }],
    };
    const extended = Buffer.concat([object.subarray(0, -footerBytes), extra, encodeFooter(larger)]);
    expect(readEntries(extended)).toEqual(entries);
    expect(programEntries(extended)).toEqual(entries);
    expect(readFooter(extended).sections).toEqual([{ kind: 77, block }]);
  });

  test('notices every changed byte of an object', async () => {
    const object = listing();
    for (let i = 0; i < object.length; i++) {
      const changed = Buffer.from(object);
      changed[i] ^= 0x10;
      expect(() => readEntries(changed)).toThrow();
      expect(() => programEntries(changed)).toThrow();
    }
  });

  test('reads the origin of a merged chunk', async () => {
    const origin = '00112233445566778899aabbccddeeff';
    const entry = { stream: { a: 'b' }, time: 5, line: 'x', metadata: {} };
    const { object, footer } = await write([entry], { inputs: [origin], origin });
    expect(footer.origin).toBe(origin);
    expect(readFooter(object)).toEqual(plainFooter(footerOf(object, 'merged')));
    expect(readFooter(object).origin).toBe(origin);
    expect(recordOf(footer, 1, 1, { inline: undefined, tail: Buffer.alloc(0) }).origin).toBe(origin);
  });

  test('reads catalog records', async () => {
    const { object, footer, parts, footerBytes } = await write([
      { stream: { a: 'b', app: 'shop' }, time: 5, line: 'x', metadata: {} },
      { stream: { a: 'c' }, time: 90, line: 'yy', metadata: {} },
    ]);
    const tail = parts.at(-1)!;
    const hashes = [crc32('a\0b'), crc32('a\0c'), crc32('app\0shop')].sort((a, b) => a - b);
    const sizes = { rows: 2, lineBytes: 3, metadataBytes: 0, storedBytes: object.length, footerBytes };
    const numbers = { ...sizes, asOfMs: 0 };
    const want = {
      hasHashedKey: false,
      id: HEAD.id,
      origin: HEAD.id,
      level: 0,
      first: 5,
      last: 90,
      ...numbers,
      hashes,
    };
    const read = (record: ChunkRecord) => readRecord(encodeRecord(record));
    const inline = recordOf(footer, object.length, footerBytes, { inline: object, tail });
    expect(read(inline)).toEqual({ ...want, lane: 1, bytes: object });
    const stored = recordOf(footer, object.length, footerBytes, { inline: undefined, tail });
    expect(read(stored)).toEqual({ ...want, lane: 2, bytes: Buffer.from(tail) });
    const hashed = recordOf(footer, object.length, footerBytes, {
      inline: undefined,
      tail,
      hasHashedKey: true,
    });
    expect(read(hashed)).toEqual({ ...want, hasHashedKey: true, lane: 2, bytes: Buffer.from(tail) });
    expect(read({ ...hashed, partitions: 64 })).toMatchObject({
      hasHashedKey: true,
      partitions: 64,
      lane: 2,
    });
    const textIndex = { offset: 1000, storedBytes: 300, pages: 5 };
    expect(read({ ...hashed, partitions: 1, textIndex })).toMatchObject({
      partitions: 1,
      textIndex,
      lane: 2,
    });
    expect(read({ ...hashed, textIndex, streamPart: 13 })).toMatchObject({
      textIndex,
      streamPart: 13,
      lane: 2,
    });
    const bare = { ...stored, footer: undefined, pairs: undefined };
    expect(read(bare)).toEqual({ ...want, hashes: undefined, lane: 0, bytes: Buffer.alloc(0) });
    const origin = '00112233445566778899aabbccddeeff';
    expect(read({ ...inline, origin })).toEqual({ ...want, origin, lane: 1, bytes: object });
  });
});
