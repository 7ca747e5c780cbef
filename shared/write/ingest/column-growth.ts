/**
 * Counts the memory of columns while a push is decoded. Four million short lines take 230 MB of columns, and
 * pushes are decoded concurrently. A push continues only after its growth is granted.
 *
 * A step of a decoder is synchronous, so any growth during a step belongs to the push of that step.
 */
import type { Pace, Steps } from '../../base/model/steps.ts';
import { runPaced } from '../../base/model/steps.ts';
import type { HeldBytes } from './push-budget.ts';

let grownBytes = 0;

/**
 * Records growth of columns in bytes. Columns double, so it counts twice: the next growth is then granted in
 * advance.
 */
export function noteGrowth(bytes: number): void {
  grownBytes += 2 * bytes;
}

interface CountedWork<T> {
  readonly result: T;
  /** Bytes of `held` that are for columns. */
  readonly columnBytes: number;
}

/** Works as `runPaced`. Rejects with PushMemoryError if `held` has no memory left for columns. */
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
