import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_OF_HOUR } from '../../shared/base/model/time-units.ts';
import { searchedShare, searchWindows } from '../../ui/src/lines/search-windows.ts';

describe('parts of a search', () => {
  test('touch, are in the order of the list, and are the range together', () => {
    const lengths = fc.integer({ min: 1, max: 9000 }).map(hours => BigInt(hours) * BigInt(NS_OF_HOUR) + 7n);
    fc.assert(
      fc.property(lengths, fc.boolean(), (length, newestFirst) => {
        const range = { startNs: '5', endNs: String(5n + length) };
        const parts = searchWindows(range, newestFirst);
        expect(parts.length).toBeLessThanOrEqual(4);
        const inTime = newestFirst ? parts.toReversed() : parts;
        expect([inTime[0].startNs, inTime.at(-1)?.endNs]).toEqual([range.startNs, range.endNs]);
        expect(inTime.slice(1).map(({ startNs }) => startNs)).toEqual(
          inTime.slice(0, -1).map(({ endNs }) => endNs),
        );
        for (const { startNs, endNs } of parts) expect(BigInt(endNs)).toBeGreaterThan(BigInt(startNs));
        const shares = parts.map(part => searchedShare(range, part, newestFirst));
        expect(shares.at(-1)).toBe(1);
        expect(shares).toEqual(shares.toSorted((a, b) => a - b));
      }),
    );
  });

  test('a range of an hour is one part', () => {
    const range = { startNs: '0', endNs: String(NS_OF_HOUR) };
    expect(searchWindows(range, true)).toEqual([range]);
  });
});
