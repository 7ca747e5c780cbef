/** A store with one chunk as merges write it, whose pages are split, and engines that query it with and without cached pages. */

import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import type { PageCache } from '../../shared/read/query/page-cache.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { AscendingChunkIds } from '../../shared/storage/catalog/chunk-id.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { ColumnKind } from '../../shared/storage/chunk/format.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { COMPACTION_COMPRESSION, QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { segmentsOf } from '../../shared/write/ingest/segment.ts';
import { DAY, DAY_START_NS } from './engine.ts';
import { type DatedEntry, pushOf } from './pushes.ts';

interface SplitStoreOptions {
  /** Raw bytes of the lines of a page. Default: that of a merge. */
  readonly pageBytes?: number | undefined;
  /** Whether the chunk has fields and sections, as large merges do. */
  readonly isIndexed: boolean;
  readonly cache: PageCache;
  /** Entries that another chunk has too. */
  readonly repeated?: readonly DatedEntry[];
}

export async function splitStore(
  entries: readonly DatedEntry[],
  { pageBytes, isIndexed, cache, repeated = [] }: SplitStoreOptions,
) {
  const requests: DeleteRequest[] = [];
  const deletes = { list: async () => requests, version: async () => requests.length };
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes, clock: SYSTEM_CLOCK }),
    limitsOf: () => DEFAULT_LIMITS,
    enabled: true,
  });
  const ids = new AscendingChunkIds(SYSTEM_CLOCK, SYSTEM_IDS);
  const chunkOf = (given: readonly DatedEntry[], isMerged: boolean) => {
    const [segment] = segmentsOf([pushOf(given)]).filter(one => one !== undefined);
    const createdMs = SYSTEM_CLOCK.nowMs();
    const head = { id: ids.next(), tenant: 't', day: DAY, level: isMerged ? 1 : 0, createdMs, inputs: [] };
    const compression = isMerged ? COMPACTION_COMPRESSION : QUICK_COMPRESSION;
    const indexer = isMerged && isIndexed ? chunkIndexers(0)() : undefined;
    return writeChunk(head, segment.rows, compression, indexer, pageBytes === undefined ? {} : { pageBytes });
  };
  const stored = async (isMerged: boolean) => {
    const store = memoryObjectStore();
    const table = memoryTable({ clock: SYSTEM_CLOCK });
    const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
    const chunks = [await chunkOf(entries, isMerged)];
    if (repeated.length > 0) chunks.push(await chunkOf(repeated, false));
    const records = await Promise.all(chunks.map(chunk => storeChunk(store, chunk, 0)));
    await catalog.addChunks(records);
    const engine = (used?: PageCache) =>
      new QueryEngine({ catalog, source: new ChunkSource(store, used), clock: SYSTEM_CLOCK, visibility });
    return { engine, pages: chunks[0].footer.pages };
  };
  const merged = await stored(true);
  const plain = await stored(false);
  return {
    /** Pages are read for each query. */
    cold: merged.engine(),
    /** Pages are cached. */
    warm: merged.engine(cache),
    /** The same entries as whole lines. */
    plain: plain.engine(),
    plainWarm: plain.engine(cache),
    /** Whether each page of the merged chunk is split. */
    splitPages: merged.pages.map(({ columns }) => columns.some(({ kind }) => kind === ColumnKind.splitLines)),
    hide(query: string): void {
      requests.push({
        id: requests.length.toString(16).padStart(8, '0'),
        tenant: 't',
        query,
        startNs: DAY_START_NS,
        endNs: DAY_START_NS + 86_400_000_000_000n,
        intervalNs: 0n,
        createdMs: SYSTEM_CLOCK.nowMs(),
        ...NOT_BEGUN,
      });
    },
  };
}
