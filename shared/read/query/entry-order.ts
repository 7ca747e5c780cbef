/**
 * Order of log entries in a response, which decides what a limit cuts:
 *
 *     1. by timestamp, in the direction of the query
 *     2. between streams, ascending by the hash of the stored labels, in both directions, as in the reference
 *     3. within a stream, by arrival: in order of arrival forward, the exact reverse backward
 *
 * Arrival is stored. Within a chunk, entries of one stream and timestamp are in order of arrival, and
 * `compareChunks` orders chunks. The order is therefore independent of the page that was read first, of
 * workers, and of merges. Between tenants, entries with equal timestamps and hashes are in the order of the
 * tenants.
 */

import type { Stream } from '../../base/model/page.ts';
import { streamHash } from '../../base/model/stream-hash.ts';
import { type ChunkAge, compareChunks } from '../../storage/catalog/chunk-order.ts';

/** Stored stream of an entry. */
export interface EntrySource {
  readonly hash: bigint;
  /** Saves computing the hash if known: equal texts mean the same stream. */
  readonly text?: string | undefined;
}

/** Position of a stored entry, which orders entries with equal timestamps. */
export interface EntryPosition {
  /** Nanoseconds since the start of the day. */
  readonly time: number;
  readonly source: EntrySource;
  readonly chunk: ChunkAge;
  /** Offset of the page in the chunk. */
  readonly page: number;
  /** Row of the page. */
  readonly row: number;
}

/** A stream of this process. The hash is computed only if entries of two streams have the same timestamp. */
export class StoredSource implements EntrySource {
  readonly #stream: Stream;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  get text(): string {
    return this.#stream.text;
  }

  get hash(): bigint {
    return streamHash(this.#stream.labels);
  }
}

/** Compares entries of one tenant and day. Negative if `a` comes before `b` in the direction. */
export function compareEntries(a: EntryPosition, b: EntryPosition, backward: boolean): number {
  if (a.time !== b.time) return a.time < b.time === backward ? 1 : -1;
  const byStream = compareSources(a.source, b.source);
  if (byStream !== 0) return byStream;
  const byArrival = compareChunks(a.chunk, b.chunk) || a.page - b.page || a.row - b.row;
  return backward ? -byArrival : byArrival;
}

export function compareSources(a: EntrySource, b: EntrySource): number {
  if (a === b || (a.text !== undefined && a.text === b.text)) return 0;
  const [first, second] = [a.hash, b.hash];
  return first === second ? 0 : first < second ? -1 : 1;
}
