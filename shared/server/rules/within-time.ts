/** Aborts work after a timeout measured by the Clock, so that it can be tested and simulated. */
import type { Clock } from '../../base/ports/clock.ts';

interface TimeBounds {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
  /** Reason of the work's signal after the timeout. */
  readonly reason: Error;
}

export async function withinTime<T>(
  { clock, ms, signal, reason }: TimeBounds,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const late = new AbortController();
  const endMs = clock.nowMs() + ms;
  void (async () => {
    while (clock.nowMs() < endMs) {
      await clock.sleep(endMs - clock.nowMs(), done.signal);
      if (done.signal.aborted) return;
    }
    late.abort(reason);
  })().catch(() => undefined);
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    done.abort();
  }
}
