/**
 * Delete requests and their life (docs/dev/wire-format.md#delete-requests). All of it lives in these times:
 *
 *     created ----- pickedUp ---------------- sealed ------------- processed
 *       masked at query time ................................... (a while longer)
 *       may be cancelled | compaction leaves the rows away
 *                                               what is pushed from here on is not covered
 *
 * A request covers whatever is stored in its interval until it is processed (differences, D18). Because a push may commit
 * while the last chunk is being looked at, that moment is fixed before the end: chunks begun after `sealedMs` are not
 * covered, all others are rewritten or looked at before the request counts as processed.
 */
import { startedMsOf } from './chunk-id.ts';
import type { ChunkRecord } from './chunk-record.ts';

export interface DeleteRequest {
  /** 8 hex digits. */
  readonly id: string;
  readonly tenant: string;
  /** As it was sent: a log selector, with or without a pipeline. */
  readonly query: string;
  /** Unix ns, both inclusive. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Length of the parts that progress is told in, ns; 0 where the request is one part. */
  readonly intervalNs: bigint;
  readonly createdMs: number;
  /** Undefined: not yet. */
  readonly pickedUpMs: number | undefined;
  readonly sealedMs: number | undefined;
  readonly processedMs: number | undefined;
  /** All data up to here was looked at, Unix ns; undefined before the first. */
  readonly doneToNs: bigint | undefined;
  /** Stored bytes of the chunks that it may touch, looked at and in all; 0 before it is picked up. */
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

/** Of a request that nobody has worked on. */
export const NOT_BEGUN = Object.freeze({
  pickedUpMs: undefined,
  sealedMs: undefined,
  processedMs: undefined,
  doneToNs: undefined,
  bytesDone: 0,
  bytesTotal: 0,
});

/** How long a processed request still masks what a query reads: longer than any query. */
export const MASKED_AFTER_PROCESSED_MS = 600_000;

/** Unix ms before which the chunk's rows were read, or came in. */
export function rowsAsOfMs({ id, asOfMs }: Pick<ChunkRecord, 'id' | 'asOfMs'>): number {
  return asOfMs === 0 ? startedMsOf(id) : asOfMs;
}

/** True where the request's rows may still be in the chunk, as far as their age says. */
export function coversChunk(request: DeleteRequest, chunk: Pick<ChunkRecord, 'id' | 'asOfMs'>): boolean {
  const { pickedUpMs, sealedMs } = request;
  if (pickedUpMs !== undefined && chunk.asOfMs > pickedUpMs) return false;
  return sealedMs === undefined || rowsAsOfMs(chunk) <= sealedMs;
}

/** True where queries must hide its rows. */
export function isMasking({ processedMs }: DeleteRequest, nowMs: number): boolean {
  return processedMs === undefined || nowMs - processedMs < MASKED_AFTER_PROCESSED_MS;
}
