/** Upkeep that pushes cause waits while the ingest threads are busy. */
import { expect, test } from '@jest/globals';
import { WaitingUpkeep } from '../../../local/threads/waiting-upkeep.ts';
import { manualClock } from '../../support/manual-clock.ts';

const SECOND_MS = 1_000;
const MAX_WAIT_MS = 10_000;

function makeUpkeep(threadCount = 1) {
  const clock = manualClock();
  const times = Array.from({ length: threadCount }, () => ({ active: 0, idle: 0 }));
  const started: string[] = [];
  const state = { isUrgent: false };
  const upkeep = new WaitingUpkeep({
    ingestTimes: () => times.map(time => ({ ...time })),
    isUrgent: () => state.isUrgent,
    startThread: () => started.push('thread'),
    merge: ({ tenant, day, through }) => started.push(`${tenant}/${day}/${through}`),
    maxWaitMs: MAX_WAIT_MS,
    clock,
  });
  /** A second in which each thread is busy for its part. */
  async function second(...parts: number[]): Promise<void> {
    parts.forEach((part, i) => {
      times[i].active += part * SECOND_MS;
      times[i].idle += (1 - part) * SECOND_MS;
    });
    clock.advance(SECOND_MS);
    for (let i = 0; i < 5; i++) await Promise.resolve();
  }
  return { upkeep, started, state, times, second };
}

const ticket = (tenant: string, through: number, day = 7) => ({ tenant, day, through });

test.each<[string, number[], boolean]>([
  ['idle', [0], true],
  ['busy for less than half of the time', [0.49], true],
  ['busy for half of the time', [0.5], false],
  ['busy all the time', [1], false],
  ['busy in one of three threads', [1, 0.1, 0], true],
  ['busy in two of three threads', [1, 1, 0], false],
])('after a second with ingest %s', async (_name, parts, isStarted) => {
  const { upkeep, started, second } = makeUpkeep(parts.length);
  upkeep.filled(ticket('a', 100));
  await second(...parts);
  expect(started).toEqual(isStarted ? ['a/7/100'] : []);
});

test('starts each day once, with its last ticket, when ingest is less busy', async () => {
  const { upkeep, started, second } = makeUpkeep();
  upkeep.filled(ticket('a', 100));
  await second(0.9);
  upkeep.filled(ticket('a', 200));
  upkeep.filled(ticket('b', 100));
  upkeep.filled(ticket('a', 50, 8));
  await second(0.9);
  expect(started).toEqual([]);
  await second(0.2);
  expect(started).toEqual(['a/7/200', 'b/7/100', 'a/8/50']);
  await second(0);
  expect(started).toHaveLength(3);
  upkeep.filled(ticket('a', 300));
  await second(0);
  expect(started.slice(3)).toEqual(['a/7/300']);
});

test('a busy ingest delays no merge of an urgent backlog', async () => {
  const { upkeep, started, state, second } = makeUpkeep();
  upkeep.filled(ticket('a', 100));
  await second(1);
  expect(started).toEqual([]);
  state.isUrgent = true;
  await second(1);
  expect(started).toEqual(['a/7/100']);
});

test('the time of a lost thread is no reason to wait', async () => {
  const { upkeep, started, times, second } = makeUpkeep();
  await second(1);
  await second(1);
  upkeep.filled(ticket('a', 100));
  times[0].active = 0;
  times[0].idle = 0;
  await second(1);
  expect(started).toEqual(['a/7/100']);
});

test('a day that the backlog does not count is merged at once', () => {
  const { upkeep, started } = makeUpkeep();
  upkeep.filled(ticket('a', 0));
  expect(started).toEqual(['a/7/0']);
});

test('nothing starts after the merges are dropped', async () => {
  const { upkeep, started, second } = makeUpkeep();
  upkeep.filled(ticket('a', 100));
  upkeep.clear();
  await second(0);
  upkeep.filled(ticket('b', 100));
  upkeep.stop();
  await second(0);
  expect(started).toEqual([]);
});

test('waits at most until the next scheduled compaction', async () => {
  const { upkeep, started, second } = makeUpkeep();
  upkeep.filled(ticket('a', 100));
  for (let i = 1; i < MAX_WAIT_MS / SECOND_MS; i++) await second(1);
  expect(started).toEqual([]);
  await second(1);
  expect(started).toEqual(['a/7/100']);
});

test('starts the thread once after a push, before the merges', async () => {
  const { upkeep, started, second } = makeUpkeep();
  upkeep.pushed();
  upkeep.pushed();
  upkeep.filled(ticket('a', 100));
  await second(1);
  expect(started).toEqual([]);
  await second(0);
  expect(started).toEqual(['thread', 'a/7/100']);
  upkeep.pushed();
  await second(0);
  expect(started).toHaveLength(2);
});

test('pushes that fill a merge while others wait are merged with them', async () => {
  const { upkeep, started, second } = makeUpkeep();
  upkeep.filled(ticket('a', 100));
  await second(0);
  upkeep.filled(ticket('a', 200));
  await second(0);
  expect(started).toEqual(['a/7/100', 'a/7/200']);
});
