/**
 * Chunks with pages in any order answer every query as chunks without copied pages do, and as pushes do. A dense table of
 * queries over all endpoints, with equal timestamps, late pushes, duplicates, and delete requests.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { inlineInvoker } from '../../shared/read/query/tasks/inline-invoker.ts';
import { QueryWorkers } from '../../shared/read/query/tasks/query-workers.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { readFooter } from '../../shared/storage/catalog/chunk-object.ts';
import { NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { FORMAT_VERSION } from '../../shared/storage/chunk/format.ts';
import { START_MS, type TestProcess, type TestStores, testStores } from '../maintenance/store.ts';
import { Dice } from '../simulation/dice.ts';
import { rangeQuery, requester } from '../support/engine.ts';
import { DAY, HEADERS, mergeDay, TENANT } from '../support/unsorted-day.ts';
import { TINY_TASKS } from './tasks/world.ts';

/** Seconds; entries are in the hour from here on. */
const FROM = START_MS / 1000 - 3 * 3600;
const APPS = ['a', 'b', 'c'];
const PAGE_BYTES = 500;

interface Entry {
  readonly app: string;
  readonly second: number;
  readonly line: string;
  readonly trace: string;
}

interface Store {
  readonly stores: TestStores;
  readonly process: TestProcess;
  /** Raw bytes of the lines of a page of its merges. */
  readonly pageBytes: number;
}

const newStore = (pageBytes: number): Store => {
  const limits = {
    ...DEFAULT_CONFIG.limits,
    discoverLogLevels: true,
    deletionMode: 'filter-and-delete' as const,
  };
  const stores = testStores({}, { patternIngester: { enabled: true }, limits });
  return { stores, process: stores.process(1), pageBytes };
};

/** Entries of a slice of time, of which some have equal timestamps. */
function entriesOf(dice: Dice, from: number, span: number): Entry[] {
  return Array.from({ length: dice.between(5, 60) }, (): Entry => {
    const n = dice.below(40);
    const level = dice.pick(['info', 'error', 'warn']);
    const line =
      n % 3 === 0
        ? `level=${level} n=${n} took=${n}ms msg="user u-${n % 5} done"`
        : JSON.stringify({ level, n, took: `${n}ms`, user: `u-${n % 5}` });
    return { app: dice.pick(APPS), second: from + dice.below(span), line, trace: `t-${n % 4}` };
  });
}

async function push({ process }: Store, entries: readonly Entry[]): Promise<void> {
  const streams = APPS.map(app => ({
    stream: { app, env: app === 'a' ? 'dev' : 'live' },
    values: entries
      .filter(entry => entry.app === app)
      .map(({ second, line, trace }) => [`${FROM + second}000000000`, line, { trace }]),
  }));
  const body = Buffer.from(JSON.stringify({ streams: streams.filter(({ values }) => values.length > 0) }));
  const headers = { ...HEADERS, 'content-type': 'application/json' };
  const { status } = await process.ask('POST', '/loki/api/v1/push', { headers, body });
  expect(status).toBe(204);
}

/** Merges the chunks of the day whose bit is set, as far as their order allows. Returns the number of copied pages. */
function mergeSome({ process, stores, pageBytes }: Store, bits: number, parts: number): Promise<number> {
  const chosen = (_: unknown, i: number) => ((bits >> (i % 8)) & 1) === 1;
  return mergeDay(process, stores, { pageBytes, parts, chosen, seed: bits + 7 });
}

async function unsortedChunks({ process, stores }: Store): Promise<number> {
  const { records } = (await process.catalog.day(TENANT, DAY))!;
  const footers = await Promise.all(records.map(record => readFooter(stores.store, record)));
  return footers.filter(({ version }) => version === FORMAT_VERSION).length;
}

const LOG_QUERIES = [
  '{app=~".+"}',
  '{app="b"}',
  '{env="live"} |= "u-3"',
  '{app=~"a|c"} | json | n > 20',
  '{app=~".+"} | logfmt | level="error"',
  '{app=~".+"} | trace="t-2" | line_format "{{.app}} {{.trace}}"',
  '{app=~".+"} | detected_level="warn"',
];
const METRIC_QUERIES = [
  'sum by (app) (count_over_time({app=~".+"}[1m]))',
  'sum(rate({app=~".+"}[5s]))',
  'sum by (app) (bytes_over_time({app=~".+"}[2m]))',
  'sum by (app, detected_level) (count_over_time({app=~".+"}[1m]))',
  'rate_counter({app=~".+"} | json | unwrap n | __error__="" [2m])',
  'first_over_time({app=~".+"} | json | unwrap n | __error__="" [1m]) by (app)',
  'last_over_time({app=~".+"} | json | unwrap n | __error__="" [1m]) by (app)',
  'quantile_over_time(0.7, {app=~".+"} | logfmt | unwrap n | __error__="" [3m]) by (app)',
  'sum by (user) (sum_over_time({app=~".+"} | json | unwrap n | __error__="" [7m]))',
  'topk(2, sum by (trace) (count_over_time({app=~".+"}[5m])))',
  'absent_over_time({app="c"}[3s])',
  'max by (app) (max_over_time({app=~".+"} | json | unwrap duration(took) | __error__="" [30s]))',
  'sum by (app) (count_over_time({app=~".+"} |= "u-1" [1m]))',
];

const hour = { start: FROM, end: FROM + 3600 };
/** Begins and ends within pages. */
const part = { start: FROM + 37, end: FROM + 71 };
type Given = Readonly<Record<string, string | number>>;
const REQUESTS: readonly (readonly [path: string, given: Given])[] = [
  ...LOG_QUERIES.flatMap(query =>
    ['forward', 'backward'].flatMap(direction =>
      [3, 17, 5000].map(limit => ['query_range', { query, direction, limit, ...hour }] as const),
    ),
  ),
  ...['forward', 'backward'].map(
    direction => ['query_range', { query: '{app=~".+"}', direction, limit: 40, ...part }] as const,
  ),
  ...METRIC_QUERIES.flatMap(query => [
    ['query_range', { query, step: 20, start: FROM, end: FROM + 240 }] as const,
    ['query_range', { query, step: 7, ...part }] as const,
    ['query', { query, time: FROM + 60 }] as const,
  ]),
  ['labels', hour],
  ['label/app/values', part],
  ['series', { 'match[]': '{env="live"}', ...part }],
  ...[hour, part].flatMap(range =>
    [
      ['index/stats', { query: '{app=~".+"}' }] as const,
      ['index/volume', { query: '{app=~".+"}', limit: 10 }] as const,
      ['index/volume_range', { query: '{app=~".+"}', step: 20 }] as const,
      ['detected_labels', {}] as const,
      ['detected_fields', { query: '{app=~".+"}', line_limit: 1000 }] as const,
      ['detected_field/user/values', { query: '{app=~".+"}' }] as const,
    ].map(([path, given]) => [path, { ...given, ...range }] as const),
  ),
];

/** Queries of workers, each of which scans one page, equal those of one thread. */
async function compareWorkers({ process, stores: { store, clock } }: Store): Promise<void> {
  const parts = { catalog: process.catalog, clock, source: new ChunkSource(store) };
  const workers = new QueryWorkers(inlineInvoker({ store, clock }), { sizes: TINY_TASKS });
  const [alone, together] = [new QueryEngine(parts), new QueryEngine({ ...parts, workers })];
  const range = { startNs: BigInt(FROM) * NS_PER_SECOND, endNs: BigInt(FROM + 90) * NS_PER_SECOND };
  const answerOf = async (engine: QueryEngine, query: string, backward: boolean) => {
    const asked = rangeQuery(query, { ...range, backward, limit: 25, stepNs: 9n * NS_PER_SECOND });
    const { result } = await engine.range(asked, requester({ tenants: [TENANT] }));
    if (result.kind !== 'matrix') return result;
    const series = result.series.map(({ labels, timesMs, values }) => {
      return { metric: labels, values: Array.from(values, (value, i) => [timesMs[i], value.toPrecision(9)]) };
    });
    return sorted(series);
  };
  for (const query of [...LOG_QUERIES, ...METRIC_QUERIES]) {
    for (const backward of [false, true]) {
      const want = await answerOf(alone, query, backward);
      expect([query, await answerOf(together, query, backward)]).toEqual([query, want]);
    }
  }
}

async function ask({ process }: Store, path: string, given: Given): Promise<unknown> {
  const pairs = Object.entries(given).map(([name, value]): [string, string] => [name, `${value}`]);
  const rawQuery = `${new URLSearchParams(pairs)}`;
  const { status, body } = await process.ask('GET', `/loki/api/v1/${path}`, { headers: HEADERS, rawQuery });
  const text = Buffer.from(body).toString();
  if (status !== 200) return { status, text };
  const { data = {}, ...rest } = JSON.parse(text);
  // Figures of the work, and the number of chunks.
  delete data.stats;
  delete data.statistics;
  delete rest.statistics;
  delete rest.chunks;
  return { ...rest, data: data.result === undefined ? data : { ...data, result: sorted(data.result) } };
}

interface Series {
  readonly metric?: unknown;
  readonly stream?: unknown;
}

/** Series by their labels. Rounding depends on the order of sums. */
function sorted(result: readonly Series[]): unknown {
  const textOf = (one: Series) => JSON.stringify(one.metric ?? one.stream);
  const list = result.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const round = (_: string, value: unknown) =>
    typeof value === 'string' && /^\d+\.\d{9,}$/.test(value) ? Number(value).toPrecision(9) : value;
  return JSON.parse(JSON.stringify(list, round));
}

/** @param isMerged statistics and volumes of footers count entries of several chunks once for each chunk */
async function compare([expected, ...others]: readonly Store[], isMerged = false): Promise<void> {
  for (const [path, given] of REQUESTS) {
    if (!isMerged && path.startsWith('index/')) continue;
    const want = await ask(expected, path, given);
    for (const [i, store] of others.entries()) {
      expect([i, path, given, await ask(store, path, given)]).toEqual([i, path, given, want]);
    }
  }
}

test('queries of chunks with pages in any order return what they return of pushes', async () => {
  let copied = 0;
  let unsorted = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), async seed => {
      const dice = new Dice(seed);
      const stores = [newStore(1e6), newStore(PAGE_BYTES)];
      const [plain, copying] = stores;
      const pushed: Entry[][] = [];
      let from = 0;
      for (let i = 0; i < 14; i++) {
        from += dice.pick([0, 10, 10, 12, 12]);
        const again = pushed.length > 0 && dice.chance(0.1);
        const entries = again ? dice.pick(pushed) : entriesOf(dice, from, dice.pick([1, 12, 12, 12, 60]));
        pushed.push(entries);
        for (const store of stores) {
          await push(store, entries);
          await store.stores.clock.advance(1000);
        }
        if (dice.chance(0.5)) copied += await mergeSome(copying, dice.below(256), dice.pick([1, 1, 1, 2]));
      }
      await compare(stores);
      await compareWorkers(copying);
      for (const store of stores) {
        for (const query of ['{app="b"} |= "u-2"', '{app="c"}']) {
          const span = {
            startNs: BigInt(FROM + 30) * 1_000_000_000n,
            endNs: BigInt(FROM + 50) * 1_000_000_000n,
          };
          const createdMs = Math.trunc(store.stores.clock.nowMs());
          const made = {
            ...NOT_BEGUN,
            tenant: TENANT,
            id: query.length === 9 ? '1' : '2',
            ...span,
            intervalNs: 0n,
          };
          await store.process.catalog.deletes.create({ ...made, query, createdMs });
        }
      }
      await compare(stores);
      copied += await mergeSome(copying, 255, 1);
      unsorted += await unsortedChunks(copying);
      await mergeSome(plain, 255, 1);
      await compare(stores, true);
    }),
    // Of the first, the last of two entries with one timestamp is in a page that begins earlier.
    { numRuns: 2, examples: [[10]] },
  );
  expect(copied).toBeGreaterThan(0);
  expect(unsorted).toBeGreaterThan(0);
});
