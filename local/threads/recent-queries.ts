/**
 * Which query thread last served a query of a tenant, in shared memory. An ingest thread hands new lines only to a
 * thread that will probably query them:
 *
 *     Unix seconds, thread | Unix seconds, thread | ...      32 bits each
 *
 * A row is for all tenants of one hash. If two share it, more lines are handed over than needed.
 */
import { crc32 } from 'node:zlib';
import { MS_PER_SECOND } from '../../shared/base/model/time-units.ts';

/** Plain data, for messages to threads. */
export type SharedRecentQueries = Uint32Array<SharedArrayBuffer>;

const ROWS = 1024;
const ROW_CELLS = 2;
/** Caches are emptied after the same time without a query (idle-memory.ts). */
const RECENT_SECONDS = 600;

export function sharedRecentQueries(): SharedRecentQueries {
  return new Uint32Array(new SharedArrayBuffer(ROWS * ROW_CELLS * Uint32Array.BYTES_PER_ELEMENT));
}

/** Notes a query of the tenant in the thread at `index`. */
export function noteQuery(shared: SharedRecentQueries, tenant: string, index: number, nowMs: number): void {
  const at = rowOf(tenant);
  Atomics.store(shared, at + 1, index);
  Atomics.store(shared, at, Math.floor(nowMs / MS_PER_SECOND));
}

/** Returns the index of the thread, or undefined if there was no query within ten minutes. */
export function recentThread(shared: SharedRecentQueries, tenant: string, nowMs: number): number | undefined {
  const at = rowOf(tenant);
  const agoSeconds = Math.floor(nowMs / MS_PER_SECOND) - Atomics.load(shared, at);
  return agoSeconds < RECENT_SECONDS ? Atomics.load(shared, at + 1) : undefined;
}

function rowOf(tenant: string): number {
  return (crc32(tenant) % ROWS) * ROW_CELLS;
}
