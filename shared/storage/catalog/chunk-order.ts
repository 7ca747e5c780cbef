/**
 * The order of chunks: decides among entries of one stream with equal timestamps, and which of equal entries stands for the
 * others. A pushed chunk is ordered by its id, which begins with the time at which its writing began. A chunk that was written
 * from others takes the place of the oldest of them, so a merge of chunks that follow each other changes no order.
 *
 * Pitfall: a merge changes the order if another chunk with the same streams and timestamps lies between its inputs. Whoever
 * chooses the inputs avoids it (shared/upkeep/compaction/order-runs.ts).
 */
export interface ChunkAge {
  /** The chunk's own id. */
  readonly id: string;
  /** Id of the oldest pushed chunk that the rows came from; of a pushed chunk its own id. */
  readonly origin: string;
}

/** Negative if the rows of `a` arrived before those of `b`. Parts of one merge, which share no timestamp, are ordered by id. */
export function compareChunks(a: ChunkAge, b: ChunkAge): number {
  if (a === b) return 0;
  if (a.origin !== b.origin) return a.origin < b.origin ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}

/** The origin of a chunk that is written from all of these. */
export function oldestOrigin(chunks: readonly Pick<ChunkAge, 'origin'>[]): string {
  return chunks.map(({ origin }) => origin).sort()[0];
}
