/** The searches agree with a look at every place. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { firstPlace, lowerBound, lowerRow } from '../../shared/base/model/binary-search.ts';

const ASCENDING = fc
  .array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 })
  .map(values => values.sort((a, b) => a - b));

test('the first place at or above a value, in any part of ascending values', () => {
  fc.assert(
    fc.property(
      ASCENDING,
      fc.integer({ min: -1, max: 21 }),
      fc.nat(30),
      fc.nat(30),
      (values, value, a, b) => {
        const low = Math.min(a, b, values.length);
        const high = Math.min(Math.max(a, b), values.length);
        let expected = low;
        while (expected < high && values[expected] < value) expected++;
        expect(firstPlace(low, high, i => values[i] >= value)).toBe(expected);
        expect(lowerBound(Float64Array.from(values), low, high, value)).toBe(expected);
        if (value >= 0) expect(lowerRow(Uint32Array.from(values), low, high, value)).toBe(expected);
      },
    ),
  );
});

test('an empty part has its start, also if its end is before it', () => {
  expect(firstPlace(1, 0, () => true)).toBe(1);
  expect(lowerRow(new Uint32Array(1), 1, 0, 5)).toBe(1);
});
