/** Whatever is pushed, packed or deleted meanwhile: with kept footers, pages and answers every query answers as without. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../../shared/model/limits.ts';
import { PageCache } from '../../../shared/query/page-cache.ts';
import { AnswerCache } from '../../../shared/query/tasks/answer-cache.ts';
import { inlineInvoker } from '../../../shared/query/tasks/inline-invoker.ts';
import { asker, DAY, DAY_START_NS, rangeQuery } from '../../support/engine.ts';
import type { DatedEntry } from '../../support/pushes.ts';
import { makeWorld } from './world.ts';

const S = 1_000_000_000;
const PAGE_BYTES = 2_000_000;
const QUERIES = [
  'sum by (app) (count_over_time({app=~".+"} |~ "[a-e]" [1m]))',
  'max_over_time({app=~".+"} | logfmt | unwrap n [2m])',
  '{app=~".+"} |= "w=a"',
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
  // Moves what is expired.
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
);

test('any history', async () => {
  // What is older than two days less three minutes is expired: some of the first entries at first, more later.
  const periodNs = 172_800_000_000_000n - 180n * BigInt(S);
  const limits = { ...DEFAULT_LIMITS, retentionStream: [{ selector: '{app="b"}', priority: 1, periodNs }] };
  let hits = 0;
  let pageHits = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async steps => {
      const world = makeWorld(limits);
      const cache = new AnswerCache(1_000_000);
      const pages = [new PageCache(PAGE_BYTES), new PageCache(PAGE_BYTES)];
      const invoker = inlineInvoker({ store: world.objects, clock: world.clock, cache: pages[0] });
      const keeping = [world.engine({ invoker, cache }), world.plainEngine(pages[1])];
      for (const one of steps) {
        if (one.kind === 'push') await world.push(one.entries);
        else if (one.kind === 'delete') world.delete(`{app="a"} |= "w=${one.word}"`);
        else if (one.kind === 'compact') await world.compact();
        else await world.clock.advance(60_000);
        for (const query of QUERIES) {
          for (let again = 0; again < 2; again++) {
            const range = rangeQuery(query, {
              endNs: DAY_START_NS + 400n * BigInt(S),
              stepNs: 30n * BigInt(S),
            });
            // Of its own each time: it has not seen a footer before.
            const { result: plain } = await world.plainEngine().range(range, asker());
            for (const engine of keeping) expect((await engine.range(range, asker())).result).toEqual(plain);
          }
        }
      }
      hits += cache.figures.hits;
      for (const { figures } of pages) pageHits += figures.hits;
    }),
    { numRuns: 10 },
  );
  expect(hits).toBeGreaterThan(10);
  expect(pageHits).toBeGreaterThan(10);
});

test('an answer that was kept counts what it looked at, but nothing read; one that reads the clock is not kept', async () => {
  const world = makeWorld();
  await world.push([{ stream: { app: 'a' }, day: DAY, time: 5 * S, line: 'n=1', metadata: {} }]);
  const cache = new AnswerCache(1_000_000);
  const engine = world.engine({
    invoker: inlineInvoker({ store: world.objects, clock: world.clock }),
    cache,
  });
  const ask = async (query: string) => (await engine.range(rangeQuery(query), asker())).statistics;
  const query = 'count_over_time({app="a"} |= "n" [1m])';
  expect(await ask(query)).toMatchObject({ pagesRead: 1, lines: 1, postFilterLines: 1 });
  expect(await ask(query)).toMatchObject({ pagesRead: 0, lines: 1, postFilterLines: 1, compressedBytes: 0 });
  const clock = 'count_over_time({app="a"} | label_format t="{{now}}" [1m])';
  await ask(clock);
  await ask(clock);
  expect(cache.figures).toEqual({ hits: 1, misses: 1 });
});
