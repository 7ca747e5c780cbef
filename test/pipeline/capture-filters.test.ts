/** Filters on captures drop rows before their lines are read, with the results of the stages alone. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLineMemory } from '../../shared/base/kernels/line-memory.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { CaptureFilters } from '../../shared/execution/pipeline/capture-filters.ts';
import { compileSampleExtractor } from '../../shared/execution/pipeline/extractor.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { CaptureColumns } from '../../shared/storage/columns/capture-columns.ts';
import { entry } from './pattern-lines.ts';
import { clock, type Entry, makePage } from './support.ts';

const REGION = createLineMemory(1 << 20);

/** A page that keeps its captures, and counts the reads of its lines. */
function capturedPage(entries: readonly Entry[], at: number) {
  const page = makePage(entries);
  const lines = REGION.subarray(at, at + page.lines.length);
  page.lines.copy(lines);
  const columns = new CaptureColumns();
  const counts = { lines: 0, captures: 0 };
  const captured: PageRows = {
    ...page,
    get lines() {
      counts.lines++;
      return lines;
    },
    captures(wants, runs, rows) {
      counts.captures++;
      return columns.for(wants, { runs, rows, page: { ...page, lines } }, () => undefined);
    },
  };
  return { page, captured, counts };
}

/** Runs a query page by page, as scans do. Returns its entries or samples, and the number of rows of each page that are left. */
function run(query: string, pages: readonly PageRows[]) {
  const expr = parseQuery(query);
  const out: unknown[] = [];
  const left: number[] = [];
  const prepared = (page: PageRows, prepare: ReturnType<typeof compileLogPipeline>['prepare']) => {
    const selection = Uint32Array.from({ length: page.rows }, (_, row) => row);
    const { count } = prepare(page, selection, page.rows);
    left.push(count);
    return { selection, count };
  };
  if (expr.kind === 'log') {
    const pipeline = compileLogPipeline(expr, { clock });
    for (const page of pages) {
      const { selection, count } = prepared(page, pipeline.prepare);
      if (count === 0) continue;
      pipeline.run(page, selection, count, {
        wants: () => true,
        emit: (row, one) => out.push([row, one.line(), one.labels()]),
      });
    }
    return { out, left };
  }
  const [{ node, grouping }] = leavesOf(expr);
  const extractor = compileSampleExtractor(node.range, { op: node.op, grouping, clock });
  for (const page of pages) {
    const { selection, count } = prepared(page, extractor.prepare);
    if (count === 0) continue;
    const batch = extractor.extract(page, selection, count);
    for (let i = 0; i < batch.count; i++)
      out.push([batch.rows[i], batch.values?.[i], extractor.series.labelsOf(batch.series[i])]);
  }
  return { out, left };
}

const PATTERN = '| pattern "<_> <path> <status>"';
const QUERIES = [
  `{app="x"} ${PATTERN} | status="404"`,
  `{app="x"} ${PATTERN} | status!="200"`,
  `{app="x"} ${PATTERN} | status>=300`,
  `{app="x"} ${PATTERN} | status=""`,
  `{app="x"} ${PATTERN} | status=~"4.." | path="/b"`,
  `{app="x"} ${PATTERN} | status>=300 and path!="/a" | line_format "{{.path}}"`,
  `{app="x"} ${PATTERN} | status>=300 or path="/b" | path=~"/.*"`,
  `{app="x"} | pod="p2" ${PATTERN} | status="404"`,
  `{app="x"} ${PATTERN} | path_extracted="/b"`,
  `{app="x"} ${PATTERN} | label_format status=path | status="/b"`,
  `{app="x"} ${PATTERN} | status="404" | pattern "<method> <_>" | method="PUT"`,
  `{app="x"} ${PATTERN} | pod="p1" | status=ip("1.2.3.4")`,
  '{app="x"} | pattern "<status> <_> <_>" | status="PUT"',
  '{app="x"} | pattern "GET <path> <_>" | path="/b"',
  '{app="x"} | pattern "<_> <path>" | path="/b 404"',
  `max_over_time({app="x"} ${PATTERN} | path="/b" | unwrap status [1m]) by (path)`,
  `max_over_time({app="x"} ${PATTERN} | unwrap status | path="/b" [1m]) by (pod)`,
  `sum by (path, status) (count_over_time({app="x"} ${PATTERN} | status!="200" [1m]))`,
  `sum by (path, status) (count_over_time({app="x"} ${PATTERN} | status>=300 | __error__="" [1m]))`,
];

test('results are those of the stages alone', () => {
  let dropped = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(entry, { minLength: 1, maxLength: 16 }), { minLength: 2, maxLength: 4 }),
      fc.array(fc.constantFrom(...QUERIES), { minLength: 1, maxLength: 4 }),
      (all, queries) => {
        const pages = all.map((entries, i) => capturedPage(entries, 5 + i * 10_000));
        for (const query of queries) {
          const plain = run(
            query,
            pages.map(({ page }) => page),
          );
          const found = run(
            query,
            pages.map(({ captured }) => captured),
          );
          expect(found.out).toEqual(plain.out);
          for (const [i, count] of found.left.entries()) if (count < plain.left[i]) dropped++;
        }
      },
    ),
    { numRuns: 400 },
  );
  expect(dropped).toBeGreaterThan(0);
});

const linesOf = (status: (i: number) => number): Entry[] =>
  Array.from({ length: 100 }, (_, i) => ({ line: `GET /${i % 7} ${status(i)}` }));

describe('pages', () => {
  const rare = linesOf(i => (i === 3 ? 500 : 200));
  const query = QUERIES[0].replace('404', '500');

  test('the first one shows how many rows pass; lines of others are read for rows that pass', () => {
    const pages = [rare, rare, linesOf(() => 200)].map((entries, i) => capturedPage(entries, i * 10_000));
    const { out, left } = run(
      query,
      pages.map(({ captured }) => captured),
    );
    expect(out).toHaveLength(2);
    expect(left).toEqual([100, 1, 0]);
    expect(pages.map(({ counts }) => counts)).toEqual([
      { lines: 1, captures: 0 },
      { lines: 1, captures: 1 },
      { lines: 0, captures: 1 },
    ]);
  });

  test('if most rows pass, lines are read at once', () => {
    const pages = [0, 1, 2].map(i =>
      capturedPage(
        linesOf(row => (row % 3 ? 500 : 200)),
        i * 10_000,
      ),
    );
    const { left } = run(
      query,
      pages.map(({ captured }) => captured),
    );
    expect(left).toEqual([100, 100, 100]);
    expect(pages.map(({ counts }) => counts.captures)).toEqual([0, 0, 0]);
  });
});

test.each([
  ['no filter behind the pattern', `{app="x"} ${PATTERN}`],
  ['a filter before it', `{app="x"} | status="200" ${PATTERN}`],
  ['a line filter before it', `{app="x"} |= "GET" ${PATTERN} | status="200"`],
  ['another parser before it', `{app="x"} | json ${PATTERN} | status="200"`],
  ['a filter on another label', `{app="x"} ${PATTERN} | pod="p1"`],
  ['a filter on two labels', `{app="x"} ${PATTERN} | status="200" or path="/b"`],
  ['labels that change between', `{app="x"} ${PATTERN} | drop status | status=""`],
  ['a label with the suffix of duplicates', '{app="x"} | pattern "<a_extracted> <_>" | a_extracted="b"'],
  ['errors', `{app="x"} ${PATTERN} | __error__=""`],
])('not planned: %s', (_, query) => {
  const expr = parseQuery(query);
  expect(expr.kind === 'log' && CaptureFilters.of(expr.stages, [])).toBeUndefined();
});
