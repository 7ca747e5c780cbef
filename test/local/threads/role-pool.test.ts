import { beforeEach, expect, test } from '@jest/globals';
import { type PooledThread, RolePool } from '../../../local/threads/role-pool.ts';

interface FakeThread extends PooledThread {
  running: number;
  isReady: boolean;
  isStopped: boolean;
}

let started: FakeThread[];
beforeEach(() => {
  started = [];
});

function poolOf(max: number): RolePool<FakeThread> {
  return new RolePool(max, index => {
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
  });
}

/** States of threads, `-` for one that starts, and which is picked; threads after that. */
test.each<[readonly (number | '-')[], number, number, number]>([
  // One runs all the time, and is waited for while it starts.
  [['-'], 4, 0, 1],
  [[0], 4, 0, 1],
  // If all are busy the next one starts, and what is there works meanwhile.
  [[1], 4, 0, 2],
  [[3, '-'], 4, 0, 2],
  [[3, 0], 4, 1, 2],
  [[3, 1], 4, 1, 3],
  [[2, 2, 2], 4, 0, 4],
  // Of equals the first.
  [[0, 0, 0], 4, 0, 3],
  [[5, 2, 2], 3, 1, 3],
  // Never more than may be.
  [[7], 1, 0, 1],
  // One that was lost and starts again is passed over, and counts as one that starts.
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

test('a thread that is asked for by its place is started with all before it', async () => {
  const pool = poolOf(3);
  expect(pool.at(2)).toBe(started[2]);
  expect(started).toHaveLength(3);
  expect(pool.at(1)).toBe(started[1]);
  await pool.ready();
  expect(started.every(({ isReady }) => isReady)).toBe(true);
  await pool.stop();
  expect(started.every(({ isStopped }) => isStopped)).toBe(true);
});
