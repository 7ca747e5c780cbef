import { expect, test } from '@jest/globals';
import { returnIdleMemory } from '../../local/idle-memory.ts';
import { IdleCaches } from '../../shared/base/model/idle-caches.ts';
import { LruCache } from '../../shared/base/model/lru.ts';

/** Runs a check for each of the given shares of time that the thread was busy. Resolves with how often garbage was collected by then. */
async function collectionsAfter(shares: readonly number[], caches = new IdleCaches(1)): Promise<number[]> {
  const stop = new AbortController();
  const collections: number[] = [];
  let collected = 0;
  let busyMs = 0;
  let checks = 0;
  const clock = {
    async sleep(ms: number) {
      if (checks > 0) collections.push(collected);
      if (checks === shares.length) stop.abort();
      else busyMs += shares[checks++] * ms;
    },
  };
  const collect = () => {
    collected++;
  };
  await returnIdleMemory({ clock, busyMs: () => busyMs, caches, collect }, stop.signal);
  return collections;
}

// [what, shares of busy time, collections after each check]
test.each([
  ['once after the start', [0, 0, 0], [1, 1, 1]],
  ['not while the thread is busy', [1, 0.5, 0.06], [0, 0, 0]],
  ['once after each busy time', [1, 0, 0, 0.2, 0.04, 0], [0, 1, 1, 1, 2, 2]],
])('collects garbage %s', async (_, shares, want) => {
  expect(await collectionsAfter(shares)).toEqual(want);
});

test('collects what an emptied cache held', async () => {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1);
  const caches = new IdleCaches(3);
  caches.add(cache);
  expect(await collectionsAfter([0, 0, 0, 0], caches)).toEqual([1, 1, 2, 2]);
  expect(cache.size).toBe(0);
});
