import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { labelsToObject } from '../../shared/base/model/labels.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { compileSampleExtractor } from '../../shared/execution/pipeline/extractor.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import { TimeSlice } from '../../shared/execution/pipeline/time-slice.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { allRows, clock, type Entry, makePage } from './support.ts';

/** Returns a time slice whose clock advances by `ms` per reading. */
function sliceOf(ms: number): TimeSlice {
  let now = 0;
  return new TimeSlice(() => {
    now += ms;
    return now;
  });
}

/** Calls `visit` as a scan does, until no row is left. Returns the number of visits. */
function inSlices(
  timeSlice: TimeSlice,
  page: PageRows,
  visit: (selection: Uint32Array, count: number) => void,
): number {
  const selection = allRows(page);
  let visits = 0;
  let left = page.rows;
  while (left > 0) {
    timeSlice.begin();
    visit(selection, left);
    visits++;
    left = timeSlice.left;
  }
  return visits;
}

function loggedBy(stages: string, page: PageRows, timeSlice: TimeSlice): { got: unknown[]; visits: number } {
  const expr = parseQuery(`{app="x"} ${stages}`) as LogExpr;
  const pipeline = compileLogPipeline(expr, { clock, timeSlice });
  const got: unknown[] = [];
  const emit: Parameters<typeof pipeline.run>[3] = {
    wants: () => true,
    emit: (row, entry) => got.push([row, entry.line(), entry.labelText()]),
  };
  const visits = inSlices(timeSlice, page, (selection, count) => pipeline.run(page, selection, count, emit));
  return { got, visits };
}

function sampledBy(query: string, page: PageRows, timeSlice: TimeSlice): { got: unknown[]; visits: number } {
  const expr = parseQuery(query);
  if (expr.kind === 'log') throw new Error('not a metric query');
  const [{ node, grouping }] = leavesOf(expr);
  const extractor = compileSampleExtractor(node.range, { op: node.op, grouping, clock, timeSlice });
  const got: unknown[] = [];
  const visits = inSlices(timeSlice, page, (selection, count) => {
    const batch = extractor.extract(page, selection, count);
    for (let i = 0; i < batch.count; i++) {
      const labels = labelsToObject(extractor.series.labelsOf(batch.series[i]));
      got.push([batch.rows[i], labels, batch.values?.[i]]);
    }
  });
  return { got, visits };
}

const entries = fc.array(
  fc.record({
    line: fc.constantFrom('a=1', 'a=2 b=x', 'b=y', 'a=z', '', 'é'),
    stream: fc.constantFrom({ app: 'x' }, { app: 'x', n: '1' }, { app: 'x', n: 'q' }),
    metadata: fc.constantFrom({}, { m: '1' }, { m: 'bad' }),
  }),
  { minLength: 1, maxLength: 150 },
);
const STAGES = [
  '',
  '|= "a"',
  '|= "a" != "z" |~ "[12]"',
  '| logfmt',
  '| n="1" | logfmt | a>1',
  '| m>0 | line_format "{{.m}}-{{__line__}}" |= "1"',
  '|~ "=" | logfmt | label_format c="{{.a}}!" | c!="!"',
  '!~ "[a-b]{300}|(x)*y" |~ "a?(b|=)?" |= "="',
  '| regexp "b=(?P<b>.)" | drop n',
];

describe('a page in time slices has the same result as in a single one', () => {
  test('returns the same entries', () => {
    fc.assert(
      fc.property(
        entries,
        fc.constantFrom(...STAGES),
        fc.integer({ min: 1, max: 60 }),
        (list, stages, ms) => {
          const page = makePage(list as Entry[]);
          expect(loggedBy(stages, page, sliceOf(ms)).got).toEqual(loggedBy(stages, page, sliceOf(0)).got);
        },
      ),
    );
  });

  test('returns the same samples', () => {
    const queries = STAGES.flatMap(stages => [
      `count_over_time({app="x"} ${stages} [1m])`,
      `sum by (a) (bytes_over_time({app="x"} ${stages} [1m]))`,
      `max_over_time({app="x"} ${stages} | logfmt | unwrap a | __error__="" [1m]) by (n)`,
    ]);
    fc.assert(
      fc.property(
        entries,
        fc.constantFrom(...queries),
        fc.integer({ min: 1, max: 60 }),
        (list, query, ms) => {
          const page = makePage(list as Entry[]);
          expect(sampledBy(query, page, sliceOf(ms)).got).toEqual(sampledBy(query, page, sliceOf(0)).got);
        },
      ),
    );
  });
});

describe('a time slice that is over', () => {
  const page = makePage(Array.from({ length: 200 }, (_, i) => ({ line: `a=${i}` })));

  test('ends after each row if a stage may be slow, otherwise after up to 64', () => {
    expect(loggedBy('| line_format "x{{.a}}"', page, sliceOf(100)).visits).toBe(200);
    expect(loggedBy('| logfmt', page, sliceOf(100)).visits).toBe(4);
    expect(loggedBy('| line_format "x{{.a}}"', page, sliceOf(0)).visits).toBe(1);
    expect(sampledBy('rate({app="x"} | label_format x="{{.a}}" [1m])', page, sliceOf(100)).visits).toBe(200);
  });

  test('ends between line filters', () => {
    const { got, visits } = loggedBy('|= "a" |= "=" |= "19"', page, sliceOf(100));
    expect(got).toHaveLength(12);
    expect(visits).toBeGreaterThan(2);
  });

  test('ends within a line filter that is slow, after 1 KB of lines', () => {
    const long = makePage(Array.from({ length: 20 }, (_, i) => ({ line: `${'abc'.repeat(200)} ${i}x` })));
    const { got, visits } = loggedBy('|~ "a[a-c]{300}.*[05]x" |= "x"', long, sliceOf(100));
    expect(got).toEqual(loggedBy('|~ "a[a-c]{300}.*[05]x" |= "x"', long, sliceOf(0)).got);
    expect(got).toHaveLength(4);
    expect(visits).toBeGreaterThanOrEqual(10);
    expect(visits).toBeLessThanOrEqual(12);
  });

  test('one line that takes seconds is refused', () => {
    expect(() => loggedBy('| line_format "x{{.a}}"', page, sliceOf(6_000))).toThrow(BadRequestError);
  });
});
