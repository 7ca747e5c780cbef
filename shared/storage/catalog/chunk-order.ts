/**
 * Defines the order of chunks. It decides the order of entries of one stream with equal timestamps, and which of equal
 * entries is kept. A pushed chunk is ordered by its ID, which begins with the time at which writing began. A chunk that
 * was written from others has the position of the oldest of them. A merge of consecutive chunks therefore changes no
 * order.
 *
 * Pitfall: a merge changes the order if another chunk with the same streams and timestamps is between its inputs. The
 * planner that chooses the inputs avoids it (shared/upkeep/compaction/order-runs.ts).
 */
export interface ChunkAge {
  /** The chunk's own id. */
  readonly id: string;
  /** ID of the oldest pushed chunk that the rows came from; for a pushed chunk, its own ID. */
  readonly origin: string;
}

/**
 * Negative if the rows of `a` arrived before those of `b`. Outputs of one merge share no timestamp and are ordered by
 * ID.
 */
export function compareChunks(a: ChunkAge, b: ChunkAge): number {
  if (a === b) return 0;
  if (a.origin !== b.origin) return a.origin < b.origin ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}

/** The origin of a chunk that is written from these chunks. */
export function oldestOrigin(chunks: readonly Pick<ChunkAge, 'origin'>[]): string {
  return chunks.map(({ origin }) => origin).sort()[0];
}
