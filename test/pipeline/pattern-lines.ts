/** Lines of access logs, queries of them with a pattern, and their samples: what the tests of pattern samples share. */
import fc from 'fast-check';
import type { PageRows } from '../../shared/base/model/page.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { compileSampleExtractor } from '../../shared/execution/pipeline/extractor.ts';
import type { TimeSlice } from '../../shared/execution/pipeline/time-slice.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { clock, type Entry, type Texts } from './support.ts';

export const RANGES = [
  'sum by (path) (count_over_time({app="x"} | pattern "<_> <path> <status>" | status="200" [1m]))',
  'sum by (path) (count_over_time({app="x"} | pattern "<_> <path> <status>" | status!="" | path=~"/a.*" [1m]))',
  'sum by (path) (count_over_time({app="x"} | pattern "GET <path> <status>" | status>=300 [1m]))',
  'sum by (path) (count_over_time({app="x"} | pattern "<_> <path> <status>;<_>" | status>=300 and path!="/b" [1m]))',
  'sum by (path) (count_over_time({app="x"} | pattern "<_> <path> <status>" | status>300 or path="/b" [1m]))',
  'sum by (path, pod) (count_over_time({app="x"} | pattern "<_> <path> <status>" | status="" [1m]))',
  'sum by (pod) (count_over_time({app="x"} | pattern "<path> <_> <_>" | path="GET" [1m]))',
  'sum by (path) (rate({app="x"} | pod="p1" | pattern "<_> <path> <status>" | status="200" | pod="p1" [1m]))',
  'sum by (path) (count_over_time({app="x"} | pattern "<_> <path> <status>" | __error__="" [1m]))',
  'sum by (path, status) (count_over_time({app="x"} | pattern "<_> <path> <status>" [1m]))',
  'sum by (path, trace) (count_over_time({app="x"} | pattern "<_> <path> <status>" | status="200" [1m]))',
  'sum by (path_extracted) (count_over_time({app="x"} | pattern "<_> <path> <status>" | status!="404" [1m]))',
  'sum(count_over_time({app="x"} | pattern "<_> <path> <status>" | status="200" [1m]))',
  'sum by (pod) (count_over_time({app="x"} | pattern "<_> <path> <status>" [1m]))',
  'sum by (path) (bytes_over_time({app="x"} | pattern "<_> <path> <status>" | status="200" [1m]))',
  'max_over_time({app="x"} | pattern "<_> <path> <status>" | path="/a" | unwrap status [1m]) by (path)',
  'min_over_time({app="x"} | pattern "<_> <path> <status>" | unwrap status [1m]) by (path)',
  'avg_over_time({app="x"} | pattern "<_> <path> <status>" | status>=300 | unwrap status [1m]) by (pod)',
  'max_over_time({app="x"} | pattern "<_> <path> <status>" | status!="none" | unwrap bytes(status) [1m]) by (status)',
  'min_over_time({app="x"} | pattern "GET <path> <status>" | unwrap duration(status) [1m]) by (path, pod)',
  'max_over_time({app="x"} | pattern "<_> <path> <status>" | unwrap path [1m]) by (status)',
  'max_over_time({app="x"} | pattern "<_> <path> <status>" | unwrap status | status > 250 [1m]) by (path)',
  'last_over_time({app="x"} | pattern "<status> <_>" | unwrap status | __error__="" [1m]) by (pod)',
];

const line = fc
  .tuple(
    fc.constantFrom('GET', 'GET', 'PUT', ''),
    fc.constantFrom(' ', ' ', ' ', ''),
    fc.constantFrom('/a', '/a/b?c=1', '/b', '', '/\u00e9', 'a path that is longer than a vector'),
    fc.constantFrom(' ', ' ', ' ', ''),
    fc.constantFrom('200', '200', '404', '', 'none', '200;x', '500;'),
  )
  .map(parts => Buffer.from(parts.join('')));
/** Includes bytes that are not UTF-8, of which two may read the same. */
const broken = fc
  .constantFrom('GET /\xff 200', 'GET /\xfe 200', 'GET /a \xff')
  .map(text => Buffer.from(text, 'latin1'));
const stream = fc.constantFrom<Texts>(
  { app: 'x', pod: 'p1' },
  { app: 'x', pod: 'p1' },
  { app: 'x', pod: 'p2' },
  { app: 'x', pod: 'p2' },
  { app: 'x', pod: 'p3', path: '/of/the/stream' },
  { app: 'x', status: '200' },
);
/** Rarely: columns of the page turn all its rows to the stages. */
const metadata = fc.oneof(
  { weight: 20, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom<Texts>({ path: '/meta' }, { trace: 't' }, { __error__: 'Bad' }) },
);
export const entry: fc.Arbitrary<Entry> = fc
  .record({
    line: fc.oneof({ weight: 9, arbitrary: line }, { weight: 1, arbitrary: broken }),
    stream,
    metadata,
  })
  .map(({ metadata: meta, ...rest }) => (meta === undefined ? rest : { ...rest, metadata: meta }));
export const pages = fc.array(
  fc.array(entry, { minLength: 1, maxLength: 12 }).chain(entries =>
    fc.record({
      entries: fc.constant(entries),
      kept: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    }),
  ),
  { minLength: 1, maxLength: 4 },
);

/** Samples of the rows that are kept, each with its row, value and labels. */
export function samples(
  query: string,
  each: readonly { page: PageRows; kept: readonly boolean[] }[],
  timeSlice?: TimeSlice,
) {
  const expr = parseQuery(query);
  if (expr.kind === 'log') throw new Error('not a metric query');
  const [{ node, grouping }] = leavesOf(expr);
  const options = timeSlice === undefined ? { clock } : { clock, timeSlice };
  const extractor = compileSampleExtractor(node.range, { op: node.op, grouping, ...options });
  const out: unknown[] = [];
  for (const { page, kept } of each) {
    const selection = Uint32Array.from({ length: page.rows }, (_, row) => row).filter(row => kept[row]);
    let left = selection.length;
    while (left > 0) {
      timeSlice?.begin();
      const { count, rows, series, values } = extractor.extract(page, selection, left);
      for (let i = 0; i < count; i++) {
        out.push([rows[i], values?.[i], extractor.series.labelsOf(series[i])]);
      }
      left = timeSlice?.left ?? 0;
    }
  }
  return out;
}
