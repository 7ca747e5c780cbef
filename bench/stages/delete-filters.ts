/**
 * Queries over in-memory chunks, without delete requests and with a hundred that hide lines of single users.
 * `first` reads pages without cached data, like the first query after a start; `again` is every later one.
 */

import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { type DatedEntry, pushOf } from '../../test/support/pushes.ts';

const DAY = 20_000;
const START_NS = BigInt(DAY) * 86_400_000_000_000n;
const CHUNKS = 8;
const LINES_PER_CHUNK = 10_000;
const MASKS = 100;
const SPAN_S = 3600;

let state = 7;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

let bytes = 0;

function chunkEntries(chunk: number): DatedEntry[] {
  return Array.from({ length: LINES_PER_CHUNK }, (_, i): DatedEntry => {
    const line =
      `level=info caller=engine.go:${random(700)} msg="query finished" user=user-${100_000 + random(900_000)} ` +
      `trace=${random(2 ** 32).toString(16)}${random(2 ** 32).toString(16)} duration=${random(9_000_000) / 1000}ms ` +
      `status=${[200, 200, 404, 500][random(4)]} path=/api/v1/orders/${random(1_000_000)}/items shard=${random(16)}`;
    bytes += line.length;
    const time = ((chunk + i / LINES_PER_CHUNK) / CHUNKS) * SPAN_S * 1e9;
    return {
      stream: { app: 'x', pod: `${i % 4}` },
      day: DAY,
      time: Math.floor(time) + 1,
      line,
      metadata: {},
    };
  });
}

const store = memoryObjectStore();
const catalog = new Catalog({
  table: memoryTable({ clock: SYSTEM_CLOCK }),
  clock: SYSTEM_CLOCK,
  ids: SYSTEM_IDS,
});
const committer = new GroupCommitter({
  store,
  catalog,
  clock: SYSTEM_CLOCK,
  ids: SYSTEM_IDS,
  options: { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION },
});
for (let chunk = 0; chunk < CHUNKS; chunk++) await committer.commit('t', pushOf(chunkEntries(chunk)));

const requests = Array.from(
  { length: MASKS },
  (_, i): DeleteRequest => ({
    id: i.toString(16).padStart(8, '0'),
    tenant: 't',
    query: `{app="x"} |= "user-${100_000 + i * 7919}"`,
    startNs: START_NS,
    endNs: START_NS + 86_400n * NS_PER_SECOND,
    intervalNs: 0n,
    createdMs: 1,
    ...NOT_BEGUN,
  }),
);
const source = new ChunkSource(store);
const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n };

function engineOf(masked: readonly DeleteRequest[]): QueryEngine {
  const deletes = { list: async () => masked, version: async () => masked.length };
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes, clock: SYSTEM_CLOCK }),
    limitsOf: () => limits,
    enabled: true,
  });
  return new QueryEngine({ catalog, source, clock: SYSTEM_CLOCK, visibility });
}

const requester = {
  tenants: ['t'],
  tenantsKey: 't',
  limits,
  signal: new AbortController().signal,
  partial: false,
  tags: '',
};

async function ask(engine: QueryEngine, text: string): Promise<void> {
  const query = {
    text,
    expr: parseQuery(text),
    startNs: START_NS,
    endNs: START_NS + BigInt(SPAN_S) * NS_PER_SECOND,
    limit: 1000,
    backward: true,
    stepNs: 60n * NS_PER_SECOND,
    intervalNs: 0n,
    categorize: false,
  };
  await engine.range(query, requester);
}

const QUERIES: readonly (readonly [string, string])[] = [
  ['log, few lines left', '{app="x"} |= "user-123456"'],
  ['log, a quarter left', '{app="x"} |= "status=500" |= "shard=1"'],
  ['log, no filter', '{app="x"}'],
  ['count, from footers', 'sum(count_over_time({app="x"}[1m]))'],
  ['count, from pages', 'sum(count_over_time({app="x"}[59s]))'],
  ['count, filtered', 'sum(count_over_time({app="x"} |= "status=500" [59s]))'],
  ['logfmt, grouped', 'sum by (status) (count_over_time({app="x"} | logfmt [1m]))'],
];

const without = engineOf([]);
const again = engineOf(requests);

export const cases = QUERIES.flatMap(([name, query]) => [
  { name: `${name}: no request`, bytes, run: () => ask(without, query) },
  { name: `${name}: ${MASKS} requests, first`, bytes, run: () => ask(engineOf(requests), query) },
  { name: `${name}: ${MASKS} requests, again`, bytes, run: () => ask(again, query) },
]);
