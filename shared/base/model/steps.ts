/**
 * Splits long work into small steps, so that its runner decides what else a thread does in between. A
 * function that may run for more than a few milliseconds is a generator. It yields after each bounded step, a
 * fraction of a millisecond. It does not read a clock. A runner reads the clock between steps, and ends the
 * time slice when it has been long enough.
 *
 *     steps   | | | | | | | |         | | | |
 *     slices  |------------|  others  |-----|
 *
 * Pitfall: any other code may run between two steps. State that other work of the thread shares (scratch
 * objects, memory of a kernel) must not be in use across a `yield`.
 */

/** Remaining steps of a computation and its result. `next` throws what the computation throws. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Time slices of one computation. */
export interface Pace {
  /** Begins a time slice, at the start of the work or after it waited for something. */
  resume(): void;
  /** Returns whether the time slice has been long enough. */
  due(): boolean;
  /** Ends the time slice if it is due, and resolves when the next one has begun. */
  yieldIfDue(): Promise<void>;
  /** Ends the time slice, at the end of the work or when it waits for something. */
  pause(): void;
}

/** Pace that is never due, for work that delays nothing else, such as in tests. */
export const UNPACED: Pace = Object.freeze({
  resume: () => undefined,
  due: () => false,
  yieldIfDue: async () => undefined,
  pause: () => undefined,
});

/** Runs all steps without a break. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs all steps in time slices. Rejects with an error of the work or of the pace. */
export async function runPaced<T>(steps: Steps<T>, pace: Pace): Promise<T> {
  pace.resume();
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (pace.due()) await pace.yieldIfDue();
    }
  } finally {
    // Runs the `finally` blocks of work that did not end, so that it releases what it holds.
    steps.return(undefined as never);
    pace.pause();
  }
}
