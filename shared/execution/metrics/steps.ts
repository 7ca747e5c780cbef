/**
 * Work in small steps, so that whoever runs it decides what happens in between: 60,000 series of 360 instants are two seconds of
 * work, in which a thread that takes pushes must do other things too. Functions that go through all series of a matrix are
 * generators, which yield once a series or so. A step costs some 0.1 us through the nodes of a tree, so loops with little to do for
 * each series yield once for several (MEMBERS_A_STEP), and loops over cells are functions of their own, which V8 makes faster.
 */

import type { Steps } from '../../base/model/steps.ts';

export { atOnce, type Steps } from '../../base/model/steps.ts';

export interface YieldPoint {
  nowMs(): number;
  /** Ends the time slice that began at `startedMs`, and waits for the next one. Rejects when the work is cancelled. */
  yield(startedMs: number): Promise<void>;
}

/** Of a loop with a few hundred nanoseconds for each. */
export const MEMBERS_A_STEP = 32;

/** About what a scan works on one page. */
const SLICE_MS = 2;

/** In time slices; a slice is longer if a single step is. Rejects with what the work throws, and what `yield` rejects with. */
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
