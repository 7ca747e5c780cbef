/** Cached pages equal pages that are read, for any history of use, retention and eviction. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { ColumnKind, type Footer } from '../../shared/storage/chunk/format.ts';
import {
  decodePage,
  footerOf,
  missingRange,
  type PageWants,
  rowsOf as viewOf,
} from '../../shared/storage/chunk/reader.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { rowsOf } from '../support/rows.ts';

const PAGES = 90;
const ROWS = 20;
/** Lines: 4 x 64 KiB, 21 pages of 9 kB. Columns: 138 kB, about 60 pages. */
const CACHE_BYTES = 400_000;
const EVERYTHING: PageWants = { lines: 'bytes', metadata: 'all' };

interface Chunk {
  readonly name: string;
  readonly object: Buffer;
  readonly footer: Footer;
}

/** A chunk of one page. */
async function chunkOf(number: number, lineBytes = 450): Promise<Chunk> {
  const entries = Array.from({ length: ROWS }, (_, row) => ({
    stream: { app: 'a' },
    time: row * 1e9 + number,
    line: `page ${number} row ${row} `.padEnd(lineBytes, `${number},`),
    metadata: { trace: `${number}-${row}` },
  }));
  const head = {
    id: `${number}`.padStart(32, '0'),
    tenant: 't',
    day: 20_000,
    level: 0,
    createdMs: 0,
    inputs: [],
  };
  const { parts, bytes } = await writeChunk(head, rowsOf(entries), QUICK_COMPRESSION);
  const object = Buffer.concat(parts, bytes);
  return { name: `t/${head.id}`, object, footer: footerOf(object, 'chunk') };
}

const chunks = await Promise.all(Array.from({ length: PAGES }, (_, number) => chunkOf(number)));
const plain = chunks.map(({ footer, object }) =>
  plainOf(decodePage(footer, footer.pages[0], object, EVERYTHING, 'x')),
);

function plainOf({ rows, times, lines, lineOffsets, metadata }: PageRows): unknown[] {
  return Array.from({ length: rows }, (_, row) => [
    times[row],
    lines.toString('utf8', lineOffsets[row], lineOffsets[row + 1]),
    metadata.map(column => [
      column.name,
      column.ids[row] > 0 ? column.valueAt(column.ids[row] - 1) : undefined,
    ]),
  ]);
}

/** Uses a page, reads its missing parts, and returns how much was read. */
function use(
  cache: PageCache,
  { name, object, footer }: Chunk,
  wants = EVERYTHING,
  how: Parameters<PageCache['use']>[4] = {},
) {
  const [page] = footer.pages;
  const columns = cache.use(name, footer, page, 'x', how);
  const { start, end } = missingRange(columns, wants);
  if (start < end) columns.add(start, object.subarray(page.offset + start, page.offset + end));
  return { columns, rows: viewOf(columns, wants), readBytes: end - start };
}

test('rows are equal for any earlier use, also of evicted pages', () => {
  const wants = fc.constantFrom<PageWants>(
    EVERYTHING,
    { lines: 'lengths', metadata: new Set() },
    { lines: 'none', metadata: new Set(['trace']) },
  );
  const steps = fc.array(fc.tuple(fc.nat(PAGES - 1), wants, fc.nat(8)), { maxLength: 150 });
  fc.assert(
    fc.property(steps, list => {
      const cache = new PageCache(CACHE_BYTES);
      const views: { readonly rows: PageRows; readonly number: number }[] = [];
      for (const [number, wanted, old] of list) {
        const { rows } = use(cache, chunks[number], wanted);
        expect(rows.times[3] - rows.times[0]).toBe(3e9);
        if (wanted.lines !== 'bytes') continue;
        views.push({ rows, number });
        // Includes a page used before, whose lines may have been overwritten since.
        for (const view of [views[views.length - 1], views[Math.max(0, views.length - 1 - 5 * old)]]) {
          expect(plainOf(view.rows)).toEqual(plain[view.number]);
        }
      }
      const { lineBytes, columnBytes } = cache.figures;
      expect(lineBytes).toBeLessThanOrEqual(CACHE_BYTES * (3 / 4));
      expect(columnBytes).toBeLessThanOrEqual(CACHE_BYTES - 4 * 65_536);
    }),
    { numRuns: 25 },
  );
});

/** Uses pages in order; how many of them had to be read. */
function useAll(cache: PageCache, from: number, to: number): number {
  let reads = 0;
  for (const chunk of chunks.slice(from, to)) {
    const { rows, readBytes } = use(cache, chunk);
    expect(rows.lines.length).toBe(chunk.footer.lineBytes);
    if (readBytes > 0) reads++;
  }
  return reads;
}

test('the cache keeps a page from its second use, with its lines, and a scan does not evict it', () => {
  const cache = new PageCache(CACHE_BYTES);
  expect([useAll(cache, 0, 5), useAll(cache, 0, 5), useAll(cache, 0, 5)]).toEqual([5, 5, 0]);
  expect(use(cache, chunks[2]).columns.lineSlot?.length).toBe(chunks[2].footer.lineBytes);
  expect(useAll(cache, 5, PAGES)).toBe(PAGES - 5);
  expect(useAll(cache, 0, 5)).toBe(0);
  expect(cache.figures).toMatchObject({ pages: 5, lineBytes: 5 * chunks[0].footer.lineBytes });
});

test('a page whose next use is known is kept from its first use on, in the place of pages that are not used as soon', () => {
  const cache = new PageCache(CACHE_BYTES);
  for (let round = 0; round < 3; round++) useAll(cache, 0, 20);
  const soon = chunks.slice(40, 60);
  // Pages that will be used as soon as others are not evicted.
  for (const chunk of soon) use(cache, chunk, EVERYTHING, { nextUse: 1000 });
  expect(useAll(cache, 0, 20)).toBe(0);
  for (let round = 0; round < 2; round++)
    for (const chunk of soon) use(cache, chunk, EVERYTHING, { nextUse: 20 }).rows.lines;
  for (const chunk of soon) expect(use(cache, chunk).readBytes).toBe(0);
});

test('pages of pushes are kept from their first use on, and evict no other', () => {
  const cache = new PageCache(CACHE_BYTES);
  const keepsFirst = { keepsFirst: true };
  for (let round = 0; round < 2; round++) useAll(cache, 0, 5);
  for (const chunk of chunks.slice(5)) use(cache, chunk, EVERYTHING, keepsFirst).rows.lines;
  expect(useAll(cache, 0, 8)).toBe(0);
  const hasLines = chunks.map(chunk => use(cache, chunk).columns.lineSlot !== undefined);
  expect(hasLines.slice(0, 8)).toEqual(Array(8).fill(true));
  expect(hasLines).toContain(false);
});

test('the cache keeps part of a set that exceeds it, and evicts pages that are no longer used', () => {
  const cache = new PageCache(CACHE_BYTES);
  for (let round = 0; round < 4; round++) useAll(cache, 0, PAGES);
  const reads = useAll(cache, 0, PAGES);
  // Plain LRU would evict each page just before its next use.
  expect(reads).toBeLessThan(PAGES - 30);
  expect(reads).toBeGreaterThan(0);
  useAll(cache, 50, 60);
  useAll(cache, 50, 60);
  expect(useAll(cache, 50, 60)).toBe(0);
  for (const chunk of chunks.slice(50, 60)) expect(use(cache, chunk).columns.lineSlot).toBeDefined();
});

test('a damaged page fails each time and is not cached', () => {
  const { name, object, footer } = chunks[0];
  const block = footer.pages[0].columns.find(({ kind }) => kind === ColumnKind.lines)!.block;
  const broken = Buffer.from(object);
  broken[footer.pages[0].offset + block.offset + 10] ^= 1;
  const cache = new PageCache(CACHE_BYTES);
  for (let i = 0; i < 4; i++) {
    expect(() => use(cache, { name, object: broken, footer }).rows.lines).toThrow(CorruptionError);
  }
  // The object was mended: nothing of the broken one is there.
  for (let i = 0; i < 3; i++) expect(plainOf(use(cache, chunks[0]).rows)).toEqual(plain[0]);
});

test('an emptied cache holds nothing and starts over', () => {
  const cache = new PageCache(CACHE_BYTES);
  for (let round = 0; round < 3; round++) useAll(cache, 0, 5);
  const { rows } = use(cache, chunks[1]);
  cache.clear();
  expect(cache.figures).toMatchObject({ pages: 0, columnBytes: 0, lineBytes: 0 });
  // A running query keeps its page.
  expect(plainOf(rows)).toEqual(plain[1]);
  expect([useAll(cache, 0, 5), useAll(cache, 0, 5), useAll(cache, 0, 5)]).toEqual([5, 5, 0]);
  expect(plainOf(use(cache, chunks[1]).rows)).toEqual(plain[1]);
  expect(plainOf(rows)).toEqual(plain[1]);
});

test('deleting a chunk frees its pages immediately, and keeps those of others', () => {
  const cache = new PageCache(CACHE_BYTES);
  for (let round = 0; round < 2; round++) useAll(cache, 0, 5);
  const { rows } = use(cache, chunks[1]);
  cache.forgetChunks(new Set([chunks[0], chunks[1], chunks[7]].map(({ name }) => name)));
  expect(cache.figures).toMatchObject({ pages: 3, lineBytes: 3 * chunks[0].footer.lineBytes });
  expect(useAll(cache, 2, 5)).toBe(0);
  // A running query keeps its page.
  expect(plainOf(rows)).toEqual(plain[1]);
});

test('line memory that is mostly unused is released if no lines take it', () => {
  const cache = new PageCache(CACHE_BYTES);
  for (let round = 0; round < 2; round++) useAll(cache, 0, 20);
  const { touchedLineBytes } = cache.figures;
  expect(touchedLineBytes).toBeGreaterThanOrEqual(20 * chunks[0].footer.lineBytes);
  const names = chunks.map(({ name }) => name);
  cache.forgetChunks(new Set(names.slice(0, 1)));
  expect(cache.releaseUnused()).toEqual({ hasReleased: false, hasUnused: false });
  expect(cache.figures).toMatchObject({ pages: 19, touchedLineBytes });
  const { rows } = use(cache, chunks[19]);
  cache.forgetChunks(new Set(names.slice(1, 15)));
  expect(cache.releaseUnused()).toEqual({ hasReleased: true, hasUnused: false });
  expect(cache.figures).toMatchObject({ pages: 5, lineBytes: 0, touchedLineBytes: 0 });
  // The remaining pages decompress their lines again, without a read; so does a running query.
  expect(useAll(cache, 15, 20)).toBe(0);
  expect(plainOf(rows)).toEqual(plain[19]);
  expect(cache.figures.lineBytes).toBe(5 * chunks[0].footer.lineBytes);
});

// Upkeep threads have such a cache. Each deletion of merged chunks made them collect their heap, and discard their
// compiled code.
test('a cache without memory for lines releases nothing', () => {
  const cache = new PageCache(0);
  useAll(cache, 0, 5);
  cache.forgetChunks(new Set(chunks.map(({ name }) => name)));
  expect(cache.releaseUnused()).toEqual({ hasReleased: false, hasUnused: false });
});

test('new lines take the memory of a merged chunk; only what they leave is released', async () => {
  const cache = new PageCache(64 * 1024 * 1024);
  const { object, footer } = await chunkOf(0, 50_000);
  const [page] = footer.pages;
  const lines = Buffer.from(decodePage(footer, page, object, EVERYTHING, 'x').lines);
  const stored = object.subarray(page.offset, page.offset + page.storedBytes);
  const names = Array.from({ length: 45 }, (_, i) => `chunk-${i}`);
  for (const name of names) cache.adopt(name, footer, page, 'x', { stored, lines });
  expect(cache.figures).toMatchObject({ adopted: 45, lineBytes: 45 * lines.length });
  const { touchedLineBytes } = cache.figures;
  // All chunks of the first region of 16 MiB, and four of the second.
  cache.forgetChunks(new Set(names.slice(0, 20)));
  expect(cache.releaseUnused()).toEqual({ hasReleased: false, hasUnused: true });
  cache.adopt('new', footer, page, 'x', { stored, lines });
  expect(cache.releaseUnused()).toEqual({ hasReleased: false, hasUnused: true });
  expect(cache.figures).toMatchObject({ pages: 26, lineBytes: 26 * lines.length, touchedLineBytes });
  // Most of the second region, too: its other lines are dropped with it. The new lines are in the first.
  cache.forgetChunks(new Set(names.slice(20, 30)));
  cache.adopt('newer', footer, page, 'x', { stored, lines });
  expect(cache.releaseUnused()).toEqual({ hasReleased: true, hasUnused: true });
  expect(cache.figures).toMatchObject({ pages: 17, lineBytes: 15 * lines.length });
  expect(cache.figures.touchedLineBytes).toBeLessThan(touchedLineBytes - 15 * lines.length);
  // Without new lines, the first region is released, too.
  expect(cache.releaseUnused()).toEqual({ hasReleased: true, hasUnused: false });
  expect(cache.figures).toMatchObject({ pages: 17, lineBytes: 13 * lines.length });
});

test('names for which a page was parsed twice get columns at the first parse of other pages', async () => {
  const cache = new PageCache(CACHE_BYTES);
  const wants = { parser: 'logfmt' as const, names: new Set(['n']) };
  const entry = { stream: { app: 'a' }, time: 0, metadata: {} };
  const columnsOfPage = async (number: number) => {
    const head = {
      id: `${number}`.padStart(32, 'f'),
      tenant: 't',
      day: 1,
      level: 0,
      createdMs: 0,
      inputs: [],
    };
    const rows = rowsOf(
      Array.from({ length: 50 }, (_, n) => ({ ...entry, time: n, line: `n=${n % 3} x=${n}` })),
    );
    const { parts, bytes } = await writeChunk(head, rows, QUICK_COMPRESSION);
    const object = Buffer.concat(parts, bytes);
    return use(cache, { name: head.id, object, footer: footerOf(object, 'chunk') }, EVERYTHING, {
      keepsFirst: true,
    }).columns;
  };
  const runs = [{ firstRow: 0, rows: 50 }];
  const [first, second] = [await columnsOfPage(1), await columnsOfPage(2)];
  second.expectParsing(wants, runs);
  for (const isKnown of [false, true]) {
    first.parsed(wants, runs);
    expect(first.cachedColumns(wants) !== undefined).toBe(isKnown);
  }
  second.expectParsing({ ...wants, names: new Set(['x']) }, runs);
  expect(second.cachedColumns(wants)).toBeUndefined();
  second.expectParsing(wants, runs);
  expect(second.cachedColumns(wants)?.column('logfmt', 'n')).toBeDefined();
});

test('a cache without capacity keeps nothing', () => {
  const cache = new PageCache(0);
  for (let i = 0; i < 3; i++) expect(useAll(cache, 0, 3)).toBe(3);
  expect(cache.figures).toEqual({
    hits: 0,
    misses: 9,
    adopted: 0,
    unpacked: 0,
    pages: 0,
    columnBytes: 0,
    lineBytes: 0,
    touchedLineBytes: 0,
  });
});
