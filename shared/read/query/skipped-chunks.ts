/**
 * Skips chunks that are damaged or missing in a query whose client shows warnings (http/dashboard-client.ts). The
 * query runs again without such a chunk, so its result is exactly that of the other chunks: of equal entries in two
 * chunks, the copy in the other one is returned. Tasks of workers whose results are cached do not run again.
 *
 *     chunks a b c ──▶ b is damaged ──▶ chunks a c ──▶ result, with a warning that names b and its bytes
 *
 * Other clients get the error.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import { ObjectNotFoundError } from '../../base/ports/object-store.ts';
import { type ChunkRecord, objectKey } from '../../storage/catalog/chunk-record.ts';
import { formatByteQuantity } from './byte-quantity.ts';
import type { ChunkLookup } from './day-plan.ts';

/** Maximum number of chunks that one query skips. With more, the store is broken, and the query fails. */
export const MAX_SKIPPED_CHUNKS = 16;
/** Part of the key of a chunk, in the message of each error that names it (chunk-object.ts). */
const CHUNK_IN_KEY = /\/chunks\/\d+\/\d+\/([0-9a-f]{32})\b/;

export class SkippedChunks {
  readonly #ids = new Set<string>();
  /** Skipped chunks in the range of the query. */
  readonly #records = new Map<string, ChunkRecord>();
  /** Bytes of lines of all chunks in the range, by tenant and day. */
  readonly #lineBytes = new Map<string, number>();

  /** Returns the lookup without the skipped chunks. */
  without(catalog: ChunkLookup): ChunkLookup {
    return {
      daysForQuery: async (tenant, startNs, endNs) => {
        const days = await catalog.daysForQuery(tenant, startNs, endNs);
        if (this.#ids.size === 0) return days;
        return days.map(({ records, ...day }) => {
          const bytes = records.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
          const key = `${tenant} ${day.day}`;
          this.#lineBytes.set(key, Math.max(bytes, this.#lineBytes.get(key) ?? 0));
          const isSkipped = (record: ChunkRecord) => this.#ids.has(record.id);
          for (const record of records.filter(isSkipped)) this.#records.set(record.id, record);
          return { ...day, records: records.filter(record => !isSkipped(record)) };
        });
      },
    };
  }

  /** Skips the chunk that the error names. Returns false if the query must fail: it names none, or too many were skipped. */
  takes(error: unknown): error is Error {
    if (!(error instanceof CorruptionError || error instanceof ObjectNotFoundError)) return false;
    const id = CHUNK_IN_KEY.exec(error.message)?.[1];
    if (id === undefined || this.#ids.has(id) || this.#ids.size === MAX_SKIPPED_CHUNKS) return false;
    this.#ids.add(id);
    return true;
  }

  /** Undefined if nothing was skipped. */
  get warning(): string | undefined {
    if (this.#records.size === 0) return undefined;
    const records = [...this.#records.values()];
    const missing = records.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
    const all = [...this.#lineBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
    return (
      `stored data is damaged; the result does not cover ${formatByteQuantity(missing)} of ` +
      `${formatByteQuantity(all)} of lines in its range: chunk ${records.map(objectKey).join(', ')}; ` +
      'run logboom doctor'
    );
  }
}
