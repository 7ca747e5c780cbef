/** The corpus in stores with different histories, written and merged by the product itself. */

import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { Footer } from '../../shared/storage/chunk/format.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import type { MergeSizes } from '../../shared/upkeep/compaction/merge-sizes.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { Dice } from '../simulation/dice.ts';
import { chunksOf } from '../support/chunks-of.ts';
import { DAY, DAY_START_NS } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

export interface TestedStore {
  readonly name: string;
  readonly engine: QueryEngine;
  readonly footers: readonly Footer[];
}

const TENANT = 't';
const PUSHES = 24;
/** Number of merged chunks, if some are merged. */
const MERGED = 18;
const KEPT_BYTES = 64 * 1024 * 1024;
/** Page size that gives the corpus several pages, all with text indexes and field columns. */
const MERGE_SIZES: MergeSizes = {
  pageBytes: 20_000,
  indexedFromBytes: 0,
  finalFromBytes: 0,
  awaitedBytes: 0,
  copiedFromBytes: Infinity,
  windowBytesOfPart: Number.POSITIVE_INFINITY,
  mergeBytesOfPart: Number.POSITIVE_INFINITY,
};

interface History {
  readonly merged: readonly (readonly DatedEntry[])[];
  /** Pushed later. */
  readonly small: readonly (readonly DatedEntry[])[];
  readonly mergeSizes?: MergeSizes;
  /** Pages that queries come back to stay in memory. */
  readonly keepsPages: boolean;
}

/** @param seed how entries are spread over pushes, and which come twice */
export async function storesOf(entries: readonly DatedEntry[], seed: number): Promise<TestedStore[]> {
  const dice = new Dice(seed);
  const again = entries.filter(() => dice.chance(0.05));
  const pushes = Array.from({ length: PUSHES }, (): DatedEntry[] => []);
  for (const entry of [...entries, ...again]) dice.pick(pushes).push(entry);
  const plain = { ...MERGE_SIZES, indexedFromBytes: Infinity };
  return [
    await storeOf('small chunks', { merged: [], small: pushes, keepsPages: false }),
    await storeOf('merged chunks', { merged: pushes, small: [], keepsPages: false }),
    await storeOf('merged and small chunks', {
      merged: pushes.slice(0, MERGED),
      small: pushes.slice(MERGED),
      keepsPages: true,
    }),
    // Columns of their fields are made in memory.
    await storeOf('merged chunks without field columns', {
      merged: pushes,
      small: [],
      mergeSizes: plain,
      keepsPages: true,
    }),
  ];
}

async function storeOf(
  name: string,
  { merged, small, mergeSizes = MERGE_SIZES, keepsPages }: History,
): Promise<TestedStore> {
  const [clock, ids] = [SYSTEM_CLOCK, SYSTEM_IDS];
  const store = memoryObjectStore();
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 16_384, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options });
  for (const push of merged) await committer.commit(TENANT, pushOf(push));
  if (merged.length > 0) {
    const targets = { targetBytes: 128 * 1024 * 1024, inlineMaxBytes: 0, graceMs: 600_000, mergeSizes };
    const compactor = new Compactor({ catalog, store, clock, ids, options: targets });
    const signal = new AbortController().signal;
    await compactor.compactDay({ tenant: TENANT, day: DAY, force: true, untilMs: Infinity, signal });
  }
  for (const push of small) await committer.commit(TENANT, pushOf(push));
  const source = new ChunkSource(store, keepsPages ? new PageCache(KEPT_BYTES) : undefined);
  const records = await chunksOf(catalog, TENANT, DAY_START_NS, DAY_START_NS + NS_PER_DAY - 1n);
  const footers = await Promise.all(records.map(record => source.footer(record)));
  return { name, engine: new QueryEngine({ catalog, source, clock }), footers };
}
