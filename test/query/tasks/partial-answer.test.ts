/**
 * If a query runs out of time, a client that shows warnings gets the partial result and its share of the data.
 * Any other client gets the timeout.
 */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_SECOND as S } from '../../../shared/base/model/time-units.ts';
import type { Invoker } from '../../../shared/base/ports/invoker.ts';
import type { QueryAnswer } from '../../../shared/read/query/engine.ts';
import { AnswerCache } from '../../../shared/read/query/tasks/answer-cache.ts';
import type { TaskSizes } from '../../../shared/read/query/tasks/plan-tasks.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import { CHUNK_TASKS, makeWorld, TINY_TASKS } from './world.ts';

const DEADLINE_MS = 10_000;
const PUSHES = 4;
/** Turns of the event loop without work after which no more comes. */
const QUIET_TURNS = 100;
type World = ReturnType<typeof makeWorld>;
const METRIC = 'sum(count_over_time({app="a"} |= "n" [1h]))';
const LOG = '{app="a"} |= "n"';
const CUT = /^the query ran out of time; the result covers (\d+)% of .*B of lines in its range; narrow/;

/** A store with four chunks of equal size, an hour apart. */
async function storedWorld(): Promise<World> {
  const world = makeWorld();
  for (let i = 0; i < PUSHES; i++) {
    const entry = { stream: { app: 'a' }, day: DAY, time: i * 3600 * S, line: `n=${i}`, metadata: {} };
    await world.push([entry]);
  }
  return world;
}

/** Answers some tasks, and works on the others until they are aborted. */
function slowInvoker(world: World, answered: (task: number) => boolean) {
  const runner = world.runner();
  let tasks = 0;
  let running = 0;
  const invoker: Invoker = {
    slots: 100,
    async invoke(task, { signal }) {
      if (!answered(tasks++))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      running++;
      return runner.run(task, signal).finally(() => running--);
    },
    close: async () => undefined,
  };
  /** Resolves when there are that many tasks, and every one that can be answered is. */
  const settled = async (count: number) => {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      // Reads and decompression run in other threads, which a busy machine delays.
      await new Promise(resolve => setTimeout(resolve, 1));
      if (running > 0 || tasks < count) quiet = 0;
    }
  };
  return { invoker, settled };
}

interface Asked {
  readonly sizes: TaskSizes;
  readonly query: string;
  readonly answered: (task: number) => boolean;
  readonly showsWarnings?: boolean;
  readonly cache?: AnswerCache;
}

async function ask({ sizes, query, answered, showsWarnings = true, cache }: Asked) {
  const world = await storedWorld();
  const { invoker, settled } = slowInvoker(world, answered);
  const engine = world.engine({ invoker, sizes, cache });
  const controller = new AbortController();
  const { clock } = world;
  const startedMs = clock.nowMs();
  const deadlineMs = startedMs + DEADLINE_MS;
  void clock
    .sleep(DEADLINE_MS)
    .then(() => controller.abort(new DOMException('over 10000 ms', 'TimeoutError')));
  const warnings: string[] | undefined = showsWarnings ? [] : undefined;
  const request = requester({ signal: controller.signal, deadlineMs, warnings });
  const answering = engine.range(rangeQuery(query, { stepNs: 3_600_000_000_000n }), request);
  answering.catch(() => undefined);
  // A metric query has a task for each chunk; a log query may need fewer.
  await settled(query === METRIC ? PUSHES : 1);
  const answer = await clock.run(answering);
  return { answer, warnings, ms: clock.nowMs() - startedMs };
}

function linesOf({ result }: QueryAnswer): number {
  if (result.kind === 'streams') return result.streams.reduce((sum, { entries }) => sum + entries.length, 0);
  if (result.kind !== 'matrix') throw new Error(`got a ${result.kind}`);
  return result.series.reduce((sum, { values }) => sum + values.reduce((all, one) => all + one, 0), 0);
}

const KINDS_OF_TASKS = [
  ['pages', TINY_TASKS],
  ['chunks that workers plan', { ...CHUNK_TASKS, tasksOfDay: PUSHES, maxTaskBytes: 1e9 }],
] as const;

describe.each(KINDS_OF_TASKS)('tasks of %s', (_, sizes) => {
  test('a metric query answers with the results that arrived, in any order, and their share', async () => {
    const { answer, warnings, ms } = await ask({ sizes, query: METRIC, answered: task => task !== 1 });
    expect(linesOf(answer)).toBe(3);
    expect(warnings).toHaveLength(1);
    expect(CUT.exec(warnings![0])?.[1]).toBe('75');
    // It leaves time for the response.
    expect(ms).toBeLessThan(DEADLINE_MS);
  });

  test('a metric query without results in time reports a coverage of zero', async () => {
    const { answer, warnings } = await ask({ sizes, query: METRIC, answered: () => false });
    expect(linesOf(answer)).toBe(0);
    expect(CUT.exec(warnings![0])?.[1]).toBe('0');
  });

  test('a query that ends in time has no warning', async () => {
    const { answer, warnings, ms } = await ask({ sizes, query: METRIC, answered: () => true });
    expect([linesOf(answer), warnings, ms]).toEqual([PUSHES, [], 0]);
  });

  test.each([METRIC, LOG])('%s fails at its deadline for other clients', async query => {
    const late = ask({ sizes, query, answered: task => task === 0, showsWarnings: false });
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

test.each(KINDS_OF_TASKS)(
  'a log query by %s answers with the newest entries that it has without a gap',
  async (_, sizes) => {
    const { answer, warnings } = await ask({ sizes, query: LOG, answered: task => task !== 2 });
    if (answer.result.kind !== 'streams') throw new Error('streams are expected');
    const lines = answer.result.streams.flatMap(({ entries }) => entries.map(({ line }) => line));
    // The third task is slow. What the fourth found is older than a gap.
    expect(lines).toEqual(['n=3', 'n=2']);
    expect(CUT.exec(warnings![0])?.[1]).toBe('50');
  },
);

test('a result that lacks data is not cached', async () => {
  const cache = new AnswerCache(1_000_000);
  const first = await ask({ sizes: TINY_TASKS, query: METRIC, answered: task => task < 2, cache });
  expect(linesOf(first.answer)).toBe(2);
  const world = await storedWorld();
  const { invoker } = slowInvoker(world, () => true);
  const engine = world.engine({ invoker, cache });
  const { result } = await world.clock.run(
    engine.range(rangeQuery(METRIC, { stepNs: 3_600_000_000_000n }), requester()),
  );
  expect(linesOf({ result } as QueryAnswer)).toBe(PUSHES);
});
