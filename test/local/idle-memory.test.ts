import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import {
  collectIfGrown,
  collectionProbe,
  returnIdleMemory,
  unusedMemoryReleaser,
} from '../../local/idle-memory.ts';
import { IdleCaches } from '../../shared/base/model/idle-caches.ts';
import { LruCache } from '../../shared/base/model/lru.ts';

/** Runs a check for each of the given shares of time that the thread was busy. Resolves with how often garbage was collected by then; a tenth is a thorough collection. */
async function collectionsAfter(
  shares: readonly number[],
  {
    caches = new IdleCaches(1, 1),
    grownMb = 0,
    collectedByV8 = [],
  }: {
    readonly caches?: IdleCaches;
    readonly grownMb?: number;
    /** Checks before which V8 collects, from 1. */
    readonly collectedByV8?: readonly number[];
  } = {},
): Promise<number[]> {
  const stop = new AbortController();
  const collections: number[] = [];
  let collected = 0;
  let thorough = 0;
  let busyMs = 0;
  let checks = 0;
  let isCollected = false;
  const wasCollected = () => {
    const was = isCollected;
    isCollected = false;
    return was;
  };
  const clock = {
    async sleep(ms: number) {
      if (checks > 0) collections.push(collected + thorough / 10);
      if (checks === shares.length) stop.abort();
      else {
        busyMs += shares[checks++] * ms;
        usedMb += grownMb;
        if (collectedByV8.includes(checks)) isCollected = true;
      }
    },
  };
  let usedMb = 20;
  const usedBytes = () => usedMb * 1024 * 1024;
  const collect = () => {
    collected++;
    usedMb = 20;
    isCollected = true;
  };
  const collectAll = () => {
    thorough++;
    collect();
  };
  const parts = { clock, busyMs: () => busyMs, usedBytes, wasCollected, caches, collectAll, collect };
  await returnIdleMemory(parts, stop.signal);
  return collections;
}

// [what, shares of busy time, collections after each check]
test.each([
  ['once after the start', [0, 0, 0], [1.1, 1.1, 1.1]],
  ['not while the thread is busy and does not grow', [1, 0.5, 0.06], [0, 0, 0]],
  ['once after each busy time', [1, 0, 0, 0.2, 0.04, 0], [0, 1.1, 1.1, 1.1, 2.2, 2.2]],
])('collects garbage %s', async (_, shares, want) => {
  expect(await collectionsAfter(shares)).toEqual(want);
});

// [what, growth of what it holds between checks in MiB, shares of busy time, collections after each check]
test.each([
  [
    'each time it has grown',
    12,
    [0.04, 0.04, 0.04, 0.04, 0.04, 0.04, 0.04],
    [1.1, 1.1, 1.1, 2.1, 2.1, 2.1, 3.1],
  ],
  ['not for less growth', 6, [0, 0.01, 0.01, 0.01, 0.01, 0.01], [1.1, 1.1, 1.1, 1.1, 1.1, 1.1]],
])('collects garbage of a thread with little work: %s', async (_, grownMb, shares, want) => {
  expect(await collectionsAfter(shares, { grownMb })).toEqual(want);
});

// [what, growth of what it holds between checks in MiB, shares of busy time, collections after each check]
test.each([
  ['each time it has grown by much', 24, [1, 1, 1, 1, 1, 1], [0, 1, 1, 2, 2, 3]],
  ['at every second check at most', 100, [1, 1, 1, 1], [1, 1, 2, 2]],
  ['not for less growth', 6, [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]],
  ['and thoroughly when it becomes idle', 24, [1, 1, 1, 0], [0, 1, 1, 2.1]],
])('collects garbage of a busy thread: %s', async (_, grownMb, shares, want) => {
  expect(await collectionsAfter(shares, { grownMb })).toEqual(want);
});

test('leaves a busy thread to V8 if V8 collects it', async () => {
  const collectedByV8 = [1, 2, 4];
  expect(await collectionsAfter([1, 1, 1, 1, 1], { grownMb: 100, collectedByV8 })).toEqual([0, 0, 1, 1, 2]);
});

test('collects a thread that becomes idle, although V8 has collected it', async () => {
  expect(await collectionsAfter([1, 0], { collectedByV8: [1, 2] })).toEqual([0, 1.1]);
});

type Collection = 'minor' | 'major';

test('knows whether the whole heap was collected', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: {
    readonly type: Collection;
    readonly execution: 'sync';
  }) => void;
  const wasCollected = collectionProbe();
  const collect = async (type: Collection) => {
    // What a WeakRef has returned lives until the end of the round.
    await nextRound();
    gc({ type, execution: 'sync' });
    return wasCollected();
  };
  expect(await collect('minor')).toBe(false);
  expect(await collect('minor')).toBe(false);
  expect(await collect('major')).toBe(true);
  expect(await collect('minor')).toBe(false);
  expect(await collect('major')).toBe(true);
});

test('collects what an emptied cache held', async () => {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1);
  const caches = new IdleCaches(3, 3);
  caches.add(cache);
  expect(await collectionsAfter([0, 0, 0, 0], { caches })).toEqual([1.1, 1.1, 2.2, 2.2]);
  expect(cache.size).toBe(0);
});

test('collects in another round of the event loop than it looks at memories in', async () => {
  const stop = new AbortController();
  let isLooking = false;
  let checks = 0;
  const seen: boolean[] = [];
  const collect = () => {
    seen.push(isLooking);
    if (seen.length === 2) stop.abort();
  };
  await returnIdleMemory(
    {
      clock: { sleep: async () => undefined },
      busyMs: () => 1e6 * checks++,
      usedBytes() {
        isLooking = true;
        setImmediate(() => {
          isLooking = false;
        });
        return checks * 1e9;
      },
      wasCollected: () => false,
      caches: new IdleCaches(1, 1),
      collectAll: collect,
      collect,
    },
    stop.signal,
  );
  expect(seen).toEqual([false, false]);
});

test('collects after large pushes only if the thread holds 32 MiB more', () => {
  let usedMb = 20;
  let collected = 0;
  const end = collectIfGrown({
    usedBytes: () => usedMb * 1024 * 1024,
    collect() {
      collected++;
      usedMb = 30;
    },
  });
  // [what the thread holds at the end of a push in MiB, collections by then]
  for (const [mb, want] of [
    [51, 0],
    [52, 1],
    [61, 1],
    [62, 2],
    [10, 2],
    [41, 2],
    [42, 3],
  ]) {
    usedMb = mb;
    end();
    expect([mb, collected]).toEqual([mb, want]);
  }
});

test.each<[string, boolean, ReturnType<typeof released>[], number]>([
  ['nothing is unused', false, [released(false, false)], 0],
  ['new lines take it', false, [released(false, true), released(false, true), released(false, false)], 0],
  ['V8 has collected it', true, [released(true, false), released(false, false)], 0],
  ['V8 has not collected it', false, [released(true, false), released(false, false)], 1],
  ['some at a time', false, [released(true, true), released(true, false), released(false, false)], 2],
])(
  'unused memory is released, and collected by force only if V8 has not: %s',
  async (_case, isCollected, steps, want) => {
    const slept: number[] = [];
    let [collected, looks] = [0, 0];
    const left = [...steps];
    const release = unusedMemoryReleaser({
      clock: {
        async sleep(ms) {
          slept.push(ms);
        },
      },
      release: () => left.shift() ?? released(false, false),
      wasCollected: () => looks++ % 2 === 1 && isCollected,
      collect() {
        collected++;
      },
    });
    // A second call while it runs adds nothing.
    await Promise.all([release(), release()]);
    expect([left, slept, collected]).toEqual([[], Array(steps.length - 1).fill(5000), want]);
  },
);

function released(hasReleased: boolean, hasUnused: boolean) {
  return { hasReleased, hasUnused };
}
