/**
 * Delete requests and their life cycle (docs/dev/wire-format.md#delete-requests), which these times describe:
 *
 *     created ----- pickedUp ---------------- sealed ------------- processed
 *       hidden at query time ................................... (10 minutes longer)
 *       may be canceled  | compaction drops the rows
 *                                               later pushes are not covered
 *
 * A forced cancel makes a request with finished parts processed, and it hides nothing from then on.
 *
 * A request covers all entries that are stored in its interval until it is processed (difference D18). A push may
 * commit while the last chunk is being read, so the end of coverage is fixed earlier: chunks begun after `sealedMs` are
 * not covered. All others are rewritten or read before the request counts as processed.
 */
import { startedMsOf } from './chunk-id.ts';
import type { ChunkRecord } from './chunk-record.ts';

export interface DeleteRequest {
  /** 8 hex digits. */
  readonly id: string;
  readonly tenant: string;
  /** Query text of the client: a log selector, with or without a pipeline. */
  readonly query: string;
  /** Unix ns, both inclusive. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Length of the parts in which progress is reported, ns; 0 if the request is one part. */
  readonly intervalNs: bigint;
  readonly createdMs: number;
  /** Undefined until the request is accepted. */
  readonly pickedUpMs: number | undefined;
  readonly sealedMs: number | undefined;
  readonly processedMs: number | undefined;
  /** All data up to this time was checked, Unix ns; undefined before the first part. */
  readonly doneToNs: bigint | undefined;
  /**
   * Stored bytes of the checked chunks that the request may cover; `bytesTotal` counts all of them. 0 before it is
   * accepted.
   */
  readonly bytesDone: number;
  readonly bytesTotal: number;
  /** It was canceled with force. */
  readonly canceled?: true;
}

/** Progress of a request that is not started. */
export const NOT_BEGUN = Object.freeze({
  pickedUpMs: undefined,
  sealedMs: undefined,
  processedMs: undefined,
  doneToNs: undefined,
  bytesDone: 0,
  bytesTotal: 0,
});

/** Time after processing in which a request still hides rows from queries, ms. Longer than any query. */
export const MASKED_AFTER_PROCESSED_MS = 600_000;

/** Unix ms before which the chunk's rows were read or received. */
function rowsAsOfMs({ id, asOfMs }: Pick<ChunkRecord, 'id' | 'asOfMs'>): number {
  return asOfMs === 0 ? startedMsOf(id) : asOfMs;
}

/** True if the chunk may still contain rows of the request, according to their age. */
export function coversChunk(request: DeleteRequest, chunk: Pick<ChunkRecord, 'id' | 'asOfMs'>): boolean {
  const { pickedUpMs, sealedMs } = request;
  if (pickedUpMs !== undefined && chunk.asOfMs > pickedUpMs) return false;
  return sealedMs === undefined || rowsAsOfMs(chunk) <= sealedMs;
}

/** True if queries must hide the request's rows. */
export function isHiding({ processedMs, canceled }: DeleteRequest, nowMs: number): boolean {
  if (canceled) return false;
  return processedMs === undefined || nowMs - processedMs < MASKED_AFTER_PROCESSED_MS;
}
