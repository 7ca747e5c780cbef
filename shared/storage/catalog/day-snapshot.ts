/** What the catalog knows of one day of a tenant. */
import type { ChunkRecord } from './chunk-record.ts';
import type { Day } from './day-item.ts';

/**
 * A tenant's day between two changes of its version. Every entry is in at least one of its chunks; in the middle of a
 * swap it may be in two, as after a repeated push.
 */
export interface DaySnapshot extends Day {
  /** In no order. */
  readonly records: readonly ChunkRecord[];
}
