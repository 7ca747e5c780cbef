/** Content of the catalog for one day of a tenant. */
import type { ChunkRecord } from './chunk-record.ts';
import type { Day } from './day-item.ts';

/**
 * A tenant's day between two changes of its version. Every entry is in at least one of its chunks. During a swap an
 * entry may be in two chunks, as after a repeated push.
 */
export interface DaySnapshot extends Day {
  /** Unordered. */
  readonly records: readonly ChunkRecord[];
}
