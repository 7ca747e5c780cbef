/**
 * Pushes over a remote store in virtual time: groups start a few milliseconds apart, so the number of concurrent
 * groups follows from the write latency.
 */
import { describe, expect, test } from '@jest/globals';
import { AWS_LATENCY, modeledPorts } from '../../bench/cloud/modeled-ports.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { Dice } from '../simulation/dice.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';
import { DAY } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

const SENDERS = 64;
const PUSHES = 20;
const MAX_PAUSE_MS = 40;
/** Put and transaction: 60 and 8 ms, and each ends at a whole millisecond of the virtual time. */
const WRITE_MS = 70;

/** A committer over AWS in virtual time, and the puts of objects so far. */
function distantCommitter({
  isDistant = true,
  inlineMaxBytes = 0,
  waitMs = 2,
  gathers = false,
}: {
  readonly isDistant?: boolean;
  readonly inlineMaxBytes?: number;
  readonly waitMs?: number;
  readonly gathers?: boolean;
} = {}) {
  const time = new VirtualTime(Date.UTC(2026, 0, 1), new Dice(1));
  const inner = { store: memoryObjectStore(), table: memoryTable({ clock: time }) };
  const { store, table } = modeledPorts(inner, time, AWS_LATENCY);
  const ids = seededIds(1);
  const puts = { all: 0, running: 0, most: 0 };
  const counted: typeof store = {
    ...store,
    isDistant,
    async putIfAbsent(...put) {
      puts.all++;
      puts.most = Math.max(puts.most, ++puts.running);
      const isNew = await store.putIfAbsent(...put);
      puts.running--;
      return isNew;
    },
  };
  const committer = new GroupCommitter({
    store: counted,
    catalog: new Catalog({ table, clock: time, ids }),
    clock: time,
    ids,
    options: {
      waitMs,
      gathers,
      maxGroupBytes: 4 * 1024 * 1024,
      inlineMaxBytes,
      compression: QUICK_COMPRESSION,
    },
  });
  return { time, committer, puts };
}

/** Average and maximum wait of pushes whose senders wait for each response, ms, without the first ones. */
async function pushing(isDistant: boolean) {
  const { time, committer, puts } = distantCommitter({ isDistant });
  const waits: number[] = [];
  const sender = async (number: number) => {
    const dice = new Dice(number);
    for (let i = 0; i < PUSHES; i++) {
      // Senders pause between pushes; otherwise all of them would be one group.
      await time.sleep(dice.below(MAX_PAUSE_MS));
      const sentMs = time.nowMs();
      const stream = { app: `app-${number}` };
      await committer.commit('t', pushOf([{ stream, day: DAY, time: i, line: `line ${i}`, metadata: {} }]));
      if (i >= PUSHES / 2) waits.push(time.nowMs() - sentMs);
    }
  };
  await time.run(Promise.all(Array.from({ length: SENDERS }, (_, number) => sender(number))));
  return {
    meanMs: waits.reduce((sum, ms) => sum + ms, 0) / waits.length,
    slowestMs: Math.max(...waits),
    objects: puts.all,
  };
}

/**
 * Milliseconds until pushes are durable that are announced first and committed after the given times, and the
 * number of objects. A push without a time fails.
 */
async function announced(isDistant: boolean, afterMs: readonly (number | undefined)[]) {
  const { time, committer, puts } = distantCommitter({ isDistant });
  const commit = (line: string) =>
    committer.commit('t', pushOf([{ stream: { app: 'a' }, day: DAY, time: 1, line, metadata: {} }]));
  const push = async (ms: number | undefined, index: number, read: () => void) => {
    const startMs = time.nowMs();
    if (ms === undefined) return undefined;
    if (ms > 0) await time.sleep(ms);
    read();
    await commit(`line ${index}`);
    return Math.round(time.nowMs() - startMs);
  };
  return time.run(
    (async () => {
      // Later ones know the day, and that the tenant has no tails.
      await commit('first');
      puts.all = 0;
      const reads = afterMs.map(() => committer.announce('t'));
      const doneMs = await Promise.all(afterMs.map((ms, index) => push(ms, index, reads[index])));
      return { doneMs, objects: puts.all };
    })(),
  );
}

// [what, distant, time from the announcement to the commit, ms until durable, objects]
test.each<[string, boolean, (number | undefined)[], (number | undefined)[], number]>([
  ['a push alone does not wait', true, [0], [WRITE_MS], 1],
  ['a push waits for one that is being read', true, [0, 1], [WRITE_MS + 1, WRITE_MS + 1], 1],
  ['it waits 2 ms at most', true, [0, 1, 30], [WRITE_MS + 2, WRITE_MS + 2, WRITE_MS + 30], 2],
  ['it waits 2 ms for one that fails', true, [0, undefined], [WRITE_MS + 2, undefined], 1],
  ['a push alone does not wait on a disk', false, [0], [WRITE_MS], 1],
  ['on a disk, it waits for one that is being read', false, [0, 1], [WRITE_MS + 1, WRITE_MS + 1], 1],
])('%s', async (_, isDistant, afterMs, doneMs, objects) => {
  expect(await announced(isDistant, afterMs)).toEqual({ doneMs, objects });
});

test('on a disk, a push also waits for others while one is written, and after a group of several', async () => {
  const { time, committer, puts } = distantCommitter({ isDistant: false });
  const commit = (line: string) =>
    committer.commit('t', pushOf([{ stream: { app: 'a' }, day: DAY, time: 1, line, metadata: {} }]));
  const apart = async (...lines: readonly string[]) => {
    puts.all = 0;
    const pushes: Promise<void>[] = [];
    for (const line of lines) {
      pushes.push(commit(line));
      await time.sleep(1);
    }
    await Promise.all(pushes);
    return puts.all;
  };
  await time.run(
    (async () => {
      await commit('first');
      // The first is written at once, the others together.
      expect(await apart('a', 'b', 'c')).toBe(2);
      expect(await apart('d', 'e')).toBe(1);
      expect(await apart('f')).toBe(1);
      expect(await apart('g', 'h')).toBe(2);
    })(),
  );
});

describe('64 agents over a store with a write latency of 68 ms', () => {
  test('get responses nearly as fast as the store, and share its objects', async () => {
    const { meanMs, slowestMs, objects } = await pushing(true);
    // Half of 5 ms on average, and 5 ms at most.
    expect(meanMs).toBeLessThan(WRITE_MS + 3);
    expect(slowestMs).toBeLessThan(WRITE_MS + 10);
    expect(objects).toBeLessThan((SENDERS * PUSHES) / 3);
  });

  test('wait for each other with only three concurrent writes', async () => {
    expect((await pushing(false)).meanMs).toBeGreaterThan(80);
  });
});

test('groups start at least 5 ms apart while one is being written', async () => {
  const { time, committer, puts } = distantCommitter();
  const commit = (line: string) =>
    committer.commit('t', pushOf([{ stream: { app: 'a' }, day: DAY, time: 1, line, metadata: {} }]));
  await time.run(
    (async () => {
      await commit('first');
      puts.all = 0;
      const pushes: Promise<void>[] = [];
      for (let ms = 0; ms < 20; ms++) {
        pushes.push(commit(`line ${ms}`));
        await time.sleep(1);
      }
      await Promise.all(pushes);
      // At 0, 5, 10, 15 and 20 ms.
      expect(puts.all).toBe(5);
      puts.all = 0;
      // Nothing is being written any more.
      await commit('last');
      expect(puts.all).toBe(1);
    })(),
  );
});

// [gathers, objects of a thousand pushes in a second]
test.each<[boolean, number, number]>([
  [true, 4, 5],
  [false, 100, 250],
])(
  'a write tier (%s) gathers pushes for its whole wait: %i to %i objects for 1,000 pushes in a second',
  async (gathers, min, max) => {
    const { time, committer, puts } = distantCommitter({ waitMs: 250, gathers });
    await time.run(
      (async () => {
        const pushes: Promise<void>[] = [];
        for (let ms = 0; ms < 1000; ms++) {
          const line = `line ${ms}`;
          pushes.push(
            committer.commit('t', pushOf([{ stream: { app: 'a' }, day: DAY, time: ms, line, metadata: {} }])),
          );
          await time.sleep(1);
        }
        await Promise.all(pushes);
      })(),
    );
    expect(puts.all).toBeGreaterThanOrEqual(min);
    expect(puts.all).toBeLessThanOrEqual(max);
  },
);

test('chunks that are stored in their records do not reduce the number of concurrent writes', async () => {
  const { time, committer, puts } = distantCommitter({ inlineMaxBytes: 4096 });
  let pushes = 0;
  const push = (bytes: number) => {
    const dice = new Dice(++pushes);
    const line = Array.from({ length: bytes / 8 }, () => dice.below(2 ** 32).toString(16)).join('');
    return committer.commit(
      't',
      pushOf([{ stream: { app: 'a' }, day: DAY, time: pushes, line, metadata: {} }]),
    );
  };
  await time.run(
    (async () => {
      await push(64 * 1024);
      for (let i = 0; i < 30; i++) await push(64);
      const large: Promise<void>[] = [];
      for (let i = 0; i < 12; i++) {
        large.push(push(64 * 1024));
        await time.sleep(5);
      }
      await Promise.all(large);
    })(),
  );
  expect(puts.most).toBeGreaterThanOrEqual(10);
});
