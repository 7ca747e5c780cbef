import { expect, jest, test } from '@jest/globals';
import { withHedgedReads } from '../../shared/aws/hedge.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import type { ReadOptions } from '../../shared/base/ports/object-store.ts';

/** A store in memory whose reads take the times of the list in order, then 10 ms. */
async function slowStore(minSamples = 4) {
  const clock = virtualClock(0);
  const objects = memoryObjectStore();
  await objects.putIfAbsent('t/a', Buffer.from('0123456789'));
  const delaysMs: (number | Error)[] = [];
  let reads = 0;
  /** Reads whose signal ended them, by their number since the warm-up. */
  const aborted: number[] = [];
  const slow = {
    ...objects,
    async getRange(key: string, start: number, end: number, { signal }: ReadOptions = {}) {
      const number = ++reads;
      const delay = delaysMs.shift() ?? 10;
      try {
        await clock.sleep(typeof delay === 'number' ? delay : 1, signal);
      } catch (error) {
        aborted.push(number);
        throw error;
      }
      if (typeof delay !== 'number') throw delay;
      return objects.getRange(key, start, end);
    },
  };
  const store = withHedgedReads(slow, { clock, minSamples });
  const warm = async (count: number) => {
    for (let i = 0; i < count; i++) await clock.run(store.getRange('t/a', 0, 2));
    reads = 0;
  };
  return { clock, store, delaysMs, warm, aborted, reads: () => reads };
}

test('sends an unusually slow read a second time, and takes the first response', async () => {
  const { clock, store, delaysMs, warm, reads } = await slowStore();
  await warm(20);
  delaysMs.push(5000);
  const startedMs = clock.nowMs();
  expect(`${await clock.run(store.getRange('t/a', 2, 4))}`).toBe('23');
  // The least delay, then the usual time.
  expect(clock.nowMs() - startedMs).toBe(60);
  expect(reads()).toBe(2);
  expect(store.figures).toMatchObject({ hedges: 1, won: 1 });
});

test('takes the response of the first read if it comes first', async () => {
  const { clock, store, delaysMs, warm } = await slowStore();
  await warm(20);
  delaysMs.push(55, 300);
  expect(`${await clock.run(store.getRange('t/a', 2, 4))}`).toBe('23');
  await clock.advance(1000);
  expect(store.figures).toMatchObject({ hedges: 1, won: 0 });
});

test('does not repeat reads without enough samples, large reads, or errors', async () => {
  const { clock, store, delaysMs, warm, reads } = await slowStore(30);
  await warm(20);
  delaysMs.push(5000);
  await clock.run(store.getRange('t/a', 0, 1));
  expect(reads()).toBe(1);
  await warm(40);
  delaysMs.push(5000);
  await clock.run(store.getRange('t/a', 0, 100_000_000));
  delaysMs.push(new Error('no such range'));
  await expect(clock.run(store.getRange('t/a', 0, 1))).rejects.toThrow('no such range');
  expect(reads()).toBe(2);
  expect(store.figures.hedges).toBe(0);
});

test('computes the delay once for eight reads, and follows the times of reads', async () => {
  const { clock, store, delaysMs, warm } = await slowStore();
  const sorts = jest.spyOn(Object.getPrototypeOf(Float64Array.prototype) as Float64Array, 'sort');
  await warm(4 + 5 * 8);
  expect(sorts).toHaveBeenCalledTimes(5);
  sorts.mockRestore();
  // All take 100 ms now, so 150 ms are not late.
  delaysMs.push(...Array.from({ length: 264 }, () => 100));
  await warm(264);
  const { hedges } = store.figures;
  delaysMs.push(150);
  await clock.run(store.getRange('t/a', 0, 1));
  expect(store.figures.hedges).toBe(hedges);
});

test('does not double the load of a store that is slow as a whole', async () => {
  const { clock, store, delaysMs, warm, reads } = await slowStore();
  await warm(4);
  for (let i = 0; i < 200; i++) delaysMs.push(i % 2 === 0 ? 400 : 5);
  for (let i = 0; i < 100; i++) await clock.run(store.getRange('t/a', 0, 1));
  expect(reads()).toBeLessThanOrEqual(106);
});

test('reports the error of the first read if both fail', async () => {
  const { clock, store, delaysMs, warm } = await slowStore();
  await warm(20);
  delaysMs.push(5000, new Error('second'));
  expect(`${await clock.run(store.getRange('t/a', 2, 4))}`).toBe('23');
});

test('aborts the slower read, whichever it is', async () => {
  const { clock, store, delaysMs, warm, aborted } = await slowStore();
  await warm(20);
  delaysMs.push(5000);
  await clock.run(store.getRange('t/a', 2, 4));
  expect(aborted).toEqual([1]);
  await warm(20);
  aborted.length = 0;
  delaysMs.push(55, 300);
  await clock.run(store.getRange('t/a', 2, 4));
  expect(aborted).toEqual([2]);
});

test('aborts a read and its retries when no caller awaits it', async () => {
  const { clock, store, delaysMs, warm, aborted } = await slowStore();
  await warm(20);
  delaysMs.push(5000, 5000);
  const unwanted = new AbortController();
  const read = store.getRange('t/a', 2, 4, { signal: unwanted.signal });
  read.catch(() => undefined);
  await clock.advance(100);
  unwanted.abort(new Error('the client disconnected'));
  await expect(clock.run(read)).rejects.toThrow('the client disconnected');
  expect(aborted.sort()).toEqual([1, 2]);
});
