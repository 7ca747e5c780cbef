/** Worker tasks of a query over a remote store as `explain` shows them. */
import { expect, test } from '@jest/globals';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import type { Requester } from '../../../shared/read/query/engine.ts';
import type { ReadRound } from '../../../shared/read/query/read-rounds.ts';
import { AnswerCache } from '../../../shared/read/query/tasks/answer-cache.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import { makeWorld } from './world.ts';

const QUERIES = ['{app="a"} |= "bad"', 'sum(count_over_time({app="a"} |= "bad" [5m]))'];
const RAN_IN = 'worker-1';

async function worldOf(isDistant: boolean) {
  const world = makeWorld(undefined, { ...memoryObjectStore(), isDistant });
  for (let push = 0; push < 3; push++) {
    const lines = Array.from({ length: 20 }, (_, i) => ({
      stream: { app: 'a' },
      day: DAY,
      time: (push * 20 + i) * 1e9,
      line: `line ${i} bad`,
      metadata: {},
    }));
    await world.push(lines);
  }
  const cache = new AnswerCache(1_000_000);
  const invoker = inlineInvoker({ store: world.objects, clock: world.clock, ranIn: RAN_IN });
  const engine = world.engine({ invoker, cache });
  const ask = (query: string, given: Partial<Requester> = { wantsRounds: true }) =>
    world.clock.run(engine.range(rangeQuery(query), requester(given)));
  return { ask };
}

function bytesOf(rounds: readonly ReadRound[], wanted: (what: string) => boolean): number {
  return rounds
    .flatMap(({ reads }) => Object.entries(reads))
    .reduce((sum, [what, { bytes }]) => sum + (wanted(what) ? bytes : 0), 0);
}

test.each(QUERIES)('each part shows its worker, rounds and bytes: %s', async query => {
  const { ask } = await worldOf(true);
  const { parts = [], rounds = [], statistics } = await ask(query);
  expect(statistics.tasks[RAN_IN]).toBeGreaterThan(1);
  expect(parts).toHaveLength(statistics.tasks[RAN_IN]);
  for (const { ranIn, bytes, rounds: own } of parts) {
    expect(ranIn).toBe(RAN_IN);
    expect(own.flatMap(({ reads }) => Object.keys(reads))).toEqual(expect.arrayContaining(['pages']));
    expect(bytes).toBe(bytesOf(own, () => true));
    expect(bytes).toBeGreaterThan(0);
  }
  // The query waits for its parts as for reads.
  const waited = rounds.map(({ reads }) => reads.parts?.requests ?? 0);
  expect(waited.reduce((sum, requests) => sum + requests, 0)).toBe(parts.length);
  expect(bytesOf(rounds, what => what === 'parts')).toBe(parts.reduce((sum, { bytes }) => sum + bytes, 0));
});

test('a part that an earlier query cached reads nothing', async () => {
  const { ask } = await worldOf(true);
  await ask(QUERIES[1]);
  const { parts, statistics } = await ask(QUERIES[1]);
  expect([Object.keys(statistics.tasks), parts]).toEqual([['cache'], []]);
});

test('parts over files, and of queries without explain, are not shown', async () => {
  const { ask } = await worldOf(false);
  expect((await ask(QUERIES[0])).parts).toBeUndefined();
  const distant = await worldOf(true);
  expect((await distant.ask(QUERIES[0], {})).parts).toBeUndefined();
});
