/** A traced read that waits for a connection reports the wait. */
import { expect, test } from '@jest/globals';
import { createCaller } from '../../shared/aws/caller.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { tracedStore, tracing } from '../../shared/base/ports/read-trace.ts';
import { readRounds } from '../../shared/read/query/read-rounds.ts';
import { TEST_LIMITS } from './support/limits.ts';

async function roundsWith(maxRunning: number) {
  const clock = virtualClock(0);
  const objects = memoryObjectStore();
  await objects.putIfAbsent('t/a', Buffer.from('0123456789'));
  const call = createCaller({ clock, limits: { ...TEST_LIMITS, maxRunning } });
  const store = {
    ...objects,
    getRange: (key: string, start: number, end: number) =>
      call({ operation: 'GetObject', target: key }, async () => {
        await clock.sleep(30);
        return objects.getRange(key, start, end);
      }),
  };
  const traced = tracedStore(store, 'pages');
  const rounds = tracing(clock, async ({ reads }) => {
    await Promise.all([0, 1, 2].map(i => traced.getRange('t/a', i, i + 1)));
    return readRounds(reads);
  });
  return clock.run(rounds);
}

test('the longest wait of a round is shown', async () => {
  const reads = { pages: { requests: 3, bytes: 3 } };
  expect(await roundsWith(1)).toEqual([{ startMs: 0, ms: 90, reads, waitedFor: 'pages', connectionMs: 60 }]);
});

test('no wait is shown if each read has a connection', async () => {
  expect(await roundsWith(3)).toEqual([
    { startMs: 0, ms: 30, reads: { pages: { requests: 3, bytes: 3 } }, waitedFor: 'pages' },
  ]);
});
