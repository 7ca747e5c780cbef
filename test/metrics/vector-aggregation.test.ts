import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { VectorOp } from '../../shared/language/logql/ast.ts';
import { aggregation, by, evaluate, instant, leaf, matrixOf, type Rows, ranged, without } from './trees.ts';

const { NaN: nan } = Number;
const inf = Infinity;
const A = leaf('a');
const STREAMS = { 'app=a,pod=1': 1, 'app=a,pod=2': 2, 'app=b,pod=1': 4, 'pod=3': 8 };

describe('grouping', () => {
  test.each([
    ['none', undefined, [['{}', 15]]],
    ['by ()', by(), [['{}', 15]]],
    [
      'by (app)',
      by('app'),
      [
        ['{}', 8],
        ['{app="a"}', 3],
        ['{app="b"}', 4],
      ],
    ],
    ['by (nope)', by('nope'), [['{}', 15]]],
    [
      'by (pod, app)',
      by('pod', 'app'),
      [
        ['{app="a", pod="1"}', 1],
        ['{app="a", pod="2"}', 2],
        ['{app="b", pod="1"}', 4],
        ['{pod="3"}', 8],
      ],
    ],
    [
      'without (pod)',
      without('pod'),
      [
        ['{}', 8],
        ['{app="a"}', 3],
        ['{app="b"}', 4],
      ],
    ],
    [
      'without ()',
      without(),
      [
        ['{app="a", pod="1"}', 1],
        ['{app="a", pod="2"}', 2],
        ['{app="b", pod="1"}', 4],
        ['{pod="3"}', 8],
      ],
    ],
  ] as const)('%s', (_, grouping, want) => {
    expect(instant(aggregation('sum', A, grouping), { a: STREAMS })).toEqual(want);
  });

  test('no input gives no output', () => {
    expect(instant(aggregation('sum', A), {})).toEqual([]);
    expect(ranged(aggregation('count', A), { a: { '': ['_', 1, '_'] } })).toEqual([['{}', [1, 1]]]);
  });

  test('an empty label distinguishes groups; without drops it from the labels, by keeps it', () => {
    const leaves = { a: { 'x=,y=1': 1, 'y=1': 2 } };
    expect(instant(aggregation('sum', A, without('y')), leaves)).toEqual([
      ['{}', 1],
      ['{}', 2],
    ]);
    expect(instant(aggregation('sum', A, by('x')), leaves)).toEqual([
      ['{}', 2],
      ['{x=""}', 1],
    ]);
  });

  test('a name and value that run into each other stay two labels', () => {
    const leaves = { a: { 'a=b1:c,d=e': 1, 'a=b,c=d': 2 } };
    expect(instant(aggregation('count', A, by('a', 'c', 'd')), leaves)).toHaveLength(2);
  });
});

describe('values of a group, in input order', () => {
  test.each<[VectorOp, number[], number]>([
    ['sum', [1, 2, 4], 7],
    ['sum', [inf, -inf], nan],
    ['sum', [nan], nan],
    ['avg', [1, 2, 6], 3],
    ['avg', [inf, 1], inf],
    ['avg', [1, inf], inf],
    ['avg', [inf, -inf], nan],
    ['avg', [-inf, inf, 1], nan],
    ['avg', [nan, 1], nan],
    ['count', [nan, inf], 2],
    ['count', [4], 1],
    ['min', [nan, 5, inf], 5],
    ['min', [5, nan], 5],
    ['min', [nan, nan], nan],
    ['max', [nan, 5, inf], inf],
    ['max', [-inf, nan], -inf],
    ['stdvar', [2, 4, 4, 4, 5, 5, 7, 9], 4],
    ['stddev', [2, 4, 4, 4, 5, 5, 7, 9], 2],
    ['stdvar', [3], 0],
    ['stddev', [inf], 0],
    ['stddev', [nan], 0],
    ['stddev', [inf, 1], nan],
  ])('%s of %j is %d', (op, values, want) => {
    const rows = Object.fromEntries(values.map((value, i) => [`i=${i}`, value]));
    expect(instant(aggregation(op, A), { a: rows })).toEqual([['{}', want]]);
  });

  test('members come and go over the instants', () => {
    const rows: Rows = { 'i=1': [1, '_', 3], 'i=2': ['_', '_', 5], 'i=3': [2, 7] };
    const leaves = { a: rows };
    expect(ranged(aggregation('sum', A), leaves)).toEqual([['{}', [0, 3], [1, 7], [2, 8]]]);
    expect(ranged(aggregation('avg', A), leaves)).toEqual([['{}', [0, 1.5], [1, 7], [2, 4]]]);
    expect(ranged(aggregation('min', A), leaves)).toEqual([['{}', [0, 1], [1, 7], [2, 3]]]);
    expect(ranged(aggregation('max', A), leaves)).toEqual([['{}', [0, 2], [1, 7], [2, 5]]]);
    expect(ranged(aggregation('count', A), leaves)).toEqual([['{}', [0, 2], [1, 1], [2, 2]]]);
    expect(ranged(aggregation('stdvar', A), leaves)).toEqual([['{}', [0, 0.25], [1, 0], [2, 1]]]);
  });
});

describe('topk, bottomk and sort', () => {
  const values = { 'i=1': 5, 'i=2': nan, 'i=3': inf, 'i=4': -1, 'i=5': 5 };
  const first = (op: VectorOp, k: number) =>
    (instant(aggregation('sort', aggregation(op, A, undefined, k)), { a: values }) as [string, number][]).map(
      ([labels]) => labels.slice(4, 5),
    );

  test.each<[VectorOp, number, string]>([
    ['topk', 1, '3'],
    ['topk', 2, '13'],
    ['topk', 4, '4153'],
    ['topk', 5, '41532'],
    ['topk', 99, '41532'],
    ['bottomk', 1, '4'],
    ['bottomk', 3, '415'],
    ['bottomk', 5, '41532'],
    ['approx_topk', 2, '13'],
  ])('%s(%i) keeps %s', (op, k, want) => {
    expect(first(op, k).join('')).toBe(want);
  });

  test('sort puts NaN last in both directions', () => {
    const order = (op: VectorOp) =>
      (instant(aggregation(op, A), { a: values }) as [string][])
        .map(([labels]) => labels.slice(4, 5))
        .join('');
    expect(order('sort')).toBe('41532');
    expect(order('sort_desc')).toBe('31542');
  });

  test('a group ranks on its own and keeps the labels of its members', () => {
    expect(instant(aggregation('topk', A, by('app'), 1), { a: STREAMS })).toEqual([
      ['{app="a", pod="2"}', 2],
      ['{app="b", pod="1"}', 4],
      ['{pod="3"}', 8],
    ]);
  });

  test('each instant ranks on its own', () => {
    const rows: Rows = { 'i=1': [1, 5, '_'], 'i=2': [2, 4, nan], 'i=3': ['_', 3, 1] };
    expect(ranged(aggregation('topk', A, undefined, 1), { a: rows })).toEqual([
      ['{i="1"}', [1, 5]],
      ['{i="2"}', [0, 2]],
      ['{i="3"}', [2, 1]],
    ]);
    expect(ranged(aggregation('sort', A), { a: rows })).toEqual(ranged(A, { a: rows }));
  });

  test('approx_topk is refused over a range', () => {
    expect(() => evaluate(aggregation('approx_topk', A, undefined, 1), { a: { '': [1, 2] } })).toThrow(
      'count min sketches are only supported on instant queries',
    );
  });

  test('equal sorting and cutting', () => {
    const cell = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constant('_' as const), fc.constant(nan));
    const row = fc.array(cell, { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 12 }),
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        (grid, k, up) => {
          const rows = Object.fromEntries(
            grid.map((cells, i) => [`i=${String.fromCharCode(97 + i)}`, cells]),
          );
          const { series } = matrixOf(rows);
          const want = [0, 1, 2, 3, 4, 5].flatMap(at =>
            series
              .flatMap(({ labels, first, values, present }) =>
                present[at - first] === 1 ? [{ name: labels[0].value, value: values[at - first] }] : [],
              )
              .sort((x, y) => {
                if (Number.isNaN(x.value) || Number.isNaN(y.value)) {
                  return (
                    Number(Number.isNaN(x.value)) - Number(Number.isNaN(y.value)) ||
                    (x.name < y.name ? -1 : 1)
                  );
                }
                return (up ? x.value - y.value : y.value - x.value) || (x.name < y.name ? -1 : 1);
              })
              .slice(0, k)
              .map(({ name, value }) => `${at} ${name} ${value}`),
          );
          const result = evaluate(aggregation(up ? 'bottomk' : 'topk', A, undefined, k), {
            a: { ...rows, 'i=z': Array(6).fill('_') },
          });
          const got =
            result.kind !== 'matrix'
              ? []
              : result.series.flatMap(({ labels, timesMs, values }) =>
                  Array.from(values, (value, i) => `${timesMs[i]} ${labels[0].value} ${value}`),
                );
          expect(got.sort()).toEqual(want.sort());
        },
      ),
      { numRuns: 400 },
    );
  });
});
