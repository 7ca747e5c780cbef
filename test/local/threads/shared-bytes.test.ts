/** One bound on bytes for several threads. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  freeLost,
  leasedBytes,
  SharedBytes,
  type SharedCounters,
  sharedCounters,
} from '../../../local/threads/shared-bytes.ts';
import { QueryMemory } from '../../../shared/read/query/query-memory.ts';

const MIB = 1024 * 1024;
const THREADS = 4;

describe('bytes that threads share', () => {
  test('one thread alone has all of them, to the last KiB', () => {
    for (const max of [3 * MIB, 100 * MIB, 5000]) {
      const bytes = new SharedBytes(sharedCounters(max, THREADS), 2);
      const all = Math.floor(max / 1024) * 1024;
      expect([bytes.take(all + 1), bytes.take(all), bytes.take(1)]).toEqual([false, true, false]);
    }
  });

  test('bytes that a thread does not hold are available to the others', () => {
    const counters = sharedCounters(10 * MIB, THREADS);
    const [first, second] = [0, 1].map(index => new SharedBytes(counters, index));
    expect(first.take(9 * MIB)).toBe(true);
    expect(second.take(2 * MIB)).toBe(false);
    first.give(9 * MIB);
    expect(leasedBytes(counters)).toBe(0);
    expect(second.take(10 * MIB)).toBe(true);
  });

  test('bytes of a lost thread are released, and the next thread starts with none', () => {
    const counters = sharedCounters(10 * MIB, THREADS);
    const lost = new SharedBytes(counters, 1);
    const other = new SharedBytes(counters, 0);
    expect([lost.take(6 * MIB), other.take(3 * MIB)]).toEqual([true, true]);
    freeLost(counters, 1);
    freeLost(counters, 1);
    const next = new SharedBytes(counters, 1);
    expect([next.take(8 * MIB), next.take(6 * MIB)]).toEqual([false, true]);
  });

  test('the sum never exceeds the bound, for any operations of threads', () => {
    const step = fc.record({
      thread: fc.nat(THREADS - 1),
      does: fc.constantFrom('take', 'take', 'give', 'lost'),
      bytes: fc.integer({ min: 1, max: 4 * MIB }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1024, max: 20 * MIB }),
        fc.array(step, { maxLength: 60 }),
        (max, steps) => {
          const counters = sharedCounters(max, THREADS);
          const threads = Array.from({ length: THREADS }, (_, index) => ({
            bytes: new SharedBytes(counters, index),
            held: [] as number[],
          }));
          const sum = () => threads.flatMap(({ held }) => held).reduce((all, one) => all + one, 0);
          for (const { thread, does, bytes } of steps) {
            const one = threads[thread];
            if (does === 'take' && one.bytes.take(bytes)) one.held.push(bytes);
            if (does === 'give' && one.held.length > 0) one.bytes.give(one.held.pop()!);
            if (does === 'lost') {
              freeLost(counters, thread);
              threads[thread] = { bytes: new SharedBytes(counters, thread), held: [] };
            }
            expect(leasedBytes(counters)).toBeLessThanOrEqual(max);
            expect(leasedBytes(counters)).toBeGreaterThanOrEqual(sum());
          }
          for (const { bytes, held } of threads) for (const one of held) bytes.give(one);
          expect(leasedBytes(counters)).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('holds with real threads at the same time', async () => {
    const counters: SharedCounters = sharedCounters(16 * MIB, THREADS);
    const told = await Promise.all(
      Array.from({ length: THREADS }, async (_, index) => {
        const worker = new Worker(new URL('support/leasing-thread.ts', import.meta.url), {
          workerData: { counters, index, rounds: 20_000 },
        });
        const exited = once(worker, 'exit');
        const [message] = (await once(worker, 'message')) as [{ most: number; refused: number }];
        await exited;
        return message;
      }),
    );
    for (const { most, refused } of told) {
      expect(most).toBeLessThanOrEqual(16 * MIB);
      expect(refused).toBeGreaterThan(0);
    }
    for (let index = 1; index < THREADS; index += 2) freeLost(counters, index);
    expect(leasedBytes(counters)).toBe(0);
  });
});

test('queries of all threads have one bound', async () => {
  const counters = sharedCounters(40 * MIB, THREADS);
  const [first, second] = [0, 1].map(index => new QueryMemory(40 * MIB, new SharedBytes(counters, index)));
  await first.query(async memory => {
    memory.reserve(20 * MIB);
    await expect(second.query(async other => other.reserve(20 * MIB))).rejects.toMatchObject({ status: 429 });
    expect([second.refused, second.usedBytes]).toEqual([1, 0]);
  });
  await second.query(async memory => memory.reserve(30 * MIB));
  expect(leasedBytes(counters)).toBe(0);
});
