/**
 * About how many pushed chunks of a tenant are not merged yet, for the processes that accept pushes. Only a shared table
 * has the number. On one machine, merge-backlog.ts counts bytes.
 *
 *     x/<tenant>/unmerged   <day>/<chunk id>   a marker: stands for 1,024 chunks that are not merged
 *
 * One in 1,024 chunks has a marker, chosen by the random end of its ID. The transaction that makes the chunk visible
 * writes the marker, and the one that removes the chunk deletes it. So the number does not depend on compaction: if
 * compaction stops, it rises with the pushes. Its standard deviation is 3% at 1,000,000 chunks, 10% at 100,000 (that of
 * a Poisson distribution).
 */
import type { ItemKey, Table, Write } from '../../base/ports/table.ts';
import type { ChunkRecord } from './chunk-record.ts';
import { backlogPartition } from './ingest-exchange.ts';
import { dayText } from './keys.ts';

/** Chunks for each marker, a power of two. At the default limit, a reader reads about 100 markers. */
export const CHUNKS_OF_MARKER = 1024;
/** Hexadecimal digits at the end of a chunk's ID that decide, at least as many bits as CHUNKS_OF_MARKER has. */
const DECIDING_DIGITS = 3;
/** Some chunks are never merged, for example the only one of a day. They count for a week. */
const MARKED_SECONDS = 7 * 24 * 3600;

type Marked = Pick<ChunkRecord, 'tenant' | 'day' | 'level' | 'id'>;

/** Key of the chunk's marker; undefined for chunks without one. */
export function markerKey({ tenant, day, level, id }: Marked): ItemKey | undefined {
  if (level !== 0 || Number.parseInt(id.slice(-DECIDING_DIGITS), 16) % CHUNKS_OF_MARKER !== 0)
    return undefined;
  return { pk: backlogPartition(tenant), sk: `${dayText(day)}/${id}` };
}

export class UnmergedChunks {
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
  }

  /** Writes of a transaction that makes a chunk visible. */
  added(record: Marked, nowMs: number): Write[] {
    const key = this.#table.isDistant === true ? markerKey(record) : undefined;
    if (key === undefined) return [];
    const expiresAt = Math.ceil(nowMs / 1000) + MARKED_SECONDS;
    return [{ kind: 'put', item: { ...key, version: 0, body: new Uint8Array(0), expiresAt } }];
  }

  /**
   * Approximate number of unmerged chunks of all days of a tenant. Counting ends soon after `atLeast`. Throws the errors
   * of the table.
   */
  async of(tenant: string, atLeast: number): Promise<number> {
    let chunks = 0;
    let after: string | undefined;
    do {
      const page = await this.#table.query(backlogPartition(tenant), { after });
      chunks += page.items.length * CHUNKS_OF_MARKER;
      after = page.next;
    } while (after !== undefined && chunks < atLeast);
    return chunks;
  }
}
