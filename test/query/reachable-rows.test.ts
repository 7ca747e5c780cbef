/** Rows that cannot be in a response are dropped before their lines are unpacked, and no other row is. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keepReachable } from '../../shared/read/query/reachable-rows.ts';

const BASE = 1000;

interface Given {
  readonly times: readonly number[];
  readonly limit: number;
  readonly backward: boolean;
  readonly bound: number | undefined;
  readonly keepsRows: boolean;
}

const given: fc.Arbitrary<Given> = fc.record({
  times: fc.array(fc.nat(30), { minLength: 1, maxLength: 40 }),
  limit: fc.nat(12),
  backward: fc.boolean(),
  bound: fc.option(fc.integer({ min: BASE - 3, max: BASE + 33 }), { nil: undefined }),
  keepsRows: fc.boolean(),
});

function kept({ times, limit, backward, bound, keepsRows }: Given): number[] {
  const selection = Uint32Array.from(times, (_, row) => row);
  const page = { page: { base: BASE }, first: BASE + Math.min(...times), last: BASE + Math.max(...times) };
  const rows = { times: Float64Array.from(times) };
  const left = keepReachable({ limit, backward, bound }, rows, page, selection, times.length, keepsRows);
  return [...selection.subarray(0, left)];
}

test('drops just the rows behind the bound, and behind the first ones if every row counts', () => {
  fc.assert(
    fc.property(given, all => {
      const { times, limit, backward, bound, keepsRows } = all;
      const comesBefore = (a: number, b: number) => (backward ? a > b : a < b);
      const reached = times.flatMap((time, row) =>
        bound === undefined || !comesBefore(bound, BASE + time) ? [row] : [],
      );
      const expected = reached.filter(row => {
        if (!keepsRows || limit === 0) return true;
        return reached.filter(other => comesBefore(times[other], times[row])).length < limit;
      });
      expect(kept(all)).toEqual(expected);
    }),
  );
});

test('no times are decoded for a page within the bound if a stage may drop rows', () => {
  const rows = {
    get times(): Float64Array {
      throw new Error('times are decoded');
    },
  };
  const page = { page: { base: 0 }, first: 5, last: 9 };
  const selection = Uint32Array.of(0, 1, 2);
  expect(keepReachable({ limit: 1, backward: true, bound: 5 }, rows, page, selection, 3, false)).toBe(3);
  expect(keepReachable({ limit: 1, backward: false, bound: 9 }, rows, page, selection, 3, false)).toBe(3);
  expect(keepReachable({ limit: 1, backward: true, bound: undefined }, rows, page, selection, 3, false)).toBe(
    3,
  );
});
