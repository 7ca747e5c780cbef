/**
 * Runs the job of an EventBridge Scheduler event, `{"job": "compaction"}`. The event equals a tick of the
 * timer of a single-machine store. Repeated, late or lost events do no harm
 * (shared/upkeep/maintenance/jobs.ts).
 *
 *     start                                      -60 s           -10 s       end of the function
 *     |--------------- merges begin ----------------|--- the last ends ---|--- cut ---|
 *
 * Pitfall: no caller reads the result. Partial failures are logged, and the next tick continues with the
 * remaining work. The invocation fails only if all of the work failed, or temporary errors would trigger
 * alarms.
 */

import type { Clock } from '../shared/base/ports/clock.ts';
import type { Log } from '../shared/base/runtime/log.ts';
import { hasFailed, type Jobs } from '../shared/upkeep/maintenance/jobs.ts';
import { logRun } from '../shared/upkeep/maintenance/log-run.ts';
import type { LambdaContext } from './lambda-event.ts';

interface ScheduledEvent {
  readonly job: string;
}

/** Result of the invocation, for manual calls. */
interface ScheduledResult {
  readonly job: string;
  /** False if work remains. */
  readonly done: boolean;
  readonly figures: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

type ScheduledHandler = (event: unknown, context: LambdaContext) => Promise<ScheduledResult>;

/**
 * No new work starts in this time before the end of the function. A later run repeats a merge that takes
 * longer.
 */
const LAST_START_BEFORE_MS = 60_000;
/**
 * Running work is aborted at this time before the end, so that it releases its leases instead of letting them
 * expire.
 */
const CUT_BEFORE_MS = 10_000;
const NO_EVENT = 'this function accepts {"job": NAME} or events of an API Gateway HTTP API';

interface ScheduledOptions {
  readonly jobs: Jobs;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
}

/** Throws if the event names no job, or if the whole run failed. */
export function createScheduledHandler({ jobs, clock, log }: ScheduledOptions): ScheduledHandler {
  return async (event, context) => {
    const name = jobOf(event);
    const remainingMs = context.getRemainingTimeInMillis();
    const cutting = new AbortController();
    const cut = () => cutting.abort(new DOMException('the function is about to time out', 'TimeoutError'));
    const timer = setTimeout(cut, Math.max(0, remainingMs - CUT_BEFORE_MS));
    try {
      const untilMs = clock.nowMs() + remainingMs - LAST_START_BEFORE_MS;
      const runs = await jobs.tick(name, { untilMs, signal: cutting.signal });
      for (const run of runs) logRun(log, run);
      const last = runs[runs.length - 1];
      if (hasFailed(last)) throw new Error(`job ${name} failed: ${last.failures[0]}`);
      const { job, done, figures, failures } = last;
      return { job, done, figures, failures };
    } finally {
      clearTimeout(timer);
    }
  };
}

function jobOf(event: unknown): string {
  const job = (event as Partial<ScheduledEvent> | null | undefined)?.job;
  if (typeof job !== 'string') throw new Error(NO_EVENT);
  return job;
}
