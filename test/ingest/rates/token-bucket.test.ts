import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { demandOf, shareOf } from '../../../shared/write/ingest/rates/share.ts';
import { fullBucket, takeTokens } from '../../../shared/write/ingest/rates/token-bucket.ts';

describe('a bucket of 100 B/s and 300 B', () => {
  test.each<[name: string, takes: [atMs: number, bytes: number, isTaken: boolean][]]>([
    [
      'is full at first',
      [
        [0, 300, true],
        [0, 1, false],
      ],
    ],
    [
      'takes nothing of what does not fit',
      [
        [0, 301, false],
        [0, 300, true],
      ],
    ],
    [
      'never takes more than its burst',
      [
        [0, 301, false],
        [1e9, 301, false],
      ],
    ],
    [
      'fills with time',
      [
        [0, 300, true],
        [999, 100, false],
        [1000, 100, true],
        [1000, 1, false],
      ],
    ],
    [
      'fills to its burst',
      [
        [0, 300, true],
        [1e9, 300, true],
        [1e9, 1, false],
      ],
    ],
    [
      'takes nothing for nothing',
      [
        [0, 300, true],
        [0, 0, true],
      ],
    ],
    [
      'goes on after the clock was set back',
      [
        [5000, 300, true],
        [1000, 1, false],
        [2000, 100, true],
      ],
    ],
  ])('%s', (_, takes) => {
    const bucket = fullBucket();
    for (const [atMs, bytes, isTaken] of takes) {
      expect([atMs, takeTokens(bucket, bytes, 100, 300, atMs)]).toEqual([atMs, isTaken]);
    }
  });

  test('follows changed limits', () => {
    const bucket = fullBucket();
    expect(takeTokens(bucket, 100, 100, 300, 0)).toBe(true);
    expect(takeTokens(bucket, 51, 100, 50, 0)).toBe(false);
    expect(takeTokens(bucket, 50, 100, 50, 0)).toBe(true);
    expect(takeTokens(bucket, 100, 1000, 300, 100)).toBe(true);
  });

  test('accepts at most rate x window + burst in any window', () => {
    const push = fc.record({ waitMs: fc.nat(2000), bytes: fc.nat(350) });
    fc.assert(
      fc.property(fc.array(push, { maxLength: 60 }), pushes => {
        const bucket = fullBucket();
        const taken: [atMs: number, bytes: number][] = [];
        let nowMs = 0;
        for (const { waitMs, bytes } of pushes) {
          nowMs += waitMs;
          if (takeTokens(bucket, bytes, 100, 300, nowMs)) taken.push([nowMs, bytes]);
        }
        for (let i = 0; i < taken.length; i++) {
          let bytes = 0;
          for (let j = i; j < taken.length; j++) {
            bytes += taken[j][1];
            expect(bytes).toBeLessThanOrEqual(((taken[j][0] - taken[i][0]) * 100) / 1000 + 300 + 1e-6);
          }
        }
      }),
    );
  });
});

describe('shares', () => {
  test.each([
    ['alone', 5, 0, 1, 1],
    ['alone and idle', 0, 0, 1, 1],
    ['two alike', 5, 5, 2, 1 / 2],
    ['three times the demand', 3, 1, 2, 1 / 18 + (8 / 9) * (3 / 4)],
    ['nothing offered here', 0, 10, 3, 1 / 27],
    ['nothing offered anywhere', 0, 0, 4, 1 / 4],
  ])('%s', (_, own, others, processes, want) => {
    expect(shareOf(own, others, processes)).toBeCloseTo(want, 12);
  });

  test('shares of processes with equal knowledge add up to 1', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e9), { minLength: 1, maxLength: 50 }), demands => {
        const all = demands.reduce((sum, demand) => sum + demand, 0);
        const shares = demands.map(own => shareOf(own, all - own, demands.length));
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
        for (const share of shares) expect(share).toBeGreaterThan(0);
      }),
    );
  });
});

test.each([
  ['a moment', 1000, 1, 200],
  ['one interval', 1000, 5000, 200],
  ['longer', 1000, 8000, 125],
  ['a long silence', 1000, 3_600_000, 100],
  ['the first time', 1000, Infinity, 100],
])('demand over %s', (_, bytes, elapsedMs, want) => {
  expect(demandOf(bytes, elapsedMs)).toBe(want);
});
