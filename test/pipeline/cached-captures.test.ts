/** Samples of patterns over cached pages, whose captures stay as columns, are those that the stages make. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { createLineMemory } from '../../shared/base/kernels/line-memory.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { PageView } from '../../shared/base/model/page-view.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { PageColumns } from '../../shared/storage/chunk/page-columns.ts';
import { footerOf, rowsOf as viewOf } from '../../shared/storage/chunk/reader.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { CaptureColumns } from '../../shared/storage/columns/capture-columns.ts';
import { rowsOf } from '../support/rows.ts';
import { entry, RANGES, samples } from './pattern-lines.ts';
import { type Entry, makePage } from './support.ts';

const REGION = createLineMemory(1 << 20);
const ALL = Array.from({ length: 6000 }, () => true);

/** Counts the reads of its lines. */
function cachedPage(page: PageRows, at = 0) {
  const lines = REGION.subarray(at, at + page.lines.length);
  page.lines.copy(lines);
  const columns = new CaptureColumns();
  let reads = 0;
  const cached: PageRows = {
    ...page,
    get lines() {
      reads++;
      return lines;
    },
    captures: (wants, runs, rows) => columns.for(wants, { runs, rows, page: cached }, () => undefined),
  };
  return { page: cached, columns, reads: () => reads };
}

/** Also zero bytes, and a capture that is too long for a number. */
const anyEntry: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 20, arbitrary: entry },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('', ' ', 'GET /a\0 200', 'GET \0 200;', `GET /${'x'.repeat(300)} 200`)
      .map(line => ({ line, stream: { app: 'x', pod: 'p1' } })),
  },
);

test('queries one after the other, over any rows of several pages', () => {
  const kept = fc.array(fc.constantFrom(true, true, true, false), { minLength: 16, maxLength: 16 });
  const steps = fc.array(fc.tuple(fc.constantFrom(...RANGES), kept), { minLength: 1, maxLength: 8 });
  const pages = fc.array(fc.array(anyEntry, { minLength: 1, maxLength: 16 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(pages, steps, (all, queries) => {
      const plain = all.map(makePage);
      const cached = plain.map((page, i) => cachedPage(page, 7 + i * 10_000).page);
      for (const [query, rows] of queries) {
        const of = (each: readonly PageRows[]) => each.map(page => ({ page, kept: rows }));
        expect(samples(query, of(cached))).toEqual(samples(query, of(plain)));
      }
    }),
    { numRuns: 400 },
  );
});

const accessLines = (rows: number, paths: number): Entry[] =>
  Array.from({ length: rows }, (_, i) => ({ line: `GET /${i % paths} ${i % 3 === 0 ? 200 : 404}` }));

describe('lines of a page', () => {
  test('are read once for each pattern of some; others replace the oldest', () => {
    const { page, columns, reads } = cachedPage(makePage(accessLines(100, 7)));
    const queries = ['', 'a', 'b', 'c', 'd'].map(
      text =>
        `sum by (path) (count_over_time({app="x"} | pattern "<_> <path> <status>${text}" | status="200" [1m]))`,
    );
    const run = (query: string) => {
      const before = reads();
      samples(query, [{ page, kept: ALL }]);
      return reads() - before;
    };
    expect(columns.heldBytes).toBe(0);
    expect(run(queries[0])).toBe(1);
    const bytes = columns.heldBytes;
    // Two captures, 9 texts.
    expect(bytes).toBeGreaterThan(2 * 2 * 100 + 4 * 9);
    expect(run(queries[0])).toBe(0);
    expect(columns.heldBytes).toBe(bytes);
    expect(queries.slice(1, 4).map(run)).toEqual([1, 1, 1]);
    expect(queries.slice(0, 4).map(run)).toEqual([0, 0, 0, 0]);
    const full = columns.heldBytes;
    expect([run(queries[4]), run(queries[0])]).toEqual([1, 1]);
    expect(Math.abs(columns.heldBytes - full)).toBeLessThan(100);
  });

  test('are read each time by a query of few rows, unless the captures are known', () => {
    const entries = accessLines(100, 7).map((one, i) =>
      i < 90 ? one : { ...one, stream: { app: 'x', pod: 'p2' } },
    );
    const { page, columns, reads } = cachedPage(makePage(entries));
    const run = (kept: (row: number) => boolean) => {
      const before = reads();
      samples(RANGES[0], [{ page, kept: ALL.map((_, row) => kept(row)) }]);
      return reads() - before;
    };
    const [smallRun, halfRuns, firstRun] = [
      (row: number) => row >= 90,
      (row: number) => row % 3 === 0,
      (row: number) => row < 90,
    ];
    expect([smallRun, smallRun, halfRuns, halfRuns].map(run)).toEqual([1, 1, 1, 1]);
    expect(columns.heldBytes).toBe(0);
    expect([firstRun, firstRun, smallRun, halfRuns].map(run)).toEqual([1, 0, 1, 1]);
    expect([() => true, smallRun, halfRuns].map(run)).toEqual([1, 0, 0]);
  });

  test.each([
    ['more than 4096 different captures', accessLines(6000, 5000)],
    ['a capture that is too long', [...accessLines(50, 7), { line: `GET ${'x'.repeat(300)} 200` }]],
  ])('are used as they are: %s', (_, entries) => {
    const page = makePage(entries);
    const { page: cached, columns } = cachedPage(page);
    const kept = ALL;
    const wanted = samples(RANGES[0], [{ page, kept }]);
    for (let run = 0; run < 3; run++) expect(samples(RANGES[0], [{ page: cached, kept }])).toEqual(wanted);
    expect(columns.heldBytes).toBeGreaterThan(0);
    expect(columns.heldBytes).toBeLessThan(1000);
  });

  test('are used as they are outside line memory', () => {
    const page = makePage(accessLines(50, 7));
    const columns = new CaptureColumns();
    const own: PageRows = {
      ...page,
      captures: (wants, runs, rows) => columns.for(wants, { runs, rows, page: own }, () => undefined),
    };
    const kept = ALL;
    expect(samples(RANGES[0], [{ page: own, kept }])).toEqual(samples(RANGES[0], [{ page, kept }]));
    expect(columns.heldBytes).toBe(0);
  });

  test('are read for rows with an error', () => {
    const entries = [...accessLines(50, 7), { line: 'GET /a none' }];
    const page = makePage(entries);
    const { page: cached, reads } = cachedPage(page);
    const query = RANGES.find(range => range.includes('GET <path> <status>" | status>=300'))!;
    const kept = ALL;
    samples(query, [{ page: cached, kept }]);
    const before = reads();
    expect(samples(query, [{ page: cached, kept }])).toEqual(samples(query, [{ page, kept }]));
    expect(reads() - before).toBe(1);
  });
});

describe('a page of the page cache', () => {
  let reads: ReturnType<typeof jest.spyOn>;
  beforeEach(() => {
    reads = jest.spyOn(PageColumns.prototype, 'lines', 'get');
  });
  afterEach(() => {
    reads.mockRestore();
  });

  const chunk = async () => {
    const entries = Array.from({ length: 300 }, (_, i) => ({
      stream: { app: 'x', pod: `p${i % 2}` },
      time: i,
      line: `GET /${i % 7} ${i % 3 === 0 ? 200 : 404}`,
      metadata: { trace: `${i}` },
    }));
    const head = { id: '0'.repeat(32), tenant: 't', day: 20_000, level: 0, createdMs: 0, inputs: [] };
    const { parts, bytes } = await writeChunk(head, rowsOf(entries), QUICK_COMPRESSION);
    const object = Buffer.concat(parts, bytes);
    return { object, footer: footerOf(object, 'chunk') };
  };

  test('keeps the captures in place of its lines, and counts them; views of it give them', async () => {
    const { object, footer } = await chunk();
    const [page] = footer.pages;
    const cache = new PageCache(1_000_000, { keepsFirst: true });
    const use = () => {
      const columns = cache.use('t/c', footer, page, 'x');
      columns.add(0, object.subarray(page.offset, page.offset + page.storedBytes));
      return { columns, rows: viewOf(columns, { lines: 'bytes', metadata: new Set() }) };
    };
    const run = (rows: PageRows) => samples(RANGES[0], [{ page: rows, kept: ALL }]);
    const { columns, rows } = use();
    const copied = new PageView(rows, { lines: Buffer.from(rows.lines) });
    const wanted = run(copied);
    expect(wanted).toHaveLength(100);
    const bytes = columns.heldBytes;
    expect(run(rows)).toEqual(wanted);
    expect(columns.heldBytes - bytes).toBeGreaterThan(2 * 2 * 300);
    reads.mockClear();
    expect(run(use().rows)).toEqual(wanted);
    expect(run(new PageView(use().rows, { runs: rows.runs, metadata: [] }))).toEqual(wanted);
    expect(reads).not.toHaveBeenCalled();
    // Other lines may have other captures.
    const other = new PageView(rows, { lines: Buffer.alloc(rows.lines.length) });
    expect(run(other)).toEqual([]);
  });

  test('that is not cached keeps none', async () => {
    const { object, footer } = await chunk();
    const columns = new PageColumns(footer, footer.pages[0], 'x');
    columns.add(0, object);
    const rows = viewOf(columns, { lines: 'bytes', metadata: 'all' });
    expect(columns.isCached).toBe(false);
    for (let run = 1; run <= 2; run++) {
      expect(samples(RANGES[0], [{ page: rows, kept: ALL }])).toHaveLength(100);
    }
    expect(reads.mock.calls.length).toBeGreaterThan(1);
  });
});
