/**
 * Long work in small steps, so that whoever runs it decides what else a thread does in between. A function that may work for more than
 * a few milliseconds is a generator, which yields after each bounded piece: a fraction of a millisecond. It holds no clock. A runner
 * looks at the clock between the steps, and ends the time slice when it has been long enough.
 *
 *     steps   | | | | | | | |         | | | |
 *     slices  |------------|  others  |-----|
 *
 * Pitfall: between two steps anything may happen. State that other work of the thread shares (scratch objects, memory of a kernel)
 * must not be in use across a `yield`.
 */

/** What is left to do, and what it comes to. Throws in `next` what the work throws. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The time slices of one piece of work. */
export interface Pace {
  /** The work begins, or goes on after it waited for something: so does a time slice. */
  resume(): void;
  /** The time slice has been long enough. */
  due(): boolean;
  /** If the time slice has been long enough, ends it, and resolves when the next one has begun. */
  yieldIfDue(): Promise<void>;
  /** The work waits for something, or has ended: so has the time slice. */
  pause(): void;
}

/** Never due: for work that nobody else waits for, as in tests. */
export const UNPACED: Pace = Object.freeze({
  resume: () => undefined,
  due: () => false,
  yieldIfDue: async () => undefined,
  pause: () => undefined,
});

/** All steps, one after the other. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** All steps, in time slices. Rejects with what the work throws, and what the pace rejects with. */
export async function runPaced<T>(steps: Steps<T>, pace: Pace): Promise<T> {
  pace.resume();
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (pace.due()) await pace.yieldIfDue();
    }
  } finally {
    // What it holds is released where it was not run to its end.
    steps.return(undefined as never);
    pace.pause();
  }
}
