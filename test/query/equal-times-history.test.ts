/**
 * After any pushes, merges, deletes and expirations, entries with equal timestamps are in push order, or in
 * its reverse, and a limit cuts that order. The order is the same from one thread, from workers, and for
 * clients that page by timestamp.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { logPages } from '../../bin/cli/log-pages.ts';
import type { PrintedEntry, RangeRequest } from '../../bin/cli/range-query.ts';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { streamHash } from '../../shared/base/model/stream-hash.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { inlineInvoker } from '../../shared/read/query/tasks/inline-invoker.ts';
import { QueryWorkers } from '../../shared/read/query/tasks/query-workers.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { mergeAndSwap } from '../../shared/upkeep/compaction/merge-and-swap.ts';
import { ChunkOrder } from '../../shared/upkeep/compaction/order-runs.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { CANCEL_PERIOD_MS, DAY, makeWorld, TENANT, type World } from '../deletion/jobs/world.ts';
import { rangeQuery, requester } from '../support/engine.ts';
import { COPYING_MERGE_SIZES, TINY_MERGE_SIZES } from '../support/merge-sizes.ts';
import { type DatedEntry, identityOf } from '../support/pushes.ts';
import { streamOf } from '../support/rows.ts';
import { TINY_TASKS } from './tasks/world.ts';

const WHOLE = { startNs: BigInt(DAY) * NS_PER_DAY, endNs: BigInt(DAY + 2) * NS_PER_DAY };

type Step =
  | { readonly kind: 'push'; readonly entries: readonly DatedEntry[] }
  /** The push begins here, and is committed after the next ones. */
  | { readonly kind: 'slow'; readonly entries: readonly DatedEntry[] }
  | { readonly kind: 'repeat'; readonly which: number }
  | { readonly kind: 'compact'; readonly force: boolean }
  /** Merges the chunks of the day whose bit is set, as far as their order allows, into parts of the streams. */
  | { readonly kind: 'merge'; readonly bits: number; readonly parts: number; readonly isFinal: boolean };

/** Few streams, times and lines: most entries have others of their time, and some are the same. */
const entry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.constantFrom<Record<string, string>>(
    { app: 'a' },
    { app: 'b', pod: '1' },
    { app: 'b', pod: '2' },
    { app: 'gone' },
  ),
  day: fc.constantFrom(DAY, DAY, DAY, DAY + 1),
  time: fc.constantFrom(0, 1, 5_000_000_000, 5_000_000_000, 5_000_000_001, 80_000_000_000_000),
  line: fc.nat(30).map(n => (n % 5 === 0 ? `bad ${n}` : `line ${n}`)),
  metadata: fc.constantFrom<Record<string, string>>({}, {}, { k: 'v' }, { k: 'w' }),
});
const entries = fc.array(entry, { minLength: 1, maxLength: 8 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: entries.map((list): Step => ({ kind: 'push', entries: list })) },
  { weight: 1, arbitrary: entries.map((list): Step => ({ kind: 'slow', entries: list })) },
  { weight: 1, arbitrary: fc.nat(20).map((which): Step => ({ kind: 'repeat', which })) },
  { weight: 1, arbitrary: fc.boolean().map((force): Step => ({ kind: 'compact', force })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(255), fc.constantFrom(1, 1, 2, 8), fc.boolean())
      .map(([bits, parts, isFinal]): Step => ({ kind: 'merge', bits, parts, isFinal })),
  },
);

const signal = new AbortController().signal;

async function mergeSome(
  { plain }: World,
  { bits, parts, isFinal }: Extract<Step, { readonly kind: 'merge' }>,
): Promise<void> {
  const { catalog, rewriter } = plain;
  for (const day of [DAY, DAY + 1]) {
    let snapshot = await catalog.day(TENANT, day);
    if (snapshot === undefined) continue;
    const lease = (await catalog.leases.take(dayLease(TENANT, day), 60_000))!;
    const chosen = snapshot.records.filter((_, i) => (bits >> (i % 8)) & 1);
    for (const inputs of new ChunkOrder(snapshot.records).runs(chosen)) {
      const drops = await rewriter.drops.dropsOf(TENANT);
      const work = {
        tenant: TENANT,
        lease,
        level: isFinal ? 2 : 1,
        quality: isFinal ? 'final' : 'draft',
        parts,
        inputs,
        drops,
        signal,
      } as const;
      // Final chunks have pages of a few entries, which later merges copy.
      const options = isFinal ? { ...rewriter.options, mergeSizes: COPYING_MERGE_SIZES } : rewriter.options;
      const merging = { ...rewriter, options };
      snapshot = (await mergeAndSwap(merging, { ...work, snapshot, hold: async () => undefined })).after;
    }
    await catalog.leases.release(lease);
  }
}

function enginesOf({ plain, rawStore: store, clock }: World, limitsOf: () => Limits) {
  const { catalog } = plain;
  const deleteFilters = new DeleteFilterSource({ deletes: catalog.deletes, clock });
  const parts = { catalog, clock, visibility: new Visibility({ deleteFilters, limitsOf, enabled: true }) };
  const workers = new QueryWorkers(inlineInvoker({ store, clock }), { sizes: TINY_TASKS });
  return [
    new QueryEngine({ ...parts, source: new ChunkSource(store) }),
    new QueryEngine({ ...parts, source: new ChunkSource(store), workers }),
  ];
}

const nsOf = ({ day, time }: DatedEntry): bigint => BigInt(day) * NS_PER_DAY + BigInt(time);

/** Entries by arrival; a repeated entry counts at its first arrival. */
function inAnswerOrder(arrived: readonly DatedEntry[], backward: boolean): DatedEntry[] {
  const sign = backward ? -1 : 1;
  const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
  const hashOf = ({ stream }: DatedEntry) => streamHash(streamOf(stream).labels);
  return arrived
    .map((one, index) => ({ one, index }))
    .sort(
      (a, b) =>
        sign * compare(nsOf(a.one), nsOf(b.one)) ||
        compare(hashOf(a.one), hashOf(b.one)) ||
        sign * (a.index - b.index),
    )
    .map(({ one }) => one);
}

/** Entries as a result shows them: `time line` by the stream's text. */
function shown(list: readonly DatedEntry[], textOf: (entry: DatedEntry) => string): Record<string, string[]> {
  const streams: Record<string, string[]> = {};
  for (const one of list) (streams[textOf(one)] ??= []).push(`${nsOf(one)} ${one.line} ${one.metadata.k}`);
  return streams;
}

async function answerOf(engine: QueryEngine, query: string, limit: number, backward: boolean) {
  const { result } = await engine.range(
    rangeQuery(query, { ...WHOLE, limit, backward, categorize: true }),
    requester(),
  );
  if (result.kind !== 'streams') throw new TypeError(`a log query answers a ${result.kind}`);
  return Object.fromEntries(
    result.streams.map(({ text, entries: list }) => [
      text,
      list.map(
        ({ timeNs, line, structuredMetadata }) => `${timeNs} ${line} ${structuredMetadata?.[0]?.value}`,
      ),
    ]),
  );
}

/** All entries of a query, page by page like `logboom query`. */
async function pagedOf(engine: QueryEngine, batch: number, direction: 'forward' | 'backward') {
  const ask = async ({ query, startNs, endNs, limit, direction: asked }: RangeRequest) => {
    const { result } = await engine.range(
      rangeQuery(query, { startNs, endNs, limit, backward: asked === 'backward' }),
      requester(),
    );
    if (result.kind !== 'streams') throw new TypeError(`a log query answers a ${result.kind}`);
    const list = result.streams.flatMap(({ text, entries: ofStream }) =>
      ofStream.map(({ timeNs, line }): PrintedEntry => ({ timeNs, line, labels: { text } })),
    );
    const sign = asked === 'backward' ? -1 : 1;
    return {
      kind: 'streams' as const,
      entries: list.sort((a, b) => sign * (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0)),
      warnings: [],
    };
  };
  const found: PrintedEntry[] = [];
  const request = { query: '{app=~".+"}', ...WHOLE, limit: Infinity, batch, direction };
  for await (const page of logPages(ask, request)) if (page.kind === 'streams') found.push(...page.entries);
  const streams: Record<string, string[]> = {};
  for (const { timeNs, line, labels } of found) (streams[labels.text] ??= []).push(`${timeNs} ${line}`);
  return { streams, count: found.length };
}

async function compare(
  engines: readonly QueryEngine[],
  pushed: readonly DatedEntry[],
  limits: readonly number[],
) {
  const arrived = [...new Map([...pushed].reverse().map(one => [identityOf(one), one]))].map(
    ([, one]) => one,
  );
  const first = new Set<string>();
  const once = pushed.filter(one => !first.has(identityOf(one)) && first.add(identityOf(one)));
  expect(once).toHaveLength(arrived.length);
  const stream = (one: DatedEntry) => streamOf(one.stream).text;
  const queries: [string, (one: DatedEntry) => boolean, (one: DatedEntry) => string][] = [
    ['{app=~".+"}', () => true, stream],
    ['{app=~".+"} |= "line"', ({ line }) => line.includes('line'), stream],
    ['{app="b"} | drop pod', ({ stream: { app } }) => app === 'b', () => '{app="b"}'],
  ];
  for (const engine of engines) {
    for (const backward of [true, false]) {
      for (const [query, holds, textOf] of queries) {
        const all = inAnswerOrder(once, backward).filter(holds);
        for (const limit of limits) {
          expect([query, backward, limit, await answerOf(engine, query, limit, backward)]).toEqual([
            query,
            backward,
            limit,
            shown(all.slice(0, limit), textOf),
          ]);
        }
      }
    }
  }
}

test('any history keeps equal timestamps in push order, in both directions', async () => {
  const history = fc.array(step, { minLength: 2, maxLength: 14 });
  const limits = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 2 });
  const helped = fc.constantFrom(undefined, 3);
  await fc.assert(
    fc.asyncProperty(
      history,
      limits,
      fc.constantFrom(0, 4096),
      helped,
      async (steps, some, inlineMaxBytes, helpers) => {
        // Small targets cause several merges of a day, so that functions work in parallel, and divide the streams.
        const world = makeWorld({
          inlineMaxBytes,
          helpers,
          ...(helpers === undefined ? {} : { targetBytes: 3000, mergeSizes: TINY_MERGE_SIZES }),
        });
        let kept: Limits = DEFAULT_LIMITS;
        const engines = enginesOf(world, () => kept);
        const pushes: (readonly DatedEntry[])[] = [];
        let commit: (() => Promise<void>) | undefined;
        const ended = async () => {
          await commit?.();
          commit = undefined;
        };
        for (const one of steps) {
          await world.clock.advance(1);
          if (one.kind === 'push' || one.kind === 'repeat') {
            const list = one.kind === 'push' ? one.entries : pushes[one.which % Math.max(1, pushes.length)];
            if (list === undefined) continue;
            await world.push(list);
            pushes.push(list);
          } else if (one.kind === 'slow') {
            await ended();
            commit = await world.slowPush(one.entries);
            pushes.push(one.entries);
          } else if (one.kind === 'compact' && !one.force) {
            // A push is in progress, so the newest seconds are skipped.
            for (const day of [DAY, DAY + 1]) await world.compact(day);
          } else {
            await ended();
            if (one.kind === 'merge') await mergeSome(world, one);
            else for (const day of [DAY, DAY + 1]) await world.compact(day, true);
          }
        }
        await ended();
        let pushed: readonly DatedEntry[] = pushes.flat();
        const checked = [1000, ...some];
        await compare(engines, pushed, checked);
        for (const direction of ['forward', 'backward'] as const) {
          const once = new Map(pushed.map(each => [identityOf(each), each])).size;
          expect((await pagedOf(engines[0], 3, direction)).count).toBe(once);
          const whole = await pagedOf(engines[0], 1000, direction);
          expect(await pagedOf(engines[0], 3, direction)).toEqual(whole);
        }

        await world.create({ query: '{app=~"a|b"} |= "bad"' });
        pushed = pushed.filter(({ stream: { app }, line }) => app === 'gone' || !line.includes('bad'));
        await compare(engines, pushed, checked);
        await world.clock.advance(CANCEL_PERIOD_MS + 120_000);
        for (let runs = 0; runs < 4; runs++) {
          await world.runDeletion();
          await world.clock.advance(700_000);
        }
        expect((await world.requests()).map(({ processedMs }) => processedMs === undefined)).toEqual([false]);
        await compare(engines, pushed, checked);

        kept = {
          ...kept,
          retentionStream: [{ selector: '{app="gone"}', priority: 1, periodNs: NS_PER_DAY }],
        };
        world.setLimits(kept);
        pushed = pushed.filter(({ stream: { app } }) => app !== 'gone');
        await compare(engines, pushed, checked);
        await world.plain.retention.run({ untilMs: Infinity, signal });
        for (const day of [DAY, DAY + 1]) await world.compact(day);
        await compare(engines, pushed, checked);
      },
    ),
    { numRuns: 15 },
  );
});
