/**
 * For any pushes, chunks, delete requests and retention, queries return results as if hidden entries had never
 * existed, whether or not lines were read before.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS, type Limits, type StreamRetention } from '../../shared/base/model/limits.ts';
import { NS_PER_DAY, NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { DeleteRequest } from '../../shared/storage/catalog/delete-request.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { retentionOf } from '../../shared/upkeep/retention/retention.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { chunksOf } from '../support/chunks-of.ts';
import { rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, identityOf, pushOf } from '../support/pushes.ts';
import { streamOf } from '../support/rows.ts';
import { type ModelChunk, nsOf, visible } from './delete-filter-model.ts';

const DAY = 20_000;
const WHOLE = { startNs: BigInt(DAY) * NS_PER_DAY, endNs: BigInt(DAY + 2) * NS_PER_DAY };
/** Both days are over, so that their windows are closed. */
const NOW_MS = (DAY + 3) * 86_400_000;
const STEP_MS = 60_000;

const arbitraryEntry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b'), pod: fc.constantFrom('1', '2') }),
  day: fc.constantFrom(DAY, DAY + 1),
  time: fc
    .tuple(fc.constantFrom(0, 1, 2, 23), fc.constantFrom(0, 60, 1801), fc.constantFrom(0, 1))
    .map(([hour, second, ns]) => (hour * 3600 + second) * 1e9 + ns),
  line: fc.oneof(
    fc.constantFrom(
      '',
      'user-17 in',
      'user-171 out',
      'to user-18',
      '{"level":"error","user":"user-17"}',
      'ab',
      'b',
    ),
    fc.string({ maxLength: 4, unit: fc.constantFrom('a', 'b', 'ü', 'user-1') }),
  ),
  metadata: fc.dictionary(fc.constantFrom('trace', 'user'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
});

const SELECTORS = [
  '{app="a"}',
  '{app="b", pod="1"}',
  '{app=~".+"}',
  '{app!="a"}',
  '{pod=~"1|3"}',
  '{app="c"}',
];
const STAGES = [
  '',
  '|= "user-17"',
  '|= "user-18"',
  '|= "user-171"',
  '|= "user-17 in"',
  '|= "b"',
  '|= "ab"',
  '|= ""',
  '|= "" or "user-17"',
  '|~ "user-18|"',
  '!~ "user-1|"',
  '|= "user-1" != "in"',
  '|= "user-1" |= "o"',
  '|= "ab" or "user-18"',
  '!= "a"',
  '|~ "user-1[78]"',
  '|~ "(?i)USER-17"',
  '|> "to <_>"',
  '| trace="x"',
  '| trace!="" | user="y"',
  '|= "user" | json | level="error"',
  '| json | __error__=""',
  '| line_format "{{.app}} {{__line__}}" |= "a user-17"',
  '| label_format pod="{{.app}}" | pod="b"',
];
const arbitraryNs = fc
  .tuple(fc.constantFrom(0n, 1n, 2n, 23n, 24n, 25n, 48n), fc.constantFrom(0n, 1n, 60_000_000_000n))
  .map(([hour, ns]) => WHOLE.startNs + hour * NS_PER_HOUR + ns);
/** Steps of the clock at which something happens to a request. */
const arbitraryStep = fc.nat(12);

const arbitraryRequest = fc
  .record({
    selector: fc.constantFrom(...SELECTORS),
    stages: fc.constantFrom(...STAGES),
    times: fc.oneof(
      fc.constant([WHOLE.startNs, WHOLE.endNs]),
      fc.tuple(arbitraryNs, arbitraryNs).map(two => two.sort((a, b) => (a < b ? -1 : 1))),
    ),
    steps: fc.array(arbitraryStep, { maxLength: 3 }).map(steps => steps.sort((a, b) => a - b)),
    isLong: fc.boolean(),
  })
  .map(({ selector, stages, times, steps, isLong }): Omit<DeleteRequest, 'id'> => {
    const [pickedUpMs, sealedMs, processedMs] = steps.map(step => NOW_MS + step * STEP_MS);
    return {
      tenant: 't',
      query: `${selector} ${stages}`,
      startNs: times[0],
      endNs: times[1],
      intervalNs: 0n,
      createdMs: NOW_MS,
      pickedUpMs,
      sealedMs,
      processedMs: processedMs === undefined || isLong ? processedMs : processedMs - 700_000,
      doneToNs: undefined,
      bytesDone: 0,
      bytesTotal: 0,
    };
  });

type Step =
  | { readonly kind: 'push'; readonly entries: readonly DatedEntry[] }
  | { readonly kind: 'repeat'; readonly which: number }
  | { readonly kind: 'compact'; readonly day: number };

const arbitraryAction: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(arbitraryEntry, { minLength: 1, maxLength: 8 })
      .map((entries): Step => ({ kind: 'push', entries })),
  },
  { weight: 3, arbitrary: fc.nat(20).map((which): Step => ({ kind: 'repeat', which })) },
  { weight: 1, arbitrary: fc.constantFrom(DAY, DAY + 1).map((day): Step => ({ kind: 'compact', day })) },
);

const arbitraryRules: fc.Arbitrary<StreamRetention[]> = fc.array(
  fc.record({
    selector: fc.constantFrom('{app="a"}', '{pod="1"}', '{app=~".+"}'),
    priority: fc.constantFrom(0, 1, 2),
    periodNs: fc.constantFrom(24n, 48n, 49n, 72n, 96n).map(hours => hours * NS_PER_HOUR),
  }),
  { maxLength: 3 },
);

function makeStore() {
  const clock = virtualClock(NOW_MS);
  const ids = seededIds(1);
  const store = memoryObjectStore();
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 200, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options });
  const work = { targetBytes: 1_000_000, inlineMaxBytes: 200, graceMs: 1_000_000_000 };
  const compactor = new Compactor({ catalog, store, clock, ids, options: work });
  const source = new ChunkSource(store);
  let version = 0;
  let requests: readonly DeleteRequest[] = [];
  const deletes = { list: async () => requests, version: async () => version };
  let limits: Limits = DEFAULT_LIMITS;
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes, clock }),
    limitsOf: () => limits,
    enabled: true,
  });
  const engine = new QueryEngine({ catalog, source, clock, visibility });
  return {
    clock,
    catalog,
    committer,
    compactor,
    source,
    engine,
    setRequests: (next: readonly DeleteRequest[]) => {
      requests = next;
      version++;
    },
    setLimits: (next: Limits) => {
      limits = next;
    },
  };
}

type Store = ReturnType<typeof makeStore>;

/** Follows which entries each chunk of the catalog holds. */
class Chunks {
  readonly #entriesOf = new Map<string, readonly DatedEntry[]>();
  readonly #pushed: (readonly DatedEntry[])[] = [];
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async take(step: Step): Promise<void> {
    const { clock, committer, compactor } = this.#store;
    if (step.kind === 'compact') {
      const bounds = { untilMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
      await compactor.compactDay({ tenant: 't', day: step.day, force: true, ...bounds });
    } else {
      const entries =
        step.kind === 'push' ? step.entries : this.#pushed[step.which % (this.#pushed.length || 1)];
      if (entries !== undefined) {
        await clock.run(committer.commit('t', pushOf(entries)));
        this.#pushed.push(entries);
        await this.known(entries);
      }
    }
    await this.known([]);
    await clock.advance(STEP_MS);
  }

  /** The chunks that are there now; new ones without inputs hold `entries`. */
  async known(entries: readonly DatedEntry[]): Promise<ModelChunk[]> {
    const { catalog, source } = this.#store;
    const chunks: ModelChunk[] = [];
    for (const record of await chunksOf(catalog, 't', WHOLE.startNs, WHOLE.endNs)) {
      let ofChunk = this.#entriesOf.get(record.id);
      if (ofChunk === undefined) {
        const { inputs } = await source.footer(record);
        ofChunk =
          inputs.length === 0
            ? entries.filter(({ day }) => day === record.day)
            : inputs.flatMap(id => this.#entriesOf.get(id)!);
        this.#entriesOf.set(record.id, ofChunk);
      }
      chunks.push({ record, entries: ofChunk });
    }
    return chunks;
  }
}

async function log(store: Store, query: string, limit: number, backward: boolean): Promise<string[]> {
  const range = rangeQuery(query, { ...WHOLE, limit, backward, categorize: true });
  const { result } = await store.engine.range(range, requester());
  if (result.kind !== 'streams') throw new TypeError(result.kind);
  return result.streams.flatMap(({ labels, entries }) =>
    entries.map(({ timeNs, line, structuredMetadata }) =>
      identityOf({
        stream: Object.fromEntries(labels.map(({ name, value }) => [name, value])),
        day: Number(timeNs / NS_PER_DAY),
        time: Number(timeNs % NS_PER_DAY),
        line,
        metadata: Object.fromEntries((structuredMetadata ?? []).map(({ name, value }) => [name, value])),
      }),
    ),
  );
}

async function total(store: Store, expr: string): Promise<number> {
  const { result } = await store.engine.range(
    rangeQuery(expr, { startNs: WHOLE.endNs, endNs: WHOLE.endNs, stepNs: NS_PER_HOUR }),
    requester(),
  );
  if (result.kind !== 'matrix') throw new TypeError(result.kind);
  return result.series.reduce((sum, { values }) => sum + values[0], 0);
}

/** Windows are open on the left: the first instant of the first day is not counted. */
const isCounted = (entry: DatedEntry) => nsOf(entry) > WHOLE.startNs;

async function compare(store: Store, shown: readonly DatedEntry[]): Promise<void> {
  const ids = (keep: (entry: DatedEntry) => boolean) => shown.filter(keep).map(identityOf).sort();
  expect((await log(store, '{app=~".+"} |= "user-17"', 1000, true)).sort()).toEqual(
    ids(({ line }) => line.includes('user-17')),
  );
  expect(await total(store, 'sum(count_over_time({app="a"} != "in" [48h]))')).toBe(
    shown.filter(entry => isCounted(entry) && entry.stream.app === 'a' && !entry.line.includes('in')).length,
  );
  for (const expr of [
    'sum(count_over_time({app=~".+"}[48h]))',
    'sum by (trace) (count_over_time({app=~".+"}[48h]))',
  ])
    expect(await total(store, expr)).toBe(shown.filter(isCounted).length);
  expect(await total(store, 'sum(bytes_over_time({pod="1"}[48h]))')).toBe(
    shown
      .filter(entry => isCounted(entry) && entry.stream.pod === '1')
      .reduce((sum, { line }) => sum + Buffer.byteLength(line), 0),
  );
  expect((await log(store, '{app=~".+"}', 1000, false)).sort()).toEqual(ids(() => true));
  for (const backward of [true, false]) {
    const few = await log(store, '{app=~".+"}', 2, backward);
    const order = shown.map(nsOf).sort((a, b) => (a < b === backward ? 1 : -1));
    const timeOf = (id: string) => shown.filter(entry => identityOf(entry) === id).map(nsOf);
    expect(few.flatMap(timeOf).sort((a, b) => (a < b === backward ? 1 : -1))).toEqual(order.slice(0, 2));
  }
}

const withIds = (requests: readonly Omit<DeleteRequest, 'id'>[], first: number): DeleteRequest[] =>
  requests.map((request, i) => ({ ...request, id: (first + i).toString(16).padStart(8, '0') }));

test('queries show the rows that no request covers, before and after their lines are cached', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryAction, { minLength: 1, maxLength: 8 }),
      fc.array(arbitraryRequest, { minLength: 1, maxLength: 6 }),
      fc.array(arbitraryRequest, { maxLength: 3 }),
      async (steps, requests, later) => {
        const store = makeStore();
        const chunks = new Chunks(store);
        for (const step of steps) await chunks.take(step);
        const first = withIds(requests, 1);
        // The first ones, then some more, then without the first of all.
        const all = [...first, ...withIds(later, 100)];
        for (const some of [first, first, all, all.slice(1)]) {
          store.setRequests(some);
          const there = await chunks.known([]);
          await compare(store, visible(there, some, store.clock.nowMs()));
        }
      },
    ),
    { numRuns: 60 },
  );
}, 120_000);

test('queries and lists of streams show nothing that is expired', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryAction, { minLength: 1, maxLength: 6 }),
      fc.array(arbitraryRequest, { maxLength: 2 }),
      arbitraryRules,
      fc.constantFrom(0n, 48n, 50n, 71n).map(hours => hours * NS_PER_HOUR),
      async (steps, requests, retentionStream, retentionPeriodNs) => {
        const store = makeStore();
        const chunks = new Chunks(store);
        for (const step of steps) await chunks.take(step);
        const limits = { ...DEFAULT_LIMITS, retentionStream, retentionPeriodNs };
        store.setLimits(limits);
        store.setRequests(withIds(requests, 1));
        const { nowNs, nowMs } = store.clock;
        const retention = retentionOf(limits, true);
        const isKept = (entry: DatedEntry) => {
          const periodNs = retention.periodNsOf(streamOf(entry.stream).labels);
          return periodNs === 0n || nsOf(entry) >= nowNs() - periodNs;
        };
        const there = await chunks.known([]);
        await compare(store, visible(there, withIds(requests, 1), nowMs()).filter(isKept));
        // Requests do not change which streams there are.
        const texts = there
          .flatMap(({ entries }) => entries.filter(isKept))
          .map(entry => streamOf(entry.stream).text);
        const streams = await store.engine.streams([], WHOLE, requester());
        expect(streams.map(({ text }) => text)).toEqual([...new Set(texts)].sort());
      },
    ),
    { numRuns: 40 },
  );
}, 120_000);
