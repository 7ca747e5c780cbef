/**
 * Delete filters in cases that a random store does not reach: pages of one stream, tenants, modes, versions.
 */
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

const END_NS = DAY_START_NS + 24n * NS_PER_HOUR;

function makeStore({ enabled = true, limits = {} as Record<string, Partial<Limits>> } = {}) {
  const store = memoryObjectStore();
  const catalog = new Catalog({
    table: memoryTable({ clock: SYSTEM_CLOCK }),
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
  });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 100, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  const requests: DeleteRequest[] = [];
  const reads = { lists: 0, versions: 0 };
  const deletes = {
    list: async (tenant: string) => {
      reads.lists++;
      return requests.filter(request => request.tenant === tenant);
    },
    version: async () => {
      reads.versions++;
      return requests.length;
    },
  };
  const engine = new QueryEngine({
    catalog,
    source: new ChunkSource(store),
    clock: SYSTEM_CLOCK,
    visibility: new Visibility({
      deleteFilters: new DeleteFilterSource({ deletes, clock: SYSTEM_CLOCK }),
      limitsOf: tenant => ({ ...DEFAULT_LIMITS, ...limits[tenant] }),
      enabled,
    }),
  });
  return {
    engine,
    reads,
    push: (entries: readonly DatedEntry[], tenant = 't') => committer.commit(tenant, pushOf(entries)),
    hide: (query: string, given: Partial<DeleteRequest> = {}) => {
      requests.push({
        id: requests.length.toString(16).padStart(8, '0'),
        tenant: 't',
        query,
        startNs: DAY_START_NS,
        endNs: END_NS,
        intervalNs: 0n,
        createdMs: SYSTEM_CLOCK.nowMs(),
        ...NOT_BEGUN,
        ...given,
      });
    },
    lines: async (query: string, tenants = ['t']) => {
      const { result } = await engine.range(rangeQuery(query, { backward: false }), requester({ tenants }));
      if (result.kind !== 'streams') throw new TypeError(result.kind);
      return result.streams.flatMap(({ entries }) => entries.map(({ line }) => line)).sort();
    },
    total: async (query: string) => {
      const at = { startNs: END_NS, endNs: END_NS, stepNs: NS_PER_HOUR };
      const { result, statistics } = await engine.range(rangeQuery(query, at), requester());
      if (result.kind !== 'matrix') throw new TypeError(result.kind);
      return {
        total: result.series.reduce((sum, { values }) => sum + values[0], 0),
        pages: statistics.pagesRead,
      };
    },
  };
}

const entry = (line: string, given: Partial<DatedEntry> = {}): DatedEntry => ({
  stream: { app: 'a' },
  day: DAY,
  time: 3_600_000_000_001,
  line,
  metadata: {},
  ...given,
});

const COUNT = 'sum(count_over_time({app="a"}[24h]))';

test('a stream with pages that are hidden as a whole is not counted from its footer', async () => {
  const store = makeStore();
  const long = 'x'.repeat(100_000);
  await store.push(Array.from({ length: 40 }, (_, i) => entry(`${i} ${long}`, { time: (i + 1) * 60e9 })));
  expect(await store.total(COUNT)).toEqual({ total: 40, pages: 0 });
  store.hide('{app="a"}', { endNs: DAY_START_NS + 25n * 60_000_000_000n });
  expect((await store.total(COUNT)).total).toBe(15);
});

test('lines are read once, then counts come from footers again', async () => {
  const store = makeStore();
  await store.push([entry('user-17'), entry('user-18', { stream: { app: 'b' } }), entry('user-19')]);
  store.hide('{app="a"} |= "user-20"');
  const first = await store.total(COUNT);
  expect(first.total).toBe(2);
  expect(first.pages).toBeGreaterThan(0);
  expect(await store.total(COUNT)).toEqual({ total: 2, pages: 0 });
  store.hide('{app="a"} |= "user-17"');
  for (let i = 0; i < 3; i++) expect((await store.total(COUNT)).total).toBe(1);
  expect(await store.lines('{app=~".+"} |= "user"')).toEqual(['user-18', 'user-19']);
});

test.each(['|= "" or "user-17"', '|~ "user-17|"', '|~ "(|user-17)" or ""'])(
  '%s hides lines with its text, and no others',
  async filter => {
    const store = makeStore();
    await store.push([entry('user-17'), entry('user-18')]);
    store.hide(`{app="a"} ${filter}`);
    expect(await store.lines('{app="a"}')).toEqual(['user-18']);
  },
);

test('metadata that only a delete filter reads does not change query results', async () => {
  const store = makeStore();
  await store.push([entry('one', { metadata: { __error__: 'broken', trace: 'x' } }), entry('two')]);
  // Half a minute: not from footers.
  const query = 'sum(count_over_time({app="a"}[86370s]))';
  const before = await store.total(query);
  store.hide('{app="a"} | trace="y"');
  expect((await store.total(query)).total).toBe(before.total);
});

test('each tenant has its own requests and retention', async () => {
  const old = SYSTEM_CLOCK.nowNs() - DAY_START_NS;
  const store = makeStore({ limits: { u: { retentionPeriodNs: old - 2n * NS_PER_HOUR } } });
  for (const tenant of ['t', 'u']) {
    await store.push(
      [entry(`${tenant} user-17`), entry(`${tenant} other`, { time: 4 * 3_600_000_000_000 })],
      tenant,
    );
  }
  store.hide('{app="a"} |= "user-17"');
  expect(await store.lines('{app="a"}', ['t'])).toEqual(['t other']);
  expect(await store.lines('{app="a"}', ['u'])).toEqual(['u other']);
  store.hide('{app="a"} |= "other"', { tenant: 'u' });
  expect(await store.lines('{app="a"}', ['t', 'u'])).toEqual(['t other']);
});

test.each([
  ['filter-only masks', 'filter-only', true, []],
  ['filter-and-delete masks', 'filter-and-delete', true, []],
  ['disabled does not', 'disabled', true, ['user-17']],
  ['nothing does where retention is off', 'filter-and-delete', false, ['user-17']],
] as const)('%s', async (_, deletionMode, enabled, expected) => {
  const store = makeStore({ enabled, limits: { t: { deletionMode, retentionPeriodNs: 0n } } });
  await store.push([entry('user-17')]);
  store.hide('{app="a"} |= "user-17"');
  expect(await store.lines('{app="a"}')).toEqual(expected);
});

test('each query reads the version, and the requests only if it is new', async () => {
  const store = makeStore();
  await store.push([entry('user-17')]);
  await store.lines('{app="a"}');
  expect(store.reads).toEqual({ lists: 0, versions: 1 });
  store.hide('{app="a"} |= "user-17"');
  for (let i = 0; i < 3; i++) expect(await store.lines('{app="a"}')).toEqual([]);
  // New for some seconds (delete-filter-source.test.ts).
  expect(store.reads).toEqual({ lists: 3, versions: 4 });
});

test('both ends of the interval are hidden', async () => {
  const store = makeStore();
  await store.push([1, 2, 3, 4].map(time => entry(`${time}`, { time })));
  const times = { startNs: DAY_START_NS + 2n, endNs: DAY_START_NS + 3n };
  store.hide('{app="a"} |~ "[0-9]"', times);
  expect(await store.lines('{app="a"}')).toEqual(['1', '4']);
  store.hide('{app="a"}', { startNs: DAY_START_NS + 4n, endNs: DAY_START_NS + 4n });
  expect(await store.lines('{app="a"}')).toEqual(['1']);
});

test('an entry with a copy in a chunk written after the seal is shown', async () => {
  const store = makeStore();
  await store.push([entry('user-17')]);
  await store.push([entry('user-17')]);
  // A time before both chunks, or one that covers a single chunk, is tested only in delete-filters.test.ts.
  store.hide('{app="a"} |= "user-17"', { pickedUpMs: 1, sealedMs: 1 });
  expect(await store.lines('{app="a"}')).toEqual(['user-17']);
});
