/** Positions of rows with different heights. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RowOffsets } from '../../ui/src/components/row-offsets.ts';

test('tops, total and rows at a position are those of a plain sum, also after changes', () => {
  const heights = fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 900 });
  const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 900 })), { maxLength: 20 });
  fc.assert(
    fc.property(heights, changes, fc.nat(40_000), (rows, changed, px) => {
      const offsets = new RowOffsets(rows.length, index => rows[index]);
      for (const [at, height] of changed) {
        if (rows.length === 0) break;
        rows[at % rows.length] = height;
        offsets.setHeight(at % rows.length, height);
      }
      const tops = [0];
      for (const height of rows) tops.push(tops.at(-1)! + height);
      expect(rows.map((_, index) => offsets.top(index))).toEqual(tops.slice(0, -1));
      expect([offsets.total, offsets.top(rows.length)]).toEqual([tops.at(-1), tops.at(-1)]);
      expect(offsets.rowAt(px)).toBe(tops.findLastIndex(top => top <= px));
    }),
  );
});

test('a list without rows, and a position above the first one', () => {
  expect(new RowOffsets(0, () => 22).rowAt(0)).toBe(0);
  expect(new RowOffsets(3, () => 22).rowAt(-50)).toBe(0);
});
