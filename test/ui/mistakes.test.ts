/** Mistakes in pipelines, brackets and metric queries, each with its sentence and the query that was meant. */
import { expect, test } from '@jest/globals';
import { explainMistake } from '../../ui/src/logql/explain-mistake.ts';

const EXAMPLES: readonly (readonly [query: string, sentence: RegExp, meant?: string])[] = [
  ['{a="b"} |= error', /^The text of a line filter is written in quotes: "error"\.$/, '{a="b"} |= "error"'],
  ['{a="b"} |= time out | json', /quotes: "time out"/, '{a="b"} |= "time out" | json'],
  ['{a="b"} != 404 |= "x"', /quotes: "404"/, '{a="b"} != "404" |= "x"'],
  ['rate({a="b"} |~ err [5m])', /quotes: "err"/, 'rate({a="b"} |~ "err" [5m])'],
  [
    '{a="b"} | json | level=error',
    /^A text is written in quotes: "error"\.$/,
    '{a="b"} | json | level="error"',
  ],
  ['{a="b"} | level!=error | x="y"', /quotes: "error"/, '{a="b"} | level!="error" | x="y"'],
  [
    '{a="b"} | line_format {{.msg}}',
    /^line_format needs a template in quotes\.$/,
    '{a="b"} | line_format "{{.msg}}"',
  ],
  ['{a="b"} || json', /^One \| separates/, '{a="b"} | json'],
  ['{a="b"} | where level="error"', /without the word “where”/, '{a="b"} | level="error"'],
  ['{a="b"} and level="error"', /starts with \|\.$/, '{a="b"} | level="error"'],
  ['{a="b"} or {a="c"}', /^A log query has one selector\./, '{a=~"b|c"}'],
  ['{a="b"} or {d="c"}', /^A log query has one selector\./],
  ['{a="b"} | took > 10 sec', /^“10 sec” is not a duration\./, '{a="b"} | took > 10s'],
  ['{a="b"} | took > 10min', /^“10min” is not a duration\./, '{a="b"} | took > 10m'],
  ['{a="b"} | json | status>=500 and', /^The query ends after “and”/, '{a="b"} | json | status>=500'],
  ['{a="b"} |', /^The query ends after “\|”/, '{a="b"}'],
  ['{a="b"} | drop', /^drop needs label names\.$/],
  ['avg_over_time({a="b"} | unwrap [5m])', /^unwrap needs the name of the label with the number\.$/],
  ['{a="b" c="d"}', /separated by commas/, '{a="b", c="d"}'],
  ['{a:"b"}', /^A selector compares with =/, '{a="b"}'],
  ['{a=“b”}', /straight double quotes/, '{a="b"}'],
  ['{a=~".*"}', /at least one matcher/, '{a=~".+"}'],
  ['{a!="b", c=~".*"}', /at least one matcher/, '{a!="b", c=~".+"}'],
  ['rate({a="b"}[5m)', /^A bracket is not closed: \] is missing\.$/, 'rate({a="b"}[5m])'],
  ['sum(rate({a="b"}[5m])))', /^There is no bracket that \) closes\.$/, 'sum(rate({a="b"}[5m]))'],
  ['count({a="b"} |= "x")', /^count works on numbers\./, 'count(count_over_time({a="b"} |= "x" [$__auto]))'],
  ['topk(5, {a="b"})', /^topk works on numbers\./, 'topk(5, count_over_time({a="b"} [$__auto]))'],
  ['sum by (c) ({a="b"})', /^sum works on numbers\./, 'sum by (c) (count_over_time({a="b"} [$__auto]))'],
  [
    'count_over_time({a="b"}[5m]) by (c)',
    /^count_over_time does not group\./,
    'sum by (c) (count_over_time({a="b"}[5m]))',
  ],
  [
    'quantile_over_time({a="b"} | unwrap d [5m])',
    /needs a quantile from 0 to 1/,
    'quantile_over_time(0.95, {a="b"} | unwrap d [5m])',
  ],
  ['topk(rate({a="b"}[5m]))', /needs the number of series/, 'topk(10, rate({a="b"}[5m]))'],
  ['{a="b"} | unwrap d', /^unwrap belongs to a function/, 'avg_over_time({a="b"} | unwrap d [$__auto])'],
];

// A row without a third value would get a callback in its place.
test.each(EXAMPLES.map(([query, sentence, meant]) => [query, sentence, meant] as const))(
  '%s',
  (query, sentence, meant) => {
    const found = explainMistake(query);
    expect(found?.sentence).toMatch(sentence);
    expect(found?.query).toBe(meant);
  },
);

test.each([
  '{a="b"} | label_format c=d',
  '{a="b"} | json c="d" | e!="f"',
  '{a="b"} |= ip("10.0.0.0/8")',
  '{a="b"} | c=ip("10.0.0.0/8")',
  'sum by (c) (rate({a="b"}[5m])) > bool 1',
])('no mistake: %s', query => {
  expect(explainMistake(query)).toBeUndefined();
});
