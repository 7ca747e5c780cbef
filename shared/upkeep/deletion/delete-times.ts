/**
 * When the steps of a delete request may follow each other. Several processes read and write with clocks of their own, so
 * two times are kept apart by more than clocks and writes may differ.
 *
 * - `pickedUpMs` lies ahead of the moment at which it is written. What applies the requests that it finds calls itself "as
 *   of" a moment before it read them; a request that it could not see must be dated after that moment, whoever was slow.
 * - The last look begins when every write begun up to `sealedMs` is over: it was committed, or has given up.
 */
import { MAX_COMMIT_MS } from '../../storage/catalog/chunk-id.ts';

export interface DeleteTimes {
  /** How far clocks may differ, and how long one small write of the table may take, ms. */
  readonly marginMs: number;
  /** From the start of writing a chunk to its commit, at most, ms. */
  readonly maxCommitMs: number;
}

export const DELETE_TIMES: DeleteTimes = Object.freeze({ marginMs: 60_000, maxCommitMs: MAX_COMMIT_MS });

/** To be written at `nowMs` into a request. */
export function pickUpMs(nowMs: number, { marginMs }: DeleteTimes): number {
  return Math.ceil(nowMs) + marginMs;
}

/** False: what is applied now would not count as applied, because the request is dated later. */
export function mayBeginWork(pickedUpMs: number, nowMs: number): boolean {
  return Math.trunc(nowMs) > pickedUpMs;
}

/** True where a look that begins now sees all that was begun before the request was sealed. */
export function mayEnd(sealedMs: number, nowMs: number, { marginMs, maxCommitMs }: DeleteTimes): boolean {
  return nowMs > sealedMs + maxCommitMs + marginMs;
}
