import { describe, expect, test } from '@jest/globals';
import type { Limits } from '../../../shared/base/model/limits.ts';
import { STREAM_GENERATION_MS } from '../../../shared/write/ingest/rates/bounds.ts';
import { NO_SHARES, StreamRates, streamShares } from '../../../shared/write/ingest/rates/stream-rates.ts';
import { processes, pushOfBytes, SMALL_LIMITS, settle, storedStreams } from './processes.ts';

const RATE = { bytesPerSecond: 500, burstBytes: 2000 };
const ONE = { tenant: 't', hash: 1, shares: NO_SHARES };

describe('a stream', () => {
  test('has its own bucket', () => {
    const rates = new StreamRates();
    expect(rates.take(ONE, 2000, RATE, 0)).toBe(true);
    expect(rates.take(ONE, 1, RATE, 0)).toBe(false);
    expect(rates.take({ ...ONE, hash: 2 }, 2000, RATE, 0)).toBe(true);
    expect(rates.take({ ...ONE, tenant: 'u' }, 2000, RATE, 0)).toBe(true);
    expect(rates.take(ONE, 500, RATE, 1000)).toBe(true);
  });

  test('is not evicted while in use', () => {
    const rates = new StreamRates();
    const slow = { bytesPerSecond: 0, burstBytes: 2000 };
    let taken = 0;
    for (let i = 0; i < 10; i++) {
      if (rates.take(ONE, 1000, slow, i * STREAM_GENERATION_MS * 0.9)) taken++;
    }
    expect(taken).toBe(2);
  });

  test('is evicted after two generations without use', () => {
    const rates = new StreamRates();
    const slow = { bytesPerSecond: 0, burstBytes: 2000 };
    rates.take(ONE, 2000, slow, 0);
    for (const generation of [1, 2]) {
      rates.take({ ...ONE, hash: 2 }, 0, slow, generation * STREAM_GENERATION_MS);
    }
    expect(rates.take(ONE, 2000, slow, 2 * STREAM_GENERATION_MS)).toBe(true);
  });

  test('uses its assigned share', () => {
    const rates = new StreamRates();
    const shared = { ...ONE, shares: new Map([[1, 1 / 2]]) };
    rates.take(shared, 2000, RATE, 0);
    expect(rates.take(shared, 500, RATE, 1999)).toBe(false);
    expect(rates.take(shared, 500, RATE, 2000)).toBe(true);
  });
});

describe('hot streams', () => {
  const offered = () => {
    const rates = new StreamRates();
    for (const [hash, bytes] of [
      [1, 1240],
      [2, 1250],
      [3, 9000],
    ])
      rates.take({ ...ONE, hash }, bytes, RATE, 0);
    return rates;
  };

  test.each([
    [
      1,
      [
        [3, 1800],
        [2, 250],
      ],
    ],
    [
      2,
      [
        [3, 1800],
        [2, 250],
        [1, 248],
      ],
    ],
  ])('are found for %d processes', (count, want) => {
    expect(offered().hot('t', { processes: count, rate: RATE, elapsedMs: 5000 })).toEqual(want);
  });

  test('are counted again after each report', () => {
    const rates = offered();
    rates.hot('t', { processes: 1, rate: RATE, elapsedMs: 5000 });
    expect(rates.hot('t', { processes: 1, rate: RATE, elapsedMs: 5000 })).toEqual([]);
    expect(rates.hot('u', { processes: 1, rate: RATE, elapsedMs: 5000 })).toEqual([]);
  });

  test('are divided by demand that others report', () => {
    const told = { bytesPerSecond: 0, takenBytes: 0, newBytes: 0 };
    const others = [
      {
        ...told,
        process: 'b',
        hotStreams: [
          [1, 300],
          [2, 50],
        ] as const,
      },
      { ...told, process: 'c', hotStreams: [[1, 100]] as const },
    ];
    const shares = streamShares(
      [
        [1, 400],
        [3, 10],
      ],
      others,
      3,
    );
    expect([...shares.keys()]).toEqual([1, 2]);
    expect(shares.get(1)).toBeCloseTo(1 / 27 + (8 / 9) * (1 / 2), 12);
    expect(shares.get(2)).toBeCloseTo(1 / 27, 12);
    expect(streamShares([[1, 400]], [], 1)).toBe(NO_SHARES);
  });
});

describe('stream rates over several processes', () => {
  const limits: Limits = {
    ...SMALL_LIMITS,
    ingestionRateMb: 100_000 / 1024 ** 2,
    ingestionBurstSizeMb: 1,
    perStreamRateLimit: 5000,
    perStreamRateLimitBurst: 6000,
  };

  /** Bytes of stream `a` that are taken of `bytesPerSecond` offered to each process, after a while. */
  async function taken(count: number, bytesPerSecond: number): Promise<number> {
    const all = processes(count);
    let bytes = 0;
    for (let ms = 0; ms < 120_000; ms += 500) {
      for (const rates of all.running) {
        const push = pushOfBytes({ a: bytesPerSecond / 2, b: 100 });
        const stored = storedStreams(await rates.admit('t', limits, push), push);
        await settle();
        expect(stored).toContain('b');
        if (ms >= 20_000 && stored.includes('a')) bytes += bytesPerSecond / 2;
      }
      all.clock.advance(500);
    }
    return bytes / 100;
  }

  test.each([
    ['one process has the whole rate of a stream', 1, 10_000, 5000],
    ['one below it is not refused', 1, 4000, 4000],
    ['four have the rate together', 4, 5000, 5000],
    ['four below it are not refused', 4, 1200, 4800],
  ])('%s', async (_, count, bytesPerSecond, want) => {
    expect(Math.abs((await taken(count, bytesPerSecond)) / want - 1)).toBeLessThan(0.05);
  });
});
