/**
 * Counts the memory of columns while a push is decoded. Four million short lines take 230 MB of columns, and pushes are decoded side by
 * side: what they grow by is granted before they may go on.
 *
 * A step of a decoder is synchronous, so whoever runs it knows that what columns grew by meanwhile is of this push.
 */
import type { Pace, Steps } from '../../base/model/steps.ts';
import { runPaced } from '../../base/model/steps.ts';
import type { HeldBytes } from './push-budget.ts';

let grownBytes = 0;

/** Columns have grown by so much. They double: it is counted twice, so that the next time is granted before it comes. */
export function noteGrowth(bytes: number): void {
  grownBytes += 2 * bytes;
}

export interface CountedWork<T> {
  readonly result: T;
  /** What of `held` is for columns. */
  readonly columnBytes: number;
}

/** As `runPaced`; rejects with NoRoomError where `held` has no room for columns. */
export async function runCounted<T>(steps: Steps<T>, pace: Pace, held: HeldBytes): Promise<CountedWork<T>> {
  let columnBytes = 0;
  let wanted = 0;
  function* counted(): Steps<T> {
    try {
      for (;;) {
        grownBytes = 0;
        const { done, value } = steps.next();
        wanted += grownBytes;
        if (done) return value;
        yield;
      }
    } finally {
      steps.return(undefined as never);
    }
  }
  const countedPace: Pace = {
    resume: () => pace.resume(),
    due: () => wanted > 0 || pace.due(),
    async yieldIfDue() {
      if (wanted > 0) {
        const granted = held.take(wanted);
        columnBytes += wanted;
        wanted = 0;
        if (granted !== undefined) {
          pace.pause();
          await granted;
          pace.resume();
        }
      }
      await pace.yieldIfDue();
    },
    pause: () => pace.pause(),
  };
  const result = await runPaced(counted(), countedPace);
  return { result, columnBytes };
}
