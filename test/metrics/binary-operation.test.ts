import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { BinaryOp } from '../../shared/language/logql/ast.ts';
import { binary, ignoring, instant, leaf, literal, on, ranged, vector } from './trees.ts';

const A = leaf('a');
const B = leaf('b');
const PODS = { 'app=a,pod=1': 6, 'app=a,pod=2': 3, 'app=b,pod=1': 8, 'app=c,pod=1': 1 };
const APPS = { 'app=a,team=red': 3, 'app=b,team=': 4, 'app=d,team=blue': 7 };

describe('one to one', () => {
  const other = { 'app=a,pod=1': 2, 'app=a,pod=2': 3, 'app=z,pod=1': 5 };
  test.each<[BinaryOp, boolean, unknown]>([
    [
      '+',
      false,
      [
        ['{app="a", pod="1"}', 8],
        ['{app="a", pod="2"}', 6],
      ],
    ],
    [
      '/',
      false,
      [
        ['{app="a", pod="1"}', 3],
        ['{app="a", pod="2"}', 1],
      ],
    ],
    ['>', false, [['{app="a", pod="1"}', 6]]],
    [
      '>',
      true,
      [
        ['{app="a", pod="1"}', 1],
        ['{app="a", pod="2"}', 0],
      ],
    ],
    ['==', false, [['{app="a", pod="2"}', 3]]],
  ])('%s (bool: %s)', (op, bool, want) => {
    expect(instant(binary(A, op, B, { bool }), { a: PODS, b: other })).toEqual(want);
  });

  test('`on` keeps only its labels, `ignoring` drops its own', () => {
    const left = { 'app=a,pod=1': 6, 'app=b,pod=1': 8 };
    const right = { 'app=a,team=red': 3, 'app=b,team=red': 4 };
    expect(instant(binary(A, '/', B, { matching: on(['app']) }), { a: left, b: right })).toEqual([
      ['{app="a"}', 2],
      ['{app="b"}', 2],
    ]);
    expect(
      instant(binary(A, '/', B, { matching: ignoring(['pod', 'team']) }), { a: left, b: right }),
    ).toEqual([
      ['{app="a"}', 2],
      ['{app="b"}', 2],
    ]);
    expect(
      instant(binary(A, '/', B, { matching: ignoring(['team']) }), { a: { 'app=a': 6 }, b: right }),
    ).toEqual([['{app="a"}', 2]]);
  });

  test('labels with empty values count as absent, and leave the result', () => {
    const left = { 'app=a,pod=': 6 };
    const right = { 'app=a': 2, 'app=,pod=': 1 };
    expect(instant(binary(A, '-', B), { a: left, b: right })).toEqual([['{app="a"}', 4]]);
    expect(instant(binary(A, '-', B, { matching: on(['app', 'pod']) }), { a: left, b: right })).toEqual([
      ['{app="a"}', 4],
    ]);
    expect(instant(binary(A, '-', B, { matching: ignoring(['x']) }), { a: left, b: right })).toEqual([
      ['{app="a"}', 4],
    ]);
    expect(
      instant(binary(A, '-', B, { matching: on(['app'], 'left', ['x']) }), { a: left, b: right }),
    ).toEqual([['{app="a"}', 4]]);
    expect(instant(binary(A, '-', B, { matching: on(['app'], 'left') }), { a: left, b: right })).toEqual([
      ['{app="a"}', 4],
    ]);
  });

  test('instants without a partner drop out', () => {
    expect(
      ranged(binary(A, '-', B), {
        a: { 'x=1': [1, 2, '_', 4] },
        b: { 'x=1': ['_', 5, 6, 7], 'x=2': [1, 1, 1, 1] },
      }),
    ).toEqual([['{x="1"}', [1, -3], [3, -3]]]);
    expect(ranged(binary(A, '-', B), { a: { 'x=1': [1, '_'] }, b: { 'x=1': ['_', 1] } })).toEqual([]);
  });
});

describe('group_left and group_right', () => {
  test('the many side gives labels; included ones come from the other side', () => {
    expect(instant(binary(A, '/', B, { matching: on(['app'], 'left') }), { a: PODS, b: APPS })).toEqual([
      ['{app="a", pod="1"}', 2],
      ['{app="a", pod="2"}', 1],
      ['{app="b", pod="1"}', 2],
    ]);
    expect(
      instant(binary(A, '/', B, { matching: on(['app'], 'left', ['team']) }), { a: PODS, b: APPS }),
    ).toEqual([
      ['{app="a", pod="1", team="red"}', 2],
      ['{app="a", pod="2", team="red"}', 1],
      ['{app="b", pod="1"}', 2],
    ]);
  });

  test('an included label that the one side lacks is deleted', () => {
    const matching = on(['app'], 'left', ['pod', 'team']);
    expect(instant(binary(A, '+', B, { matching }), { a: { 'app=a,pod=1': 1 }, b: { 'app=a': 2 } })).toEqual([
      ['{app="a"}', 3],
    ]);
  });

  test('group_right keeps the operands in place', () => {
    expect(instant(binary(B, '-', A, { matching: on(['app'], 'right') }), { a: PODS, b: APPS })).toEqual([
      ['{app="a", pod="1"}', -3],
      ['{app="a", pod="2"}', 0],
      ['{app="b", pod="1"}', -4],
    ]);
    expect(instant(binary(B, '<', A, { matching: on(['app'], 'right') }), { a: PODS, b: APPS })).toEqual([
      ['{app="a", pod="1"}', 3],
      ['{app="b", pod="1"}', 4],
    ]);
  });

  test('alternating series of one side have separate results', () => {
    const leaves = { a: { 'app=a': [1, 2] }, b: { 'app=a,v=1': [10, '_'], 'app=a,v=2': ['_', 20] } } as const;
    expect(ranged(binary(A, '+', B, { matching: on(['app'], 'left', ['v']) }), leaves)).toEqual([
      ['{app="a", v="1"}', [0, 11]],
      ['{app="a", v="2"}', [1, 22]],
    ]);
    expect(ranged(binary(A, '+', B, { matching: on(['app']) }), leaves)).toEqual([
      ['{app="a"}', [0, 11], [1, 22]],
    ]);
  });
});

describe('refused matches', () => {
  const two = { 'app=a,pod=1': 1, 'app=a,pod=2': 2 };
  const one = { 'app=a': 1 };
  const duplicates = (side: string) =>
    `found duplicate series on the ${side} hand-side;many-to-many matching not allowed: matching labels must be unique on one side`;
  test.each([
    [on(['app']), one, two, duplicates('right')],
    [on(['app'], 'left'), two, two, duplicates('right')],
    [on(['app'], 'right'), two, one, duplicates('left')],
    [on(['app']), { 'app=z': 1 }, two, duplicates('right')],
    [
      on(['app']),
      two,
      one,
      'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)',
    ],
    [
      on(['app'], 'left', ['pod']),
      two,
      one,
      'multiple matches for labels: grouping labels must ensure unique matches',
    ],
  ])('%j', (matching, a, b, message) => {
    expect(() => instant(binary(A, '+', B, { matching }), { a, b })).toThrow(message);
    expect(() => instant(binary(A, '>', B, { matching }), { a, b })).toThrow(message);
  });

  test('refuses duplicates through labels with empty values', () => {
    const empty = { 'app=a,pod=': 1, 'app=a': 2 };
    expect(() => instant(binary(A, '+', B), { a: { 'app=a': 1 }, b: empty })).toThrow(duplicates('right'));
    expect(() => instant(binary(A, '+', B), { a: empty, b: { 'app=a': 1 } })).toThrow('multiple matches');
    expect(() =>
      instant(binary(A, '+', B, { matching: on(['app'], 'left') }), { a: empty, b: { 'app=a': 1 } }),
    ).toThrow('multiple matches');
  });

  test('only at one instant: alternating series are not duplicates', () => {
    const turns = { 'app=a,pod=1': [1, '_'], 'app=a,pod=2': ['_', 2] } as const;
    const matching = on(['app']);
    expect(ranged(binary(A, '+', B, { matching }), { a: turns, b: turns })).toEqual([
      ['{app="a"}', [0, 2], [1, 4]],
    ]);
    const both = { 'app=a,pod=1': [1, 1], 'app=a,pod=2': ['_', 2] } as const;
    expect(() => ranged(binary(A, '+', B, { matching }), { a: { 'app=a': [1, 1] }, b: both })).toThrow(
      'duplicate',
    );
    expect(ranged(binary(A, '+', B, { matching }), { a: both, b: { 'app=a': [1, '_'] } })).toEqual([
      ['{app="a"}', [0, 2]],
    ]);
  });
});

describe('set operators', () => {
  const left = { 'x=1': [1, 1, '_'], 'x=2': [2, 2, 2] } as const;
  const right = { 'x=1': ['_', 7, 7], 'x=3': [9, '_', '_'] } as const;
  test.each<[BinaryOp, unknown]>([
    ['and', [['{x="1"}', [1, 1]]]],
    [
      'unless',
      [
        ['{x="1"}', [0, 1]],
        ['{x="2"}', [0, 2], [1, 2], [2, 2]],
      ],
    ],
    [
      'or',
      [
        ['{x="1"}', [0, 1], [1, 1], [2, 7]],
        ['{x="2"}', [0, 2], [1, 2], [2, 2]],
        ['{x="3"}', [0, 9]],
      ],
    ],
  ])('%s', (op, want) => {
    expect(ranged(binary(A, op, B), { a: left, b: right })).toEqual(want);
  });

  test('match by labels, and allow many on both sides', () => {
    const leaves = { a: PODS, b: { 'app=a,pod=8': 0, 'app=a,pod=9': 0 } };
    expect(instant(binary(A, 'and', B, { matching: on(['app']) }), leaves)).toEqual([
      ['{app="a", pod="1"}', 6],
      ['{app="a", pod="2"}', 3],
    ]);
    expect(instant(binary(A, 'unless', B, { matching: ignoring(['pod']) }), leaves)).toEqual([
      ['{app="b", pod="1"}', 8],
      ['{app="c", pod="1"}', 1],
    ]);
    expect(instant(binary(A, 'and', B, { matching: on(['nosuch']) }), leaves)).toHaveLength(4);
    expect(instant(binary(A, 'unless', B, { matching: on([]) }), leaves)).toEqual([]);
  });

  test('labels with empty values count as absent, and stay in the result', () => {
    const leaves = { a: { 'x=1,y=': 1, 'x=': 2 }, b: { 'x=1': 3, '': 4 } };
    expect(instant(binary(A, 'and', B), leaves)).toEqual([
      ['{x=""}', 2],
      ['{x="1", y=""}', 1],
    ]);
    expect(instant(binary(A, 'unless', B), leaves)).toEqual([]);
    expect(instant(binary(B, 'or', A), leaves)).toEqual([
      ['{}', 4],
      ['{x="1"}', 3],
    ]);
    expect(instant(binary(A, 'or', vector(0)), { a: { 'x=': 4 } })).toEqual([['{x=""}', 4]]);
  });

  test('`or vector(0)` fills in only without labels', () => {
    expect(instant(binary(A, 'or', vector(0)), {})).toEqual([['{}', 0]]);
    expect(instant(binary(A, 'or', vector(0)), { a: { '': 4 } })).toEqual([['{}', 4]]);
    expect(instant(binary(A, 'or', vector(0)), { a: { 'x=1': 4 } })).toEqual([
      ['{}', 0],
      ['{x="1"}', 4],
    ]);
    expect(ranged(binary(A, 'or', vector(0)), { a: { '': [4, '_', 5] } })).toEqual([
      ['{}', [0, 4], [1, 0], [2, 5]],
    ]);
  });

  test('a literal is refused', () => {
    expect(() => instant(binary(literal(1), 'and', A), { a: PODS })).toThrow(
      'unexpected literal for left leg of logical/set binary operation (and): 1.000000',
    );
    expect(() => instant(binary(A, 'or', literal(2.5)), { a: PODS })).toThrow(
      'unexpected literal for right leg of logical/set binary operation (or): 2.500000',
    );
  });
});

describe('algebra', () => {
  const row = fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant('_' as const)), {
    minLength: 5,
    maxLength: 5,
  });
  const rows = fc.dictionary(fc.constantFrom('x=1', 'x=2', 'x=3', 'x=1,y=1'), row);

  test('set operators and comparisons equal a look at each instant', () => {
    fc.assert(
      fc.property(
        rows,
        rows,
        fc.constantFrom<BinaryOp>('and', 'or', 'unless', '>', '==', '+'),
        (a, b, op) => {
          const want: string[] = [];
          for (let at = 0; at < 5; at++) {
            for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
              const left = a[key]?.[at] ?? '_';
              const right = b[key]?.[at] ?? '_';
              const labels = `{${key.replaceAll(/(\w)=(\w)/g, '$1="$2"').replace(',', ', ')}}`;
              const put = (value: number) => want.push(`${labels} ${at} ${value}`);
              if (op === 'and' && left !== '_' && right !== '_') put(left);
              if (op === 'unless' && left !== '_' && right === '_') put(left);
              if (op === 'or' && (left !== '_' || right !== '_'))
                put(left !== '_' ? left : (right as number));
              if (left === '_' || right === '_') continue;
              if (op === '+') put(left + right);
              if ((op === '>' && left > right) || (op === '==' && left === right)) put(left);
            }
          }
          const grid = { '#': Array(5).fill('_') };
          const got = ranged(binary(A, op, B), { a: { ...grid, ...a }, b: { ...grid, ...b } }) as [
            string,
            ...number[][],
          ][];
          const points = got.flatMap(([labels, ...values]) =>
            values.map(([at, value]) => `${labels} ${at} ${value}`),
          );
          expect(points.sort()).toEqual(want.sort());
        },
      ),
      { numRuns: 500 },
    );
  });
});
