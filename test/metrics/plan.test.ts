import { describe, expect, test } from '@jest/globals';
import { hasSort, leavesOf } from '../../shared/execution/metrics/plan.ts';
import type { Grouping, MetricExpr } from '../../shared/language/logql/ast.ts';
import { aggregation, binary, by, leaf, literal, vector, without } from './trees.ts';

const A = leaf('a');
const labelReplace = (expr: MetricExpr): MetricExpr => ({
  kind: 'labelReplace',
  expr,
  destination: 'd',
  replacement: '',
  source: 's',
  regex: '',
});

describe('leavesOf', () => {
  test.each<[string, MetricExpr, (Grouping | undefined)[]]>([
    ['a leaf', A, [undefined]],
    ['sum', aggregation('sum', A), [by()]],
    ['sum by', aggregation('sum', A, by('x', 'y')), [by('x', 'y')]],
    ['sum without', aggregation('sum', A, without('x')), [without('x')]],
    ['sum of bytes_rate', aggregation('sum', leaf('a', 'bytes_rate'), by('x')), [by('x')]],
    ['sum of sum_over_time', aggregation('sum', leaf('a', 'sum_over_time'), by('x')), [by('x')]],
    ['sum of max_over_time', aggregation('sum', leaf('a', 'max_over_time'), by('x')), [undefined]],
    ['sum of rate_counter', aggregation('sum', leaf('a', 'rate_counter'), by('x')), [undefined]],
    ['max', aggregation('max', A, by('x')), [undefined]],
    ['sum of max', aggregation('sum', aggregation('max', A, by('x'))), [undefined]],
    [
      'sum of a grouped leaf',
      aggregation('sum', leaf('a', 'sum_over_time', { grouping: by('y') }), by('x')),
      [by('y')],
    ],
    ['a grouped leaf', leaf('a', 'max_over_time', { grouping: by('y') }), [by('y')]],
    ['absent_over_time', leaf('a', 'absent_over_time'), [by()]],
    ['sum of a binary', aggregation('sum', binary(A, '*', literal(2)), by('x')), [undefined]],
    ['two legs', binary(aggregation('sum', A, by('x')), '/', leaf('b')), [by('x'), undefined]],
    ['label_replace', aggregation('sum', labelReplace(A), by('x')), [undefined]],
    ['label_replace around', labelReplace(aggregation('sum', A, by('x'))), [by('x')]],
    ['no leaves', binary(vector(1), '+', literal(1)), []],
  ])('%s', (_, expr, want) => {
    expect(leavesOf(expr).map(({ grouping }) => grouping)).toEqual(want);
  });

  test('names the nodes themselves, from left to right', () => {
    const B = leaf('b');
    expect(leavesOf(binary(aggregation('sum', B), '+', A)).map(({ node }) => node)).toEqual([B, A]);
  });
});

test.each<[MetricExpr, boolean]>([
  [A, false],
  [aggregation('topk', A, undefined, 3), false],
  [aggregation('sort', A), true],
  [aggregation('sum', aggregation('sort_desc', A)), true],
  [binary(literal(1), '+', aggregation('sort', A)), true],
  [labelReplace(aggregation('sort', A)), true],
  [labelReplace(binary(A, '+', vector(1))), false],
])('hasSort %#', (expr, want) => {
  expect(hasSort(expr)).toBe(want);
});
