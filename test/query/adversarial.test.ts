/** Any query ends in a result or a client error, and other queries are unaffected. */
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_PER_SECOND as S } from '../../shared/base/model/time-units.ts';
import { QueryMemory } from '../../shared/read/query/query-memory.ts';
import { inlineInvoker } from '../../shared/read/query/tasks/inline-invoker.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { makeWorld } from './tasks/world.ts';

const MIB = 1024 * 1024;
const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, maxQuerySeries: 0, maxEntriesLimitPerQuery: 0 };

/** 1,000 entries, each with unique values. */
async function worldOfEntries() {
  const world = makeWorld();
  for (let push = 0; push < 2; push++) {
    const entries = Array.from({ length: 500 }, (_, i) => ({
      stream: { app: 'a' },
      day: DAY,
      time: (push * 500 + i) * 90_000_000,
      line: `id=${push}-${i} n=${i}`,
      metadata: {},
    }));
    await world.push(entries);
  }
  return world;
}

test('a query that exceeds the memory limit fails with 4xx, releases its memory, and leaves other queries running', async () => {
  const world = await worldOfEntries();
  const memory = new QueryMemory(20 * MIB);
  const invoker = inlineInvoker({ store: world.objects, clock: world.clock });
  const small = rangeQuery('sum(count_over_time({app="a"} |= "id" [1m]))', {
    endNs: DAY_START_NS + 120n * S,
  });
  const nested = (depth: number) =>
    `${'sum by (id) ('.repeat(depth)}count_over_time({app="a"} | logfmt [1s])${')'.repeat(depth)}`;
  const greedy = [
    // Every line a series, at every instant of a day.
    rangeQuery('count_over_time({app="a"} | logfmt [1d])', { stepNs: 10n * S }),
    rangeQuery('quantile_over_time(0.5, {app="a"} | logfmt | unwrap n [1d]) by (id)', { stepNs: 10n * S }),
    // All of it in one answer.
    rangeQuery(`{app="a"} | line_format \`{{ repeat 20000 .id }}\` | logfmt`, { limit: 1_000_000_000 }),
    rangeQuery(
      Array.from({ length: 20 }, (_, i) => `count_over_time({app="a"} | logfmt | n>${i} [1h])`).join(' or '),
      { stepNs: 30n * S },
    ),
    rangeQuery(nested(40), { stepNs: 10n * S }),
  ];
  for (const engine of [
    world.engine({
      invoker,
      memory,
      sizes: {
        inlineBytes: 0,
        minTaskBytes: 15_000,
        maxTaskBytes: 15_000,
        tasksOfDay: 32,
        plannedByWorkersFrom: Infinity,
        mergedFrom: Infinity,
        mergedTasks: 1,
        largeResultBytes: Infinity,
      },
    }),
    world.engine({
      invoker,
      memory,
      sizes: {
        inlineBytes: 1e9,
        minTaskBytes: 1e9,
        maxTaskBytes: 1e9,
        tasksOfDay: 32,
        plannedByWorkersFrom: Infinity,
        mergedFrom: Infinity,
        mergedTasks: 1,
        largeResultBytes: Infinity,
      },
    }),
  ]) {
    for (const query of greedy) {
      const others = engine.range(small, requester({ tenants: ['t'], limits }));
      const outcome = await engine.range(query, requester({ limits })).then(
        () => 'answered',
        error => `${error.status} ${error.message}`,
      );
      expect(outcome).toMatch(
        /^(answered|400 the query needs more than|429 memory limit for concurrent queries|400 the answer)/,
      );
      expect((await others).result).toMatchObject({ kind: 'matrix', series: [{ labels: [] }] });
      expect(memory.usedBytes).toBe(0);
    }
  }
});

test('the queries of a process share one memory limit', async () => {
  const world = await worldOfEntries();
  const memory = new QueryMemory(20 * MIB);
  const engine = world.engine({
    invoker: inlineInvoker({ store: world.objects, clock: world.clock }),
    memory,
  });
  const query = rangeQuery('sum(count_over_time({app="a"} |= "id" [1m]))', {
    endNs: DAY_START_NS + 120n * S,
  });
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, () => engine.range(query, requester({ limits }))),
  );
  const failed = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(failed.length).toBe(3);
  for (const { reason } of failed) expect(reason).toMatchObject({ status: 429 });
  expect(memory.refused).toBe(3);
  await engine.range(query, requester({ limits }));
  expect(memory.usedBytes).toBe(0);
});

test('a tenant without query parallelism is refused before any read', async () => {
  const refusing = requester({ limits: { ...limits, maxQueryParallelism: 0 } });
  await expect(makeWorld().plainEngine().range(rangeQuery('{app="a"}'), refusing)).rejects.toMatchObject({
    status: 429,
    message: 'querying is disabled, please contact your Loki operator',
  });
});

test('bytes that workers read count against the limit of the query', async () => {
  const world = await worldOfEntries();
  const engine = world.engine({ invoker: inlineInvoker({ store: world.objects, clock: world.clock }) });
  const query = rangeQuery('sum(count_over_time({app="a"} |= "id" [1m]))');
  await expect(
    engine.range(query, requester({ limits: { ...limits, maxQueryBytesRead: 10_000 } })),
  ).rejects.toThrow('the query would read too many bytes');
});

test("too many series or entries are refused like in the reference, while another tenant's query succeeds", async () => {
  const world = await worldOfEntries();
  await world.push([{ stream: { app: 'a' }, day: DAY, time: 0, line: 'id=other', metadata: {} }], 'other');
  const engine = world.plainEngine();
  const usual = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n };
  const greedy: [ReturnType<typeof rangeQuery>, string][] = [
    [
      rangeQuery('count_over_time({app="a"} | logfmt [1m])', { endNs: DAY_START_NS + 120n * S }),
      'maximum number of series (500) reached for a single query',
    ],
    [
      rangeQuery('{app="a"}', { limit: 1_000_000_000 }),
      'max entries limit per query exceeded, limit > max_entries_limit_per_query (1000000000 > 5000)',
    ],
  ];
  for (const [query, message] of greedy) {
    const other = engine.range(rangeQuery('{app="a"}'), requester({ tenants: ['other'], limits: usual }));
    await expect(engine.range(query, requester({ limits: usual }))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
    expect((await other).result).toMatchObject({ streams: [{ entries: [{ line: 'id=other' }] }] });
  }
});
