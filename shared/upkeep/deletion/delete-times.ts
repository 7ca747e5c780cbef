/**
 * Minimum times between the steps of a delete request. Several processes read and write with different
 * clocks, so two times must differ by more than the clock difference and the duration of a write.
 *
 * - `pickedUpMs` is later than the time at which it is written. A merge dates its output (`asOfMs`) before it
 *   reads the
 *   requests. A request that it could not see must have a later date, even if either process was slow.
 * - The last pass starts when every write started up to `sealedMs` has been committed or given up.
 */
import { MAX_COMMIT_MS } from '../../storage/catalog/chunk-id.ts';

export interface DeleteTimes {
  /** Maximum clock difference plus duration of a small table write, ms. */
  readonly marginMs: number;
  /** Maximum time from the start of writing a chunk to its commit, ms. */
  readonly maxCommitMs: number;
}

export const DELETE_TIMES: DeleteTimes = Object.freeze({ marginMs: 60_000, maxCommitMs: MAX_COMMIT_MS });

/** Value of `pickedUpMs` for a write at `nowMs`. */
export function pickUpMs(nowMs: number, { marginMs }: DeleteTimes): number {
  return Math.ceil(nowMs) + marginMs;
}

/** False if the request is dated later than now, because work done now would not count as applied. */
export function mayBeginWork(pickedUpMs: number, nowMs: number): boolean {
  return Math.trunc(nowMs) > pickedUpMs;
}

/** True if a pass that starts now sees all writes started before the request was sealed. */
export function mayEnd(sealedMs: number, nowMs: number, { marginMs, maxCommitMs }: DeleteTimes): boolean {
  return nowMs > sealedMs + maxCommitMs + marginMs;
}
