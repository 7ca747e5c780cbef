/**
 * Any history of pushes, compaction and indexing: every query returns what a plain model returns. The history
 * changes the cost of a query, but never its result.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_PER_DAY, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { findStreams } from '../../shared/read/query/streams-query.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { Syncer } from '../../shared/storage/index/syncer.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { Maintenance } from '../../shared/upkeep/maintenance/maintenance.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { rangeQuery, requester } from '../support/engine.ts';
import { labelNames, labelValues } from '../support/label-lists.ts';
import { type DatedEntry, identityOf, pushOf } from '../support/pushes.ts';
import { streamOf } from '../support/rows.ts';

const DAY = 20_000;
const DAYS = [DAY, DAY + 1];
const WHOLE = { startNs: BigInt(DAY) * NS_PER_DAY, endNs: BigInt(DAY + 2) * NS_PER_DAY };
/** Begins and ends inside an hour, not at a minute. */
const PART = {
  startNs: WHOLE.startNs + 3601n * NS_PER_SECOND,
  endNs: WHOLE.startNs + NS_PER_DAY + 1_800_000_000_001n,
};
const STEP_NS = 7200n * NS_PER_SECOND;
/** Longer than the step: windows overlap. */
const RANGE_NS = 10_800n * NS_PER_SECOND;

type Step =
  | { readonly kind: 'push'; readonly entries: readonly DatedEntry[] }
  | { readonly kind: 'repeat'; readonly which: number }
  | { readonly kind: 'compact' | 'sync'; readonly day: number; readonly force: boolean }
  | { readonly kind: 'flush' }
  | { readonly kind: 'wait' };

/** Few streams, times and lines, so that entries are the same often. */
const arbitraryEntry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b', 'ü'), pod: fc.constantFrom('1', '2') }),
  day: fc.constantFrom(...DAYS),
  time: fc
    .tuple(fc.constantFrom(0, 1, 2, 23), fc.constantFrom(0, 1, 1801), fc.constantFrom(0, 1))
    .map(([hour, second, ns]) => (hour * 3600 + second) * 1e9 + ns),
  line: fc.oneof(fc.constantFrom('', 'even', 'odd'), fc.string({ maxLength: 6, unit: 'grapheme' })),
  metadata: fc.dictionary(fc.constantFrom('trace', 'user'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
});

const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(arbitraryEntry, { minLength: 1, maxLength: 6 })
      .map((entries): Step => ({ kind: 'push', entries })),
  },
  { weight: 2, arbitrary: fc.nat(20).map((which): Step => ({ kind: 'repeat', which })) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('compact' as const, 'sync' as const),
      day: fc.constantFrom(...DAYS),
      force: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: 'flush' }, { kind: 'wait' }) },
);

function makeStore(inlineMaxBytes: number) {
  // Both days are over, and their windows are closed.
  const clock = virtualClock((DAY + 3) * 86_400_000);
  const ids = seededIds(1);
  const store = memoryObjectStore();
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options });
  const source = new ChunkSource(store);
  const onBroken = (error: Error): never => {
    throw error;
  };
  const indexes = new DayIndexes({ store, onBroken });
  const graceMs = 1000;
  const work = { targetBytes: 1_000_000, inlineMaxBytes, graceMs };
  const compactor = new Compactor({ catalog, store, clock, ids, options: work });
  const syncer = new Syncer({ catalog, store, clock, ids, indexes, graceMs });
  const everyMs = 1000;
  const maintenance = new Maintenance({
    catalog,
    store,
    clock,
    compactor,
    syncer,
    options: {
      compactionEveryMs: everyMs,
      syncEveryMs: everyMs,
      collectionEveryMs: everyMs,
      syncsIndexes: true,
    },
  });
  const engine = new QueryEngine({ catalog, source, clock });
  return { clock, catalog, committer, source, indexes, compactor, syncer, maintenance, engine };
}

type Store = ReturnType<typeof makeStore>;

const bounds = () => ({ untilMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal });

async function take(store: Store, step: Step, pushed: (readonly DatedEntry[])[]): Promise<void> {
  const push = async (entries: readonly DatedEntry[]) => {
    await store.clock.run(store.committer.commit('t', pushOf(entries)));
    pushed.push(entries);
  };
  if (step.kind === 'push') await push(step.entries);
  else if (step.kind === 'repeat') await push(pushed[step.which % pushed.length]);
  else if (step.kind === 'compact') await store.compactor.compactDay({ tenant: 't', ...step, ...bounds() });
  else if (step.kind === 'sync') await store.syncer.syncDay({ tenant: 't', ...step, ...bounds() });
  else if (step.kind === 'flush') await store.maintenance.flushTenant('t', bounds(), async () => true);
  else {
    await store.clock.advance(3_600_000);
    await store.maintenance.jobs.run('collection', bounds());
  }
}

const nsOf = ({ day, time }: DatedEntry): bigint => BigInt(day) * NS_PER_DAY + BigInt(time);
const isIn =
  ({ startNs, endNs }: typeof WHOLE) =>
  (entry: DatedEntry): boolean =>
    nsOf(entry) >= startNs && nsOf(entry) < endNs;

/** IDs of the entries that a log query returns, in the order of each stream. */
async function log({ engine }: Store, span: typeof WHOLE, limit: number, backward: boolean) {
  const query = rangeQuery('{app=~".+"}', { ...span, limit, backward, categorize: true });
  const { result } = await engine.range(query, requester());
  if (result.kind !== 'streams') throw new TypeError(`a log query answers a ${result.kind}`);
  return result.streams.flatMap(({ labels, entries }) =>
    entries.map(({ timeNs, line, structuredMetadata }) => ({
      timeNs,
      id: identityOf({
        stream: Object.fromEntries(labels.map(({ name, value }) => [name, value])),
        day: Number(timeNs / NS_PER_DAY),
        time: Number(timeNs % NS_PER_DAY),
        line,
        metadata: Object.fromEntries((structuredMetadata ?? []).map(({ name, value }) => [name, value])),
      }),
    })),
  );
}

/** `instant app` to value, of a range query. */
async function metric({ engine }: Store, query: string): Promise<Record<string, number>> {
  const { result } = await engine.range(rangeQuery(query, { ...PART, stepNs: STEP_NS }), requester());
  if (result.kind !== 'matrix') throw new TypeError(`a range query answers a ${result.kind}`);
  const points = result.series.flatMap(({ labels, timesMs, values }) =>
    Array.from(timesMs, (ms, i) => [`${ms} ${labels.map(({ value }) => value).join()}`, values[i]] as const),
  );
  return Object.fromEntries(points);
}

/** Number of entries that `holds` accepts, by instant and `by`. */
function counts(known: readonly DatedEntry[], by: (entry: DatedEntry) => string): Record<string, number> {
  const expected: Record<string, number> = {};
  const lastNs = ((PART.endNs + STEP_NS - 1n) / STEP_NS) * STEP_NS;
  for (let at = PART.startNs - (PART.startNs % STEP_NS); at <= lastNs; at += STEP_NS) {
    for (const entry of known.filter(isIn({ startNs: at - RANGE_NS + 1n, endNs: at + 1n }))) {
      const key = `${at / 1_000_000n} ${by(entry)}`;
      expected[key] = (expected[key] ?? 0) + 1;
    }
  }
  return expected;
}

async function compare(store: Store, known: readonly DatedEntry[]): Promise<void> {
  for (const span of [WHOLE, PART]) {
    const inside = known.filter(isIn(span));
    for (const backward of [false, true]) {
      const all = await log(store, span, 1000, backward);
      expect(all.map(({ id }) => id).sort()).toEqual(inside.map(identityOf).sort());
      const some = await log(store, span, 3, backward);
      const inOrder = inside.map(nsOf).sort((a, b) => (a < b === backward ? 1 : a === b ? 0 : -1));
      const times = some
        .map(({ timeNs }) => timeNs)
        .sort((a, b) => (a < b === backward ? 1 : a === b ? 0 : -1));
      expect(times).toEqual(inOrder.slice(0, 3));
      expect(new Set(some.map(({ id }) => id)).size).toBe(some.length);
      const ids = new Set(inside.map(identityOf));
      expect(some.filter(({ id }) => !ids.has(id))).toEqual([]);
    }
    const request = { tenants: ['t'], range: span, selectors: [], signal: bounds().signal };
    const streams = await findStreams(store.catalog, store.source, request, store.indexes);
    const present = inside.map(({ stream }) => streamOf(stream));
    expect(streams.map(({ text }) => text).sort()).toEqual(
      [...new Set(present.map(({ text }) => text))].sort(),
    );
    expect(labelNames(streams)).toEqual(labelNames(present));
    expect(labelValues(streams, 'app')).toEqual(labelValues(present, 'app'));
    expect(await store.engine.streams([], span, requester())).toEqual(streams);
  }
  const app = ({ stream }: DatedEntry) => stream.app;
  const even = known.filter(({ line }) => line.includes('even'));
  expect(await metric(store, 'sum by (app) (count_over_time({app=~".+"}[3h]))')).toEqual(counts(known, app));
  expect(await metric(store, 'sum(count_over_time({app=~".+"} |= "even" [3h]))')).toEqual(
    counts(even, () => ''),
  );
  const rates = await metric(store, 'sum by (app) (rate({app=~".+"}[3h]))');
  const back = Object.entries(rates).map(([key, value]) => [key, Math.round(value * 10_800)]);
  expect(Object.fromEntries(back)).toEqual(counts(known, app));
  // Compare only the values of the best, because several may be equal.
  const byPod = counts(known, ({ stream }) => `${stream.app},${stream.pod}`);
  const best = await metric(store, 'topk(1, sum by (app, pod) (count_over_time({app=~".+"}[3h])))');
  const most: Record<string, number> = {};
  for (const [key, value] of Object.entries(byPod)) {
    const [at] = key.split(' ');
    most[at] = Math.max(most[at] ?? 0, value);
  }
  for (const [key, value] of Object.entries(best)) {
    expect(byPod[key]).toBe(value);
    expect(value).toBe(most[key.split(' ')[0]]);
  }
  expect(new Set(Object.keys(best).map(key => key.split(' ')[0]))).toEqual(new Set(Object.keys(most)));
}

test('queries after any history of pushes, repeats and maintenance return what the model returns', async () => {
  const history = fc.array(arbitraryStep, { minLength: 2, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(history, fc.constantFrom(0, 4096), async (steps, inlineMaxBytes) => {
      const store = makeStore(inlineMaxBytes);
      const pushed: (readonly DatedEntry[])[] = [];
      for (const step of steps) {
        if (step.kind === 'repeat' && pushed.length === 0) continue;
        await take(store, step, pushed);
        const known = new Map(pushed.flat().map(entry => [identityOf(entry), entry]));
        await compare(store, [...known.values()]);
      }
    }),
    { numRuns: 40 },
  );
});
