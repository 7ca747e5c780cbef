/**
 * Splits evaluation into small steps, so that its runner decides what happens in between. 60,000 series of
 * 360 instants take two seconds, during which a thread that receives pushes must also do other work.
 * Functions over all series of a matrix are generators that yield about once per series. A step costs about
 * 0.1 µs per tree level. Loops with little work per series yield once for several series (MEMBERS_A_STEP).
 * Loops over cells are separate functions, which V8 optimizes better.
 */

import type { Steps } from '../../base/model/steps.ts';

export { atOnce, type Steps } from '../../base/model/steps.ts';

export interface YieldPoint {
  nowMs(): number;
  /**
   * Ends the time slice that began at `startedMs`, and waits for the next one. Rejects when the work is
   * canceled.
   */
  yield(startedMs: number): Promise<void>;
}

/** Series per step in loops with a few hundred nanoseconds per series. */
export const MEMBERS_A_STEP = 32;

/** Length of a time slice, ms: about the time of a scan on one page. */
const SLICE_MS = 2;

/**
 * Runs all steps in time slices; a slice is longer if a single step is. Rejects with an error of the work or
 * of `yield`.
 */
export async function runWithYields<T>(steps: Steps<T>, thread: YieldPoint): Promise<T> {
  let startedMs = thread.nowMs();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (thread.nowMs() - startedMs < SLICE_MS) continue;
    await thread.yield(startedMs);
    startedMs = thread.nowMs();
  }
}
