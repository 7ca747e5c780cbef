/**
 * The order of log entries in an answer, and therefore which entries a limit cuts:
 *
 *     1. by timestamp, in the direction of the query
 *     2. between streams, ascending by the hash of the stored labels, in both directions, as in the reference
 *     3. within a stream, by arrival: in order of arrival forward, the exact reverse backward
 *
 * Arrival is stored: within a chunk entries of one stream and timestamp are in order of arrival, and chunks are ordered by
 * `compareChunks`. So the order does not depend on which page was read first, by which worker, or whether chunks were
 * merged. Between tenants, entries with equal timestamps and hashes are in the order of the tenants.
 */

import type { Stream } from '../../base/model/page.ts';
import { streamHash } from '../../base/model/stream-hash.ts';
import { type ChunkAge, compareChunks } from '../../storage/catalog/chunk-order.ts';

/** The stored stream of an entry. */
export interface EntrySource {
  readonly hash: bigint;
  /** Spares the hash where it is known: equal texts mean the same stream. */
  readonly text?: string | undefined;
}

/** Where an entry is stored, which decides its order among entries with the same timestamp. */
export interface EntryPlace {
  /** Nanoseconds since the start of the day. */
  readonly time: number;
  readonly source: EntrySource;
  readonly chunk: ChunkAge;
  /** Offset of the page in the chunk. */
  readonly page: number;
  /** Row of the page. */
  readonly row: number;
}

/** A stream of this process: the hash is computed only if entries of two streams have one timestamp. */
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

/** Entries of one tenant and day: negative if `a` comes before `b` in the direction. */
export function compareEntries(a: EntryPlace, b: EntryPlace, backward: boolean): number {
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
