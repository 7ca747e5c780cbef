/** A store in memory that takes plain entries and answers queries: for tests of the query engine. */

import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine, type RangeQuery, type Requester } from '../../shared/read/query/engine.ts';
import type { PageCache } from '../../shared/read/query/page-cache.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { type GroupCommitParts, GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { type DatedEntry, pushOf } from './pushes.ts';

export const DAY = 20_000;
export const DAY_START_NS = 20_000n * 86_400_000_000_000n;

/** @param handsOver whether pushed chunks enter the page cache with their lines, whatever their size */
export function memoryEngine(inlineMaxBytes = 4096, pages?: PageCache, handsOver = false) {
  const store = memoryObjectStore();
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes, compression: QUICK_COMPRESSION };
  const source = new ChunkSource(store, pages);
  const fresh: GroupCommitParts['fresh'] = {
    wants: () => handsOver,
    add: (record, { parts, lines }) =>
      source.adopt({ record, object: Buffer.concat(parts), lines: Buffer.concat(lines) }),
  };
  const committer = new GroupCommitter({
    store,
    catalog,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    options,
    fresh,
  });
  const sources = { catalog, source, clock: SYSTEM_CLOCK };
  const engine = new QueryEngine(sources);
  return {
    engine,
    catalog,
    sources,
    /** Each call is a separate chunk for each day. */
    push: (entries: readonly DatedEntry[], tenant = 't') => committer.commit(tenant, pushOf(entries)),
  };
}

export function requester(overrides: Partial<Requester> & { limits?: Limits } = {}): Requester {
  const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n };
  const { tenants = ['t'] } = overrides;
  return {
    tenants,
    tenantsKey: tenants.join('|'),
    limits,
    signal: new AbortController().signal,
    tags: '',
    ...overrides,
  };
}

export function rangeQuery(query: string, overrides: Partial<RangeQuery> = {}): RangeQuery {
  return {
    text: query,
    expr: parseQuery(query),
    startNs: DAY_START_NS,
    endNs: DAY_START_NS + 86_400_000_000_000n,
    limit: 1000,
    backward: true,
    stepNs: 60_000_000_000n,
    intervalNs: 0n,
    categorize: false,
    ...overrides,
  };
}
