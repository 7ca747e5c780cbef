/**
 * Rows whose fields the kernel finds for a whole run equal those of the parser: each line is queried in a
 * page of many, and in a separate page, which is too small for a scan.
 */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { FieldScanner } from '../../shared/base/kernels/field-scanner.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { compileSampleExtractor } from '../../shared/execution/pipeline/extractor.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import { TimeSlice } from '../../shared/execution/pipeline/time-slice.ts';
import type { LogExpr, MetricExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { jsonLines } from '../fields/lines.ts';
import { after, before, cases, groupings, metadata, streams, unwraps } from '../fields/queries.ts';
import { hostileText } from '../kernels/hostile.ts';
import { bySuite } from '../support/suite.ts';
import { allRows, clock, type Entry, extractAll, extractorOf, makePage, runPipeline } from './support.ts';

const COPIES = 40;

/** Repeats the entries until each stream has enough rows for a scan. Entries of one stream are adjacent. */
function manyOf(entries: readonly Entry[]): Entry[] {
  const byStream = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = JSON.stringify(entry.stream ?? {});
    byStream.set(key, [...(byStream.get(key) ?? []), entry]);
  }
  return [...byStream.values()].flatMap(list => Array.from({ length: COPIES }, () => list).flat());
}

let scans = 0;

beforeEach(() => {
  scans = 0;
  const read = FieldScanner.prototype.read;
  jest.spyOn(FieldScanner.prototype, 'read').mockImplementation(function (this: FieldScanner, ...input) {
    scans++;
    return read.apply(this, input);
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

function expectSameEntries(stages: string, entries: readonly Entry[]): void {
  const pipeline = compileLogPipeline(parseQuery(`{app="x"} ${stages}`) as LogExpr, { clock });
  const many = manyOf(entries);
  const alone = many.flatMap((entry, row) =>
    runPipeline(pipeline, makePage([entry])).map(r => ({ ...r, row })),
  );
  expect(runPipeline(pipeline, makePage(many))).toEqual(alone);
}

function expectSameSamples(query: string, entries: readonly Entry[]): void {
  const many = manyOf(entries);
  const single = extractorOf(query);
  const alone = many.flatMap((entry, row) => extractAll(single, makePage([entry])).map(s => ({ ...s, row })));
  const got = extractAll(extractorOf(query), makePage(many));
  // Labels of an error are those of the whole line in both.
  expect(got).toEqual(alone);
}

const entriesOf = (lines: fc.Arbitrary<string | Buffer>) =>
  fc.array(fc.record({ line: lines, stream: streams, metadata }), { minLength: 2, maxLength: 8 });

describe.each(cases)('$name found by the kernel', ({ name, lines }) => {
  test.each([
    ['lines', lines],
    ['hostile bytes', hostileText],
  ] as const)('log queries of %s', (_, arbitrary) => {
    fc.assert(
      fc.property(entriesOf(arbitrary), before, after, (entries, first, rest) => {
        expectSameEntries(`${first} | ${name} ${rest}`, entries);
      }),
      { numRuns: 60 },
    );
    expect(scans).toBeGreaterThan(bySuite({ fast: 2, full: 10 }));
  });

  test.each([
    ['lines', lines],
    ['hostile bytes', hostileText],
  ] as const)('metric queries of %s', (_, arbitrary) => {
    fc.assert(
      fc.property(
        entriesOf(arbitrary),
        before,
        after,
        unwraps,
        groupings,
        (entries, first, rest, unwrap, by) => {
          const log = `{app="x"} ${first} | ${name} ${rest} ${unwrap}`;
          expectSameSamples(
            unwrap === ''
              ? `sum by ${by} (count_over_time(${log} [1m]))`
              : `max_over_time(${log} [1m]) by ${by}`,
            entries,
          );
        },
      ),
      { numRuns: 60 },
    );
    expect(scans).toBeGreaterThan(bySuite({ fast: 2, full: 10 }));
  });
});

/** Stages that the kernel answers. The others of `jsonParsers` are left to the parser. */
const PATHS = [
  'json a="a"',
  'json a, status',
  'json k="n.k", s="status"',
  'json x="[\\"a.b\\"]"',
  'json x="a.b"',
  'json a="status", status="a"',
  'json app="a", missing="no.such"',
  'json b="n", a="[\\" a\\"]"',
];

describe('paths of expressions found by the kernel', () => {
  test.each([
    ['lines', jsonLines],
    ['hostile bytes', hostileText],
  ] as const)('log and metric queries of %s', (_, lines) => {
    fc.assert(
      fc.property(
        entriesOf(lines),
        fc.constantFrom(...PATHS),
        before,
        after,
        groupings,
        (entries, stage, first, rest, by) => {
          expectSameEntries(`${first} | ${stage} ${rest}`, entries);
          expectSameSamples(
            `sum by ${by} (count_over_time({app="x"} ${first} | ${stage} ${rest} [1m]))`,
            entries,
          );
        },
      ),
      { numRuns: 120 },
    );
    expect(scans).toBeGreaterThan(bySuite({ fast: 10, full: 40 }));
  });
});

const many = (line: string, count = 200): Entry[] => Array.from({ length: count }, () => ({ line }));

test('a name that two members give is read in the order of the line', () => {
  const entries = [...many('{"a.b":"1","a_b":"2"}', 100), ...many('{"a_b":"2","a.b":"1"}', 100)];
  const samples = extractAll(
    extractorOf('sum by (a_b) (count_over_time({app="x"} | json [1m]))'),
    makePage(entries),
  );
  expect(samples.filter(({ labels }) => labels.a_b === '1').length).toBe(100);
  expect(samples.filter(({ labels }) => labels.a_b === '2').length).toBe(100);
});

test('paths are read in the order of the line if a name occurs twice, and have objects as text', () => {
  const query = 'sum by (a, b) (count_over_time({app="x"} | json a="a", b="b.c" [1m]))';
  const lines = ['{"a":"1","a":"2"}', '{"a":{"x":[1]},"b":{"c":null}}', '{"b":{"c":"\\u0041"},"a":[ 1]}'];
  const samples = extractAll(extractorOf(query), makePage(lines.flatMap(line => many(line, 100))));
  const found = new Set(samples.map(({ labels }) => JSON.stringify(labels)));
  expect(found).toEqual(
    new Set(
      [
        { a: '1', b: '' },
        { a: '{"x":[1]}', b: '' },
        { a: '[ 1]', b: 'A' },
      ].map(labels => JSON.stringify(labels)),
    ),
  );
  expect(samples.length).toBe(300);
  expect(scans).toBe(1);
});

test('an interrupted pass continues with the found fields', () => {
  const query = 'sum by (a) (count_over_time({app="x"} | json [1m]))';
  let now = 0;
  const timeSlice = new TimeSlice(() => now++ * 3);
  const { node, grouping } = leavesOf(parseQuery(query) as MetricExpr)[0];
  const extractor = compileSampleExtractor(node.range, { op: node.op, grouping, clock, timeSlice });
  const page = makePage(many('{"a":"1"}', 1000));
  for (let pass = 1; pass < 3; pass++) {
    const selection = allRows(page);
    let samples = 0;
    let visits = 0;
    for (let left = page.rows; left > 0; left = timeSlice.left, visits++) {
      timeSlice.begin();
      samples += extractor.extract(page, selection, left).count;
    }
    expect(samples).toBe(1000);
    expect(visits).toBeGreaterThan(3);
    expect(scans).toBe(pass);
  }
});

test('pages whose lines are of another form are scanned seldom', () => {
  const extractor = extractorOf('sum by (a) (count_over_time({app="x"} | json [1m]))');
  const page: PageRows = makePage(many('a=1 b=2'));
  for (let i = 0; i < 33; i++) extractAll(extractor, page);
  expect(scans).toBe(5);
});

test('a few rows here and there are not scanned', () => {
  const extractor = extractorOf('sum by (a) (count_over_time({app="x"} | json [1m]))');
  const page = makePage(many('{"a":"1"}'));
  extractor.extract(
    page,
    allRows(page).filter(row => row % 3 === 0),
    66,
  );
  extractor.extract(page, allRows(page), 63);
  expect(scans).toBe(0);
});
