/**
 * If the worker of a task fails, a client that shows warnings gets the result of the other tasks and its share of the
 * data. Any other client gets the failure.
 */
import { describe, expect, test } from '@jest/globals';
import { ClientError } from '../../../shared/base/model/errors.ts';
import { NS_OF_SECOND as S } from '../../../shared/base/model/time-units.ts';
import { type Invoker, InvokerError } from '../../../shared/base/ports/invoker.ts';
import type { QueryAnswer } from '../../../shared/read/query/engine.ts';
import { AnswerCache } from '../../../shared/read/query/tasks/answer-cache.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import { CHUNK_TASKS, makeWorld, TINY_TASKS } from './world.ts';

const HOUR = 3600 * S;
const METRIC = 'sum(count_over_time({app="a"} |= "n" [1h]))';
const LOG = '{app="a"} |= "n"';
const LOST = new InvokerError('the worker is lost');
const FAILED = /^(.*) failed; the result covers (\d+)% of .*B of lines in its range; repeat the query/;

/** Lines of equal length. */
const lineOf = (push: number) => `n=${String(push).padStart(2, '0')}`;

interface Asked {
  readonly query: string;
  readonly pushes?: number;
  /** Chunk size of tasks. */
  readonly sizes?: typeof TINY_TASKS;
  /** Error of a task, by its number from 0. */
  readonly errorOf: (task: number) => Error | undefined;
  readonly showsWarnings?: boolean;
  readonly cache?: AnswerCache;
}

/** Asks a store whose chunks are of equal size, an hour apart. */
async function ask({ query, pushes = 4, sizes = TINY_TASKS, errorOf, showsWarnings = true, cache }: Asked) {
  const world = makeWorld();
  for (let i = 0; i < pushes; i++) {
    await world.push([{ stream: { app: 'a' }, day: DAY, time: i * HOUR, line: lineOf(i), metadata: {} }]);
  }
  const runner = world.runner();
  let tasks = 0;
  const invoker: Invoker = {
    slots: 100,
    async invoke(task, { signal }) {
      const error = errorOf(tasks++);
      if (error !== undefined) throw error;
      return runner.run(task, signal);
    },
    close: async () => undefined,
  };
  const engine = world.engine({ invoker, sizes, cache });
  const warnings: string[] | undefined = showsWarnings ? [] : undefined;
  const request = requester({ deadlineMs: world.clock.nowMs() + 60_000, warnings });
  // The clock stands still, so the time is never up.
  const answer = await engine.range(rangeQuery(query, { stepNs: 3_600_000_000_000n }), request);
  return { lines: linesOf(answer), warnings };
}

/** Lines of a log query, or their number for a metric query. */
function linesOf({ result }: QueryAnswer): number | string[] {
  if (result.kind === 'streams')
    return result.streams.flatMap(({ entries }) => entries.map(({ line }) => line)).sort();
  if (result.kind !== 'matrix') throw new Error(`got a ${result.kind}`);
  return result.series.reduce((sum, { values }) => sum + values.reduce((all, one) => all + one, 0), 0);
}

describe.each([
  ['pages', TINY_TASKS],
  ['chunks that workers plan', { ...CHUNK_TASKS, tasksOfDay: 4, maxTaskBytes: 1e9 }],
])('tasks of %s', (_, sizes) => {
  test.each([
    [METRIC, 3],
    [LOG, [0, 1, 3].map(lineOf)],
  ])('%s has the results of all tasks but the one that failed', async (query, lines) => {
    // The second task of a log query reads the second newest chunk.
    const answer = await ask({ query, sizes, errorOf: task => (task === 1 ? LOST : undefined) });
    expect(answer.lines).toEqual(lines);
    expect(answer.warnings).toHaveLength(1);
    expect(FAILED.exec(answer.warnings![0])?.slice(1)).toEqual(['a part of the query', '75']);
  });

  test.each([METRIC, LOG])('%s says how many parts failed', async query => {
    const { warnings } = await ask({ query, sizes, errorOf: task => (task % 2 === 1 ? LOST : undefined) });
    expect(FAILED.exec(warnings![0])?.slice(1)).toEqual(['2 parts of the query', '50']);
  });

  test.each([METRIC, LOG])('%s fails if every task does', async query => {
    await expect(ask({ query, sizes, errorOf: () => LOST })).rejects.toBe(LOST);
  });

  test.each([METRIC, LOG])('%s fails for other clients', async query => {
    const one = {
      query,
      sizes,
      errorOf: (task: number) => (task === 1 ? LOST : undefined),
      showsWarnings: false,
    };
    await expect(ask(one)).rejects.toBe(LOST);
  });

  test.each([METRIC, LOG])('%s fails if a task refuses the query', async query => {
    const refusal = new ClientError(400, 'too many series');
    await expect(ask({ query, sizes, errorOf: task => (task === 1 ? refusal : undefined) })).rejects.toBe(
      refusal,
    );
  });
});

test('17 failed tasks fail the query, 16 do not', async () => {
  const failing = (count: number) =>
    ask({ query: METRIC, pushes: 20, errorOf: task => (task < count ? LOST : undefined) });
  expect(await failing(16)).toMatchObject({
    lines: 4,
    warnings: [expect.stringMatching(/^16 parts .* 20%/)],
  });
  await expect(failing(17)).rejects.toBe(LOST);
});

test('a result without a part is not cached', async () => {
  const cache = new AnswerCache(1_000_000);
  const first = await ask({ query: METRIC, cache, errorOf: task => (task === 1 ? LOST : undefined) });
  expect(first.lines).toBe(3);
  const second = await ask({ query: METRIC, cache, errorOf: () => undefined });
  expect(second).toEqual({ lines: 4, warnings: [] });
});
