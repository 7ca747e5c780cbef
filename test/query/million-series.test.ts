/** A query with a million series fails, without harm to the process or to another tenant's query. */
import { beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { QueryMemory } from '../../shared/read/query/query-memory.ts';
import { inlineInvoker } from '../../shared/read/query/tasks/inline-invoker.ts';
import { TASK_SIZES } from '../../shared/read/query/tasks/plan-tasks.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { makeWorld } from './tasks/world.ts';

const PUSHES = 10;
const LINES_PER_PUSH = 100_000;
const MIB = 1024 * 1024;
const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n };
const day = { endNs: DAY_START_NS + 3_600_000_000_000n };

const world = makeWorld();

beforeAll(async () => {
  const stream = { app: 'a' };
  for (let push = 0; push < PUSHES; push++) {
    const entries = Array.from({ length: LINES_PER_PUSH }, (_, i) => ({
      stream,
      day: DAY,
      time: (push * LINES_PER_PUSH + i) * 1_000_000,
      line: `id=${push}-${i}`,
      metadata: {},
    }));
    await world.push(entries);
  }
  await world.push([{ stream, day: DAY, time: 5, line: 'id=other', metadata: {} }], 'other');
});

const memory = new QueryMemory(256 * MIB);
const invoker = inlineInvoker({ store: world.objects, clock: world.clock });
const inOneThread = world.engine({ invoker, memory, sizes: { ...TASK_SIZES, inlineBytes: 1e12 } });
const byWorkers = world.engine({ invoker, memory, sizes: { ...TASK_SIZES, inlineBytes: 0 } });

// Which limit is reached first depends on the memory per series.
test.each([
  ['in one thread', inOneThread, limits, /^400 .*(needs more than|maximum number of series \(500\) reached)/],
  [
    'by workers, the limit on series lifted',
    byWorkers,
    { ...limits, maxQuerySeries: 0 },
    /^400 .*needs more than/,
  ],
])('a query with a million series, scanned %s, ends in an error', async (_name, engine, given, message) => {
  const query = rangeQuery('count_over_time({app="a"} | logfmt [1m])', day);
  const greedy = engine.range(query, requester({ limits: given })).then(
    () => 'answered',
    error => `${error.status} ${error.message}`,
  );
  const other = await engine.range(query, requester({ limits, tenants: ['other'] }));
  expect(other.result).toMatchObject({
    series: [
      {
        labels: [
          { name: 'app', value: 'a' },
          { name: 'id', value: 'other' },
        ],
      },
    ],
  });
  expect(await greedy).toMatch(message);
  expect(memory.usedBytes).toBe(0);
});
