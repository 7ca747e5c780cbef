/** A query as an alert. */
import { describe, expect, test } from '@jest/globals';
import { readGroup } from '../../shared/server/rules/rule-yaml.ts';
import {
  expressionOf,
  faultOf,
  groupOf,
  metricOf,
  newAlert,
  previewOf,
} from '../../ui/src/views/rules/alert-model.ts';

const draft = { ...newAlert('{a="b"} |= "x"'), name: 'Many' };

test.each([
  ['{a="b"}', 'sum(count_over_time({a="b"} [5m]))'],
  ['{a="b"} # all', 'sum(count_over_time({a="b"} # all\n[5m]))'],
  ['sum(rate({a="b"}[$__auto]))', 'sum(rate({a="b"}[300s]))'],
  ['', ''],
])('%s as a metric query', (query, metric) => {
  expect(metricOf(query)).toBe(metric);
});

test('the rules API accepts the group', () => {
  const whole = { ...draft, forMinutes: 5, summary: '{{ $value }} of "x"', threshold: '10' };
  const { name, intervalNs, rules } = readGroup(groupOf(whole));
  expect([name, intervalNs]).toEqual(['Many', 60_000_000_000n]);
  expect(rules).toEqual([
    {
      ...{
        record: '',
        alert: 'Many',
        expr: expressionOf(whole),
        forNs: 300_000_000_000n,
        keepFiringForNs: 0n,
      },
      labels: { severity: 'warning' },
      annotations: { summary: '{{ $value }} of "x"' },
    },
  ]);
  expect(expressionOf(whole)).toBe('(\nsum(count_over_time({a="b"} |= "x" [5m]))\n) > 10');
});

test.each([
  [{}, undefined],
  [{ name: '' }, 'Enter a name'],
  [{ name: 'a b' }, 'Enter a name'],
  [{ query: ' ' }, 'Enter a metric query.'],
  [{ query: '{a="b"}' }, 'Enter a metric query, such as'],
  [{ threshold: 'x' }, 'Enter a number'],
  [{ namespace: '' }, 'Enter a namespace.'],
])('%j', (changes, fault) => {
  const found = faultOf({ ...draft, ...changes });
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
});

describe('the preview', () => {
  const series = (...values: (number | null)[]) => ({
    values: values.flatMap((value, i) => (value === null ? [] : [[i * 60, String(value)] as const])),
  });
  test.each([
    ['counts each time that it begins', [[0, 5, 5, 0, 5]], 0, { firings: 2, series: 1 }],
    ['waits as long as the alert does', [[5, 5, 0, 5, 5, 5]], 2, { firings: 1, series: 1 }],
    ['begins again after a gap', [[5, null, null, 5]], 0, { firings: 2, series: 1 }],
    [
      'counts the series that fire',
      [
        [0, 0],
        [5, 5],
        [5, 5],
      ],
      0,
      { firings: 2, series: 2 },
    ],
    ['is empty without series', [], 0, { firings: 0, series: 0 }],
  ])('%s', (_, values: (number | null)[][], forMinutes, preview) => {
    const found = previewOf(
      values.map(one => series(...one)),
      { operator: '>', threshold: '1', forMinutes },
      60_000,
    );
    expect(found).toEqual(preview);
  });

  test.each([
    ['>', [5]],
    ['>=', [3, 5]],
    ['<', [1]],
    ['<=', [1, 3]],
    ['==', [3]],
    ['!=', [1, 5]],
  ] as const)('%s 3', (operator, holding) => {
    const condition = { operator, threshold: '3', forMinutes: 0 };
    const found = [1, 3, 5].filter(value => previewOf([series(value)], condition, 1).firings > 0);
    expect(found).toEqual([...holding]);
  });
});
