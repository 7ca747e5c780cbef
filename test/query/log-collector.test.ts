import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { labelsOf } from '../../shared/base/model/labels.ts';
import { MemoryBudget } from '../../shared/base/model/memory-budget.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { streamHash } from '../../shared/base/model/stream-hash.ts';
import type { PipelineRow } from '../../shared/execution/pipeline/pipeline.ts';
import { type CollectedPage, LogCollector } from '../../shared/read/query/log-collector.ts';
import { makePage } from '../pipeline/support.ts';

const page = makePage(Array.from({ length: 1000 }, () => ({ line: 'l' })));
const PLACE = positionOf(page, 'a');

/** Place of the page in a chunk with this ID. */
function positionOf({ runs }: PageRows, id: string): CollectedPage {
  const streams = runs.map(({ stream }) => stream);
  const metas = runs.map(({ firstRow, rows }, stream) => ({ stream, firstRow, rows }));
  return { record: { id, origin: id }, page: { base: 0, offset: 0, runs: metas }, footer: { streams } };
}

const rowOf = (line: string) =>
  ({
    line: () => line,
    labels: () => labelsOf({ app: 'x' }),
    labelText: () => '{app="x"}',
    streamText: () => '{app="x"}',
    categories: () => ({
      stream: labelsOf({ app: 'x' }),
      structuredMetadata: [],
      parsed: labelsOf({ a: line }),
    }),
  }) as unknown as PipelineRow;

describe('the memory of entries', () => {
  test.each([false, true])('is refused beyond the budget, categorized %s', categorize => {
    const budget = new MemoryBudget(100_000, 'lowering the limit');
    const collector = new LogCollector(100, false, categorize, budget);
    collector.begin(page, PLACE);
    const emitAll = () => {
      for (let row = 0; row < 20; row++) collector.emit(row, rowOf('x'.repeat(10_000)));
    };
    expect(emitAll).toThrow(BadRequestError);
    expect(emitAll).toThrow('or lowering the limit');
  });

  test('is released when entries are dropped', () => {
    const budget = new MemoryBudget(100_000, 'lowering the limit');
    const collector = new LogCollector(5, true, false, budget);
    collector.begin(page, PLACE);
    for (let row = 0; row < 1000; row++) {
      collector.emit(row, rowOf('x'.repeat(1000)));
      collector.settle();
    }
    expect(collector.finish()).toHaveLength(5);
    expect(budget.usedBytes).toBeGreaterThan(5000);
    expect(budget.usedBytes).toBeLessThan(6000);
  });
});

describe('the entries that are kept', () => {
  interface Row {
    readonly app: string;
    readonly time: number;
    readonly line: string;
  }

  /** A page of rows, sorted by stream and time, in a chunk of this id. */
  function pageOf(rows: readonly Row[], id: string, offset: number): [PageRows, CollectedPage] {
    const sorted = rows
      .map((row, i) => ({ row, i }))
      .sort((a, b) =>
        a.row.app === b.row.app ? a.row.time - b.row.time || a.i - b.i : a.row.app < b.row.app ? -1 : 1,
      )
      .map(({ row }) => row);
    const made = makePage(sorted.map(({ app, line }) => ({ line, stream: { app } })));
    const of: PageRows = { ...made, times: Float64Array.from(sorted, ({ time }) => time) };
    const position = positionOf(of, id);
    return [of, { ...position, page: { ...position.page, offset } }];
  }

  /** Entries that are collected of pages in this order, each as its line. */
  function collect(
    pages: readonly (readonly [PageRows, CollectedPage])[],
    { limit, backward, bound }: { limit: number; backward: boolean; bound?: number | undefined },
  ): string[] {
    const collector = new LogCollector(limit, backward, false, new MemoryBudget(1e9));
    collector.startAt(bound);
    for (const [rows, position] of pages) {
      const times = [...rows.times];
      if (!collector.reaches(Math.min(...times), Math.max(...times))) continue;
      collector.begin(rows, position);
      for (let row = 0; row < rows.rows; row++) {
        const line = rows.lines.toString('utf8', rows.lineOffsets[row], rows.lineOffsets[row + 1]);
        if (collector.wants(row)) collector.emit(row, rowOf(line));
      }
      collector.settle();
    }
    return collector.finish().map(({ line }) => line);
  }

  const hash = (app: string) => streamHash(labelsOf({ app }));
  const arbitraryPages = fc.array(
    fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(1, 2, 2, 2, 3)), {
      minLength: 1,
      maxLength: 12,
    }),
    { minLength: 1, maxLength: 5 },
  );

  test('depend only on their storage position, not on the order of page reads', () => {
    fc.assert(
      fc.property(
        arbitraryPages,
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        fc.infiniteStream(fc.nat()),
        (lists, limit, backward, random) => {
          // Two pages per chunk; lines contain their arrival order.
          const rows = lists.map((list, p) =>
            list.map(([app, time], r): Row => ({ app, time, line: `${p}/${String(r).padStart(2, '0')}` })),
          );
          const pages = rows.map((list, p) => pageOf(list, `chunk ${p >> 1}`, p & 1));
          const shuffled = pages
            .map(page => ({ page, by: random.next().value as number }))
            .sort((a, b) => a.by - b.by)
            .map(({ page }) => page);
          const sign = backward ? -1 : 1;
          const want = rows
            .flat()
            .sort(
              (a, b) =>
                sign * (a.time - b.time) ||
                Number(hash(a.app) - hash(b.app)) ||
                sign * (a.line < b.line ? -1 : 1),
            )
            .slice(0, limit)
            .map(({ line }) => line);
          expect(collect(shuffled, { limit, backward })).toEqual(want);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('include entries at the timestamp of a bound that other tasks found', () => {
    const page = pageOf(
      [1, 2, 2, 3].map((time, i) => ({ app: 'a', time, line: `${i}` })),
      'x',
      0,
    );
    expect(collect([page], { limit: 9, backward: true, bound: 2 })).toEqual(['3', '2', '1']);
    expect(collect([page], { limit: 9, backward: false, bound: 2 })).toEqual(['0', '1', '2']);
  });

  test('exclude a row beyond the bound before it is parsed', () => {
    const rows = Array.from({ length: 300 }, (_, i) => ({ app: 'a', time: 5, line: `${i}` }));
    const [first, second] = [pageOf(rows, 'a', 0), pageOf(rows, 'b', 0)];
    const collector = new LogCollector(10, false, false, new MemoryBudget(1e9));
    collector.begin(...first);
    for (let row = 0; row < 300; row++) if (collector.wants(row)) collector.emit(row, rowOf('x'));
    collector.settle();
    collector.begin(...second);
    expect(rows.some((_, row) => collector.wants(row))).toBe(false);
  });
});
