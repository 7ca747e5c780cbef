import { describe, expect, test } from '@jest/globals';
import type { SeriesMatrix } from '../../shared/execution/metrics/matrix.ts';
import type { BinaryOp, MetricExpr } from '../../shared/language/logql/ast.ts';
import {
  aggregation,
  binary,
  by,
  evaluate,
  instant,
  leaf,
  literal,
  matrixOf,
  ranged,
  shown,
  vector,
} from './trees.ts';

const { NaN: nan } = Number;
const inf = Infinity;
const A = leaf('a');

describe('literals and vector()', () => {
  test.each<[BinaryOp, number, number, number]>([
    ['+', 7, 2, 9],
    ['-', 7, 2, 5],
    ['*', 7, 2, 14],
    ['/', 7, 2, 3.5],
    ['/', 1, 0, nan],
    ['/', 1, -0, nan],
    ['/', 0, 0, nan],
    ['%', 7, 2, 1],
    ['%', -7, 2, -1],
    ['%', 5.5, 2, 1.5],
    ['%', 7, 0, nan],
    ['%', 7, inf, 7],
    ['^', 2, 3, 8],
    ['^', 1, nan, 1],
    ['^', -1, inf, 1],
    ['^', nan, 0, 1],
    ['^', -8, 0.5, nan],
    ['==', 7, 2, 0],
    ['==', nan, nan, 0],
    ['!=', nan, nan, 1],
    ['!=', 7, 2, 1],
    ['>', 7, 2, 1],
    ['>=', 2, 2, 1],
    ['<', 7, 2, 0],
    ['<=', nan, 2, 0],
  ])('%s of %d and %d is %d', (op, a, b, want) => {
    expect(instant(binary(literal(a), op, literal(b)))).toBe(want);
    expect(instant(binary(literal(a), op, literal(b), { bool: true }))).toBe(want);
    expect(instant(binary(vector(a), op, literal(b), { bool: true }))).toEqual([['{}', want]]);
    expect(instant(binary(literal(a), op, vector(b), { bool: true }))).toEqual([['{}', want]]);
    expect(instant(binary(vector(a), op, vector(b), { bool: true }))).toEqual([['{}', want]]);
  });

  test('a scalar has the time of the instant, in milliseconds', () => {
    const result = evaluate(
      literal(3),
      {},
      {
        startNs: 1_700_000_000_123_999_999n,
        endNs: 1_700_000_000_123_999_999n,
        stepNs: 0n,
        instant: true,
      },
    );
    expect(result).toEqual({ kind: 'scalar', timeMs: 1_700_000_000_123, value: 3 });
  });

  test('a literal and a vector are constant series over a range', () => {
    const over = { startNs: 0n, endNs: 2_500_000n, stepNs: 1_000_000n };
    for (const expr of [literal(4), vector(4)]) {
      expect(shown(evaluate(expr, {}, over))).toEqual([['{}', [0, 4], [1, 4], [2, 4]]]);
    }
  });

  test('a range query of one instant is a matrix', () => {
    expect(evaluate(vector(1), {}, { stepNs: 1n }).kind).toBe('matrix');
    expect(evaluate(vector(1), {}, { instant: true, stepNs: 0n }).kind).toBe('vector');
  });

  test('refuses a literal in place of a vector with the words of the reference', () => {
    const message =
      'unexpected expr type (*syntax.LiteralExpr) for Evaluator type (*logql.DefaultEvaluator) ';
    expect(() => instant(aggregation('sum', literal(5)))).toThrow(message);
    expect(() => instant(aggregation('topk', binary(literal(1), '+', literal(2)), undefined, 2))).toThrow(
      message,
    );
    expect(instant(aggregation('sum', vector(3)))).toEqual([['{}', 3]]);
  });
});

describe('comparisons of series and scalars', () => {
  const leaves = { a: { 'x=1': [1, 5, nan], 'x=2': [2, '_', 9] } } as const;
  test.each<[MetricExpr, unknown]>([
    [
      binary(A, '>', literal(1)),
      [
        ['{x="1"}', [1, 5]],
        ['{x="2"}', [0, 2], [2, 9]],
      ],
    ],
    [
      binary(literal(1), '<', A),
      [
        ['{x="1"}', [1, 5]],
        ['{x="2"}', [0, 2], [2, 9]],
      ],
    ],
    [
      binary(A, '!=', literal(1)),
      [
        ['{x="1"}', [1, 5], [2, nan]],
        ['{x="2"}', [0, 2], [2, 9]],
      ],
    ],
    [binary(A, '>', literal(100)), []],
    [
      binary(A, '>', literal(1), { bool: true }),
      [
        ['{x="1"}', [0, 0], [1, 1], [2, 0]],
        ['{x="2"}', [0, 1], [2, 1]],
      ],
    ],
    [
      binary(literal(10), '-', A),
      [
        ['{x="1"}', [0, 9], [1, 5], [2, nan]],
        ['{x="2"}', [0, 8], [2, 1]],
      ],
    ],
    [
      binary(A, '-', literal(10), { bool: true }),
      [
        ['{x="1"}', [0, -9], [1, -5], [2, nan]],
        ['{x="2"}', [0, -8], [2, -1]],
      ],
    ],
  ])('case %#', (expr, want) => {
    expect(ranged(expr, leaves)).toEqual(want);
  });
});

describe('order and limits of answers', () => {
  const leaves = { a: { 'x=3': 1, 'x=1': 3, 'x=2': 2 } };

  test('vectors are sorted by labels, unless a sort occurs anywhere', () => {
    expect(instant(A, leaves)).toEqual([
      ['{x="1"}', 3],
      ['{x="2"}', 2],
      ['{x="3"}', 1],
    ]);
    expect(instant(aggregation('sort', A), leaves)).toEqual([
      ['{x="3"}', 1],
      ['{x="2"}', 2],
      ['{x="1"}', 3],
    ]);
    expect(instant(aggregation('sort_desc', A), leaves)).toEqual([
      ['{x="1"}', 3],
      ['{x="2"}', 2],
      ['{x="3"}', 1],
    ]);
    const nested = binary(aggregation('sort', A), '*', literal(-1));
    expect(instant(nested, leaves)).toEqual([
      ['{x="3"}', -1],
      ['{x="2"}', -2],
      ['{x="1"}', -3],
    ]);
    expect(instant(aggregation('topk', A, undefined, 2), leaves)).toEqual([
      ['{x="1"}', 3],
      ['{x="2"}', 2],
    ]);
  });

  test('matrices are sorted by labels: name before value, a prefix first', () => {
    const rows = { a: { 'b=1': [1], 'a=2,b=1': [1], 'a=1,c=1': [1], 'a=1': [1], '': [1] } };
    expect((ranged(aggregation('sort', A), rows) as [string][]).map(([labels]) => labels)).toEqual([
      '{}',
      '{a="1"}',
      '{a="1", c="1"}',
      '{a="2", b="1"}',
      '{b="1"}',
    ]);
  });

  test('elements of equal labels stay two in a vector, and become one series of a matrix', () => {
    const twins = { a: { 'x=1#a': [1, 2, '_'], 'x=1#b': ['_', 3, 4] } } as const;
    expect(ranged(A, twins)).toEqual([['{x="1"}', [0, 1], [1, 2], [1, 3], [2, 4]]]);
    expect(instant(A, { a: { 'x=1#a': 1, 'x=1#b': 2 } })).toEqual([
      ['{x="1"}', 1],
      ['{x="1"}', 2],
    ]);
  });

  const tooMany =
    'maximum number of series (2) reached for a single query; consider reducing query cardinality by adding more ' +
    'specific stream selectors, reducing the time range, or aggregating results with functions like sum(), count() ' +
    'or topk()';
  const rows = { a: { 'x=3': [1], 'x=1': [3], 'x=2': [2] } };

  test.each([true, false])('more series than the limit are refused (instant: %s)', instantQuery => {
    const over = { maxSeries: 2, instant: instantQuery };
    expect(() => evaluate(A, rows, over)).toThrow(tooMany);
    expect(() => evaluate(A, rows, { ...over, maxSeries: 3 })).not.toThrow();
    expect(() => evaluate(aggregation('sum', A), rows, over)).not.toThrow();
  });

  test.each([true, false])(
    'more series than the limit are cut, with a warning (instant: %s)',
    instantQuery => {
      const result = evaluate(A, rows, { maxSeries: 2, partial: true, instant: instantQuery });
      // The largest: a part of many series that begin with the smallest is of no use.
      const labelsOf = (row: readonly unknown[]) => row[0];
      expect((shown(result) as unknown[][]).map(labelsOf)).toEqual(['{x="1"}', '{x="2"}']);
      expect(result).toMatchObject({
        warnings: ['maximum number of series (2) reached for a single query; returning partial results'],
      });
      expect(evaluate(A, rows, { maxSeries: 3, partial: true, instant: instantQuery })).toMatchObject({
        warnings: [],
      });
    },
  );

  test('series that come and go count once each over a matrix', () => {
    const apart = { a: { 'x=1': [1, '_', '_'], 'x=2': ['_', 1, '_'], 'x=3': ['_', '_', 1] } } as const;
    expect(() => evaluate(A, apart, { maxSeries: 2 })).toThrow(tooMany);
  });
});

describe('absent_over_time', () => {
  const selector = [
    { name: 'leaf', op: '=', value: 'a' },
    { name: 'app', op: '=', value: 'x' },
    { name: 'env', op: '=~', value: 'p.*' },
    { name: 'pod', op: '=', value: '1' },
    { name: 'pod', op: '!=', value: '2' },
    { name: 'zone', op: '=', value: 'z' },
    { name: 'zone', op: '=', value: 'z' },
  ] as const;
  const absent = leaf('a', 'absent_over_time', { selector: [...selector] });

  test('is 1 if no series has a sample, with the labels that the selector fixes', () => {
    expect(ranged(absent, { a: { '': [4, '_', '_', 1, '_'] } })).toEqual([
      ['{app="x", leaf="a"}', [1, 1], [2, 1], [4, 1]],
    ]);
    expect(ranged(absent, { a: { '': [4, 1] } })).toEqual([]);
    expect(instant(absent, {})).toEqual([['{app="x", leaf="a"}', 1]]);
    expect(instant(binary(absent, '*', literal(3)), {})).toEqual([['{app="x", leaf="a"}', 3]]);
  });
});

test('requests the matrix of a leaf once per leaf, with its node', () => {
  const asked: unknown[] = [];
  const left = leaf('a');
  const right = leaf('b');
  const answer: SeriesMatrix = matrixOf({ '': [1] });
  evaluate(
    binary(aggregation('sum', left, by()), '+', right),
    {},
    {
      leaf: node => {
        asked.push(node);
        return answer;
      },
    },
  );
  expect(asked).toEqual([left, right]);
});
