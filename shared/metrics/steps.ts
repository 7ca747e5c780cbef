/**
 * Work in small steps, so that whoever runs it decides what happens in between: 60,000 series of 360 instants are two seconds of
 * work, in which a thread that takes pushes must do other things too. Functions that go through all series of a matrix are
 * generators, which yield once a series or so. A step costs some 0.1 us through the nodes of a tree, so loops with little to do for
 * each series yield once for several (MEMBERS_A_STEP), and loops over cells are functions of their own, which V8 makes faster.
 */

/** What is left to do, and what it comes to. Throws in `next` what the work throws. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** All of it at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

export interface Turns {
  nowMs(): number;
  /** Lets others work, after a turn that began at `startedMs`. Rejects where the work is not wanted any more. */
  rest(startedMs: number): Promise<void>;
}

/** Of a loop with a few hundred nanoseconds for each. */
export const MEMBERS_A_STEP = 32;

/** About what a scan works on one page. */
const TURN_MS = 2;

/** Turn by turn; a turn is longer where a single step is. Rejects with what the work throws, and what `rest` rejects with. */
export async function inTurns<T>(steps: Steps<T>, turns: Turns): Promise<T> {
  let startedMs = turns.nowMs();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.nowMs() - startedMs < TURN_MS) continue;
    await turns.rest(startedMs);
    startedMs = turns.nowMs();
  }
}
