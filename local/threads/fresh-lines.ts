/** The two ends of handing new lines over: an ingest thread sends them, and the query thread caches them. */
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import type { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import {
  chunksOf,
  type FreshBatch,
  FreshChunks,
  releaseBatch,
} from '../../shared/storage/catalog/fresh-chunks.ts';
import { noteQuery, recentThread } from './recent-queries.ts';
import type { PlainRequest, RoleData, RoleTell } from './role-messages.ts';
import type { ThreadLog } from './thread-log.ts';

/** For an ingest thread: sends chunks to the query thread that last served their tenant. */
export function freshChunksOf(
  { recentQueries }: RoleData,
  tell: (what: RoleTell) => void,
): FreshChunks | undefined {
  if (recentQueries === undefined) return undefined;
  return new FreshChunks({
    receiverOf: tenant => recentThread(recentQueries, tenant, SYSTEM_CLOCK.nowMs()),
    send: (thread, batch) => tell({ kind: 'fresh', thread, batch }),
    clock: SYSTEM_CLOCK,
  });
}

/** For a query thread: notes the tenants of a request. The spare thread caches too little. */
export function noteTenants(
  { recentQueries, index, threads }: RoleData,
  { tenants }: Pick<PlainRequest, 'tenants'>,
): void {
  if (recentQueries === undefined || index >= threads || tenants?.kind !== 'resolved') return;
  const nowMs = SYSTEM_CLOCK.nowMs();
  for (const tenant of tenants.ids) noteQuery(recentQueries, tenant, index, nowMs);
}

/** Caches the chunks of a batch, and releases it. */
export function adoptBatch(
  batch: FreshBatch,
  source: Pick<ChunkSource, 'adopt'>,
  log: Pick<ThreadLog, 'error'>,
): void {
  try {
    for (const chunk of chunksOf(batch, SYSTEM_CLOCK.nowMs())) source.adopt(chunk);
  } catch (error) {
    const what = 'caching new chunks failed; they are read from the store';
    log.error({ component: 'page cache', err: error }, what);
  } finally {
    releaseBatch(batch);
  }
}
