import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countParts, statusText } from '../../shared/upkeep/deletion/delete-parts.ts';

const request = (given: Partial<Parameters<typeof countParts>[0]> = {}) => ({
  startNs: 0n,
  endNs: 100n,
  intervalNs: 0n,
  doneToNs: undefined,
  processedMs: undefined,
  ...given,
});

describe('parts and status', () => {
  test.each([
    // A request without parts is processed as a whole.
    [{}, 1, 0, 'received'],
    [{ doneToNs: 99n }, 1, 0, 'received'],
    [{ doneToNs: 100n }, 1, 1, '100% Complete'],
    [{ doneToNs: 99n, processedMs: 5 }, 1, 1, 'processed'],
    // 5..10..20..25
    [{ startNs: 5n, endNs: 25n, intervalNs: 10n }, 3, 0, 'received'],
    [{ startNs: 5n, endNs: 25n, intervalNs: 10n, doneToNs: 4n }, 3, 0, 'received'],
    [{ startNs: 5n, endNs: 25n, intervalNs: 10n, doneToNs: 9n }, 3, 0, 'received'],
    [{ startNs: 5n, endNs: 25n, intervalNs: 10n, doneToNs: 10n }, 3, 1, '33% Complete'],
    [{ startNs: 5n, endNs: 25n, intervalNs: 10n, doneToNs: 24n }, 3, 2, '66% Complete'],
    [{ startNs: 5n, endNs: 25n, intervalNs: 10n, doneToNs: 25n }, 3, 3, '100% Complete'],
    [{ startNs: 5n, endNs: 25n, intervalNs: 10n, doneToNs: 99n }, 3, 3, '100% Complete'],
    // Ends on a cut: no empty part at either end.
    [{ startNs: 10n, endNs: 30n, intervalNs: 10n, doneToNs: 20n }, 2, 1, '50% Complete'],
    [{ startNs: 10n, endNs: 20n, intervalNs: 10n }, 1, 0, 'received'],
    // Shorter than its interval, over a cut and not.
    [{ startNs: 11n, endNs: 19n, intervalNs: 10n }, 1, 0, 'received'],
    [{ startNs: 19n, endNs: 21n, intervalNs: 10n }, 2, 0, 'received'],
    // Before 1970: -25..-20..-10..0..5
    [{ startNs: -25n, endNs: 5n, intervalNs: 10n, doneToNs: -10n }, 4, 2, '50% Complete'],
    // Years in seconds.
    [{ endNs: 10n ** 18n, intervalNs: 10n ** 9n, doneToNs: 10n ** 17n }, 10 ** 9, 10 ** 8, '10% Complete'],
  ])('%j', (given, all, done, status) => {
    expect(countParts(request(given))).toEqual({ all, done });
    expect(statusText(request(given))).toBe(status);
  });

  test('are those of a list that is written out', () => {
    const ns = fc.integer({ min: -200, max: 200 });
    fc.assert(
      fc.property(ns, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 50 }), ns, (...numbers) => {
        const [start, length, interval, doneTo] = numbers;
        const end = start + length;
        const ends = Array.from({ length }, (_, i) => start + 1 + i).filter(
          at => at === end || at % interval === 0,
        );
        const counted = countParts({
          startNs: BigInt(start),
          endNs: BigInt(end),
          intervalNs: BigInt(interval),
          doneToNs: BigInt(doneTo),
          processedMs: undefined,
        });
        expect(counted).toEqual({ all: ends.length, done: ends.filter(at => at <= doneTo).length });
      }),
    );
  });
});
