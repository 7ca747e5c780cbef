import { beforeEach, expect, test } from '@jest/globals';
import { type PooledThread, RolePool, type RolePoolOptions } from '../../../local/threads/role-pool.ts';

interface FakeThread extends PooledThread {
  running: number;
  isReady: boolean;
  isStopped: boolean;
}

let started: FakeThread[];
beforeEach(() => {
  started = [];
});

function poolOf(max: number, options?: RolePoolOptions): RolePool<FakeThread> {
  const start = (index: number) => {
    expect(index).toBe(started.length);
    const thread: FakeThread = {
      running: 0,
      isReady: false,
      isStopped: false,
      ready: async () => {
        thread.isReady = true;
      },
      stop: async () => {
        thread.isStopped = true;
      },
    };
    started.push(thread);
    return thread;
  };
  return new RolePool(max, start, options);
}

/** States of threads, `-` for one that starts, and which is picked; threads after that. */
test.each<[readonly (number | '-')[], number, number, number]>([
  // The first is waited for while it starts.
  [['-'], 4, 0, 1],
  [[0], 4, 0, 1],
  // If all are busy, the next one starts, and the running ones work in the meantime.
  [[1], 4, 0, 2],
  [[3, '-'], 4, 0, 2],
  [[3, 0], 4, 1, 2],
  [[3, 1], 4, 1, 3],
  [[2, 2, 2], 4, 0, 4],
  // The first of equal threads is selected.
  [[0, 0, 0], 4, 0, 3],
  [[5, 2, 2], 3, 1, 3],
  // The number of threads never exceeds the maximum.
  [[7], 1, 0, 1],
  // A lost thread that restarts is skipped, and counts as one that starts.
  [['-', 4], 2, 1, 2],
  [['-', 4], 4, 1, 2],
  [['-', '-'], 4, 0, 2],
])(
  'with calls %j, of up to %i threads, number %i is picked; then there are %i',
  (calls, max, picked, count) => {
    const pool = poolOf(max);
    pool.at(calls.length - 1);
    calls.forEach((running, i) => {
      started[i].isReady = running !== '-';
      started[i].running = running === '-' ? 0 : running;
    });
    expect(started.indexOf(pool.pick())).toBe(picked);
    expect(pool.threads).toHaveLength(count);
    // No more are started until that one is there.
    pool.pick();
    expect(pool.threads).toHaveLength(count);
  },
);

test('none starts before it is needed', async () => {
  const pool = poolOf(3);
  await pool.ready();
  expect(started).toHaveLength(0);
  expect(pool.pick()).toBe(started[0]);
  expect(started).toHaveLength(1);
});

test('a thread requested by its index is started with all before it', async () => {
  const pool = poolOf(3);
  expect(pool.at(2)).toBe(started[2]);
  expect(started).toHaveLength(3);
  expect(pool.at(1)).toBe(started[1]);
  await pool.ready();
  expect(started.every(({ isReady }) => isReady)).toBe(true);
  await pool.stop();
  expect(started.every(({ isStopped }) => isStopped)).toBe(true);
});

// Calls of the threads, of the tenant and of others, and whether the spare thread is picked.
test.each<[readonly (number | '-')[], number, number, boolean]>([
  // A light tenant next to heavy ones.
  [[3], 0, 3, true],
  [[3], 1, 3, true],
  [[1], 0, 1, true],
  // Neither a heavy tenant nor the only tenant is selected.
  [[4], 2, 2, false],
  [[4], 4, 0, false],
  [[4], 3, 1, false],
  // A thread is free, or will be.
  [[0], 0, 3, false],
  [[3, 0], 0, 3, false],
  [[3, '-'], 0, 3, false],
])(
  'with calls %j, of the tenant %i and of others %i, the spare one: %j',
  async (calls, own, others, wanted) => {
    const pool = poolOf(calls.length, { hasSpare: true });
    pool.at(calls.length - 1);
    calls.forEach((running, i) => {
      started[i].isReady = running !== '-';
      started[i].running = running === '-' ? 0 : running;
    });
    // It starts when it is wanted for the first time, and the others work until it is there.
    expect(started.indexOf(pool.pick({ own, others }))).toBeLessThan(calls.length);
    expect(pool.threads).toHaveLength(calls.length + (wanted ? 1 : 0));
    await pool.ready();
    expect(started.indexOf(pool.pick({ own, others })) === calls.length).toBe(wanted);
  },
);

test('without a spare thread there is none', () => {
  const without = poolOf(1);
  without.at(0);
  started[0].isReady = true;
  started[0].running = 3;
  expect(without.pick({ own: 0, others: 3 })).toBe(started[0]);
  expect(without.threads).toHaveLength(1);
});

test.each<[readonly number[], number, number]>([
  [[], 0, 1],
  [[0], 0, 1],
  [[1], 1, 2],
  [[1, 0], 1, 2],
  [[2, 1], 2, 3],
  [[2, 1, 1], 1, 3],
])(
  'with %j calls that are longer than a start, thread %i of 3 is picked at once; then there are %i',
  (calls, picked, count) => {
    const pool = poolOf(3, { waitsForStart: true });
    if (calls.length > 0) pool.at(calls.length - 1);
    calls.forEach((running, i) => {
      started[i].running = running;
    });
    expect(pool.pick()).toBe(started[picked]);
    expect(started).toHaveLength(count);
  },
);
