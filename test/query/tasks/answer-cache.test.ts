/**
 * Any history of pushes, compaction and deletes: queries with cached footers, pages and results return the
 * same as without caches.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { NS_OF_SECOND as S } from '../../../shared/base/model/time-units.ts';
import { ChunkSource } from '../../../shared/read/query/chunk-source.ts';
import { PageCache } from '../../../shared/read/query/page-cache.ts';
import { AnswerCache } from '../../../shared/read/query/tasks/answer-cache.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../../support/engine.ts';
import type { DatedEntry } from '../../support/pushes.ts';
import { bySuite } from '../../support/suite.ts';
import { makeWorld } from './world.ts';

const PAGE_BYTES = 2_000_000;
const QUERIES = [
  'sum by (app) (count_over_time({app=~".+"} |~ "[a-e]" [1m]))',
  'max_over_time({app=~".+"} | logfmt | unwrap n [2m])',
  '{app=~".+"} |= "w=a"',
];
/**
 * Repeated with the results cache: counts of footers, and results built from leaves, which must leave the
 * leaves unchanged.
 */
const MORE_QUERIES = [
  'sum by (app) (count_over_time({app=~".+"}[1m])) / 3 + sum by (app) (bytes_over_time({app=~".+"}[1m]))',
  'topk(1, label_replace(sum by (app) (rate({app=~".+"} | logfmt | w="a" [90s])), "b", "$1", "app", "(.)"))',
  '{app="a"} | logfmt | n > 3',
];
const entry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b') }),
  day: fc.constant(DAY),
  time: fc.integer({ min: 0, max: 30 }).map(tens => tens * 10 * S),
  line: fc.tuple(fc.constantFrom('a', 'e', 'x'), fc.nat(9)).map(([word, n]) => `w=${word} n=${n}`),
  metadata: fc.constant({}),
});
const push = fc.array(entry, { minLength: 1, maxLength: 8 });
const step = fc.oneof(
  { weight: 3, arbitrary: push.map(entries => ({ kind: 'push' as const, entries })) },
  { weight: 1, arbitrary: fc.constantFrom('a', 'e').map(word => ({ kind: 'delete' as const, word })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'compact' as const }) },
  // Advances past the expiry of some entries.
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
);

test('cached queries after any history return uncached results', async () => {
  // Entries older than two days less three minutes are expired: some of the first at the start, more later.
  const periodNs = 172_800_000_000_000n - 180n * BigInt(S);
  const limits = { ...DEFAULT_LIMITS, retentionStream: [{ selector: '{app="b"}', priority: 1, periodNs }] };
  let hits = 0;
  let resultHits = 0;
  let pageHits = 0;
  await fc.assert(
    // Results of days with expired entries are not cached, but task results are.
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.boolean(), async (steps, expires) => {
      const world = makeWorld(expires ? limits : DEFAULT_LIMITS);
      const cache = new AnswerCache(1_000_000);
      const pages = [new PageCache(PAGE_BYTES), new PageCache(PAGE_BYTES)];
      const invoker = inlineInvoker({
        store: world.objects,
        clock: world.clock,
        source: new ChunkSource(world.objects, pages[0]),
      });
      const answers = new AnswerCache(1_000_000);
      const keeping = [
        world.engine({ invoker, cache }),
        world.plainEngine(pages[1]),
        world.plainEngine(undefined, answers),
      ];
      for (const one of steps) {
        if (one.kind === 'push') await world.push(one.entries);
        else if (one.kind === 'delete') world.delete(`{app="a"} |= "w=${one.word}"`);
        else if (one.kind === 'compact') await world.compact();
        else await world.clock.advance(60_000);
        for (const query of [...QUERIES, ...MORE_QUERIES]) {
          for (let again = 0; again < 2; again++) {
            const range = rangeQuery(query, {
              endNs: DAY_START_NS + 400n * BigInt(S),
              stepNs: 30n * BigInt(S),
            });
            // A new one each time, which has not read a footer before.
            const { result: plain } = await world.plainEngine().range(range, requester());
            const engines = QUERIES.includes(query) ? keeping : keeping.slice(-1);
            for (const engine of engines)
              expect((await engine.range(range, requester())).result).toEqual(plain);
          }
        }
      }
      hits += cache.figures.hits;
      if (!expires && steps.some(({ kind }) => kind === 'push')) resultHits += answers.figures.hits;
      for (const { figures } of pages) pageHits += figures.hits;
    }),
    // Few runs would not use each of the caches, so the fast suite runs all of them too.
    { numRuns: bySuite({ fast: 40, full: 10 }) },
  );
  expect(hits).toBeGreaterThan(10);
  expect(resultHits).toBeGreaterThan(20);
  expect(pageHits).toBeGreaterThan(10);
});

test('a cached task result counts considered data but no reads, and one that reads the clock is not cached', async () => {
  const world = makeWorld();
  await world.push([{ stream: { app: 'a' }, day: DAY, time: 5 * S, line: 'n=1', metadata: {} }]);
  const cache = new AnswerCache(1_000_000);
  const engine = world.engine({
    invoker: inlineInvoker({ store: world.objects, clock: world.clock }),
    cache,
  });
  const ask = async (query: string) => (await engine.range(rangeQuery(query), requester())).statistics;
  const query = 'count_over_time({app="a"} |= "n" [1m])';
  expect(await ask(query)).toMatchObject({ pagesRead: 1, lines: 1, postFilterLines: 1 });
  expect(await ask(query)).toMatchObject({ pagesRead: 0, lines: 1, postFilterLines: 1, compressedBytes: 0 });
  const clock = 'count_over_time({app="a"} | label_format t="{{now}}" [1m])';
  await ask(clock);
  await ask(clock);
  expect(cache.figures).toEqual({ hits: 1, misses: 1 });
});

test('query results are cached per chunk set, limit and direction if everything is scanned locally', async () => {
  const world = makeWorld();
  const push = (time: number, tenant = 't') =>
    world.push([{ stream: { app: 'a' }, day: DAY, time: time * S, line: `n=${time}`, metadata: {} }], tenant);
  await push(5);
  await push(65);
  await push(70, 'u');
  const answers = new AnswerCache(1_000_000);
  const engine = world.plainEngine(undefined, answers);
  const log = '{app="a"} |= "n"';
  const metric = 'count_over_time({app="a"} |= "n" [1m])';
  const lines = async (...asked: Parameters<typeof engine.range>) => {
    const { result, statistics } = await engine.range(...asked);
    const { hits, misses } = answers.figures;
    answers.figures.hits = 0;
    answers.figures.misses = 0;
    const found = result.kind === 'streams' ? result.streams.flatMap(({ entries }) => entries) : [];
    return {
      found: found.map(({ line }) => line),
      hits,
      misses,
      lines: statistics.lines,
      read: statistics.pagesRead,
    };
  };
  const both = { found: ['n=65', 'n=5'], lines: 2 };
  expect(await lines(rangeQuery(log), requester())).toEqual({ ...both, hits: 0, misses: 1, read: 2 });
  expect(await lines(rangeQuery(log), requester())).toEqual({ ...both, hits: 1, misses: 0, read: 0 });
  // Everything that changes the result changes the key.
  const others: [Partial<Parameters<typeof rangeQuery>[1]>, string[]][] = [
    [{ limit: 1 }, ['n=65']],
    [{ backward: false }, ['n=5', 'n=65']],
    [{ startNs: DAY_START_NS + 60n * BigInt(S) }, ['n=65']],
  ];
  for (const [other, found] of others) {
    expect(await lines(rangeQuery(log, other), requester())).toMatchObject({ found, hits: 0, misses: 1 });
  }
  expect(await lines(rangeQuery(log), requester({ tenants: ['u'] }))).toMatchObject({
    found: ['n=70'],
    hits: 0,
  });
  // Two tenants together have separate streams, so each alone is another query.
  expect(await lines(rangeQuery(log), requester({ tenants: ['t', 'u'] }))).toMatchObject({
    hits: 0,
    misses: 1,
    lines: 3,
  });
  const { misses: pieces, ...first } = await lines(rangeQuery(metric), requester());
  expect(first).toMatchObject({ hits: 0, lines: 2, read: 2 });
  expect(await lines(rangeQuery(metric), requester())).toMatchObject({
    hits: pieces,
    misses: 0,
    lines: 2,
    read: 0,
  });
  // Limits also apply to cached results.
  const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, maxQueryBytesRead: 5 };
  await expect(engine.range(rangeQuery(metric), requester({ limits }))).rejects.toThrow(
    /read too many bytes/,
  );
  const series = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, maxQuerySeries: 1 };
  const split = 'count_over_time({app="a"} | logfmt [1m])';
  await engine.range(rangeQuery(split), requester());
  await expect(engine.range(rangeQuery(split), requester({ limits: series }))).rejects.toThrow(/maximum/);
});

test('too large results, and those of a day with expired entries, are not cached', async () => {
  const S_NS = BigInt(S);
  const expiring = makeWorld({ ...DEFAULT_LIMITS, retentionPeriodNs: 172_797n * S_NS });
  const world = makeWorld();
  for (const { push } of [expiring, world]) {
    await push([{ stream: { app: 'a' }, day: DAY, time: 5 * S, line: 'x'.repeat(2000), metadata: {} }]);
  }
  for (const [engineOf, bytes] of [
    [world, 20_000],
    [expiring, 1_000_000],
  ] as const) {
    const answers = new AnswerCache(bytes);
    const engine = engineOf.plainEngine(undefined, answers);
    for (let i = 0; i < 2; i++) await engine.range(rangeQuery('{app="a"}'), requester());
    expect(answers.figures.hits).toBe(0);
  }
});
