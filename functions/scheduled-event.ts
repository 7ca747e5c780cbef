/**
 * The event that EventBridge Scheduler sends, `{"job": "compaction"}`, and the run that it stands for. The same tick as the
 * timer of one machine gives; events that come twice, late or never harm nothing (shared/upkeep/maintenance/jobs.ts).
 *
 *     start                                      -60 s           -10 s       end of the function
 *     |--------------- merges begin ----------------|--- the last ends ---|--- cut ---|
 *
 * What a reader would get wrong: nobody reads the result. What fails in part is logged, and the next tick finds what is
 * left; the invocation fails only where all of it went wrong, or alarms would ring for what cures itself.
 */

import type { Clock } from '../shared/base/ports/clock.ts';
import type { Log } from '../shared/base/runtime/log.ts';
import { hasFailed, type Jobs } from '../shared/upkeep/maintenance/jobs.ts';
import { logRun } from '../shared/upkeep/maintenance/log-run.ts';
import type { LambdaContext } from './lambda-event.ts';

export interface ScheduledEvent {
  readonly job: string;
}

/** What the invocation returns: for whoever calls it by hand. */
export interface ScheduledResult {
  readonly job: string;
  /** False: there is work left. */
  readonly done: boolean;
  readonly figures: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

export type ScheduledHandler = (event: unknown, context: LambdaContext) => Promise<ScheduledResult>;

/** Before the end of the function nothing new begins; a merge that takes longer is done again by a later run. */
const LAST_START_BEFORE_MS = 60_000;
/** What still runs then is cut, so that it gives its leases back instead of leaving them to expire. */
const CUT_BEFORE_MS = 10_000;
const NO_EVENT = 'this function takes {"job": NAME} or events of an API Gateway HTTP API';

export interface ScheduledOptions {
  readonly jobs: Jobs;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
}

/** Throws where the event names no job, and where a run achieved nothing because all of it failed. */
export function createScheduledHandler({ jobs, clock, log }: ScheduledOptions): ScheduledHandler {
  return async (event, context) => {
    const name = jobOf(event);
    const remainingMs = context.getRemainingTimeInMillis();
    const cutting = new AbortController();
    const cut = () => cutting.abort(new DOMException('the time of the function is up', 'TimeoutError'));
    const timer = setTimeout(cut, Math.max(0, remainingMs - CUT_BEFORE_MS));
    try {
      const untilMs = clock.nowMs() + remainingMs - LAST_START_BEFORE_MS;
      const runs = await jobs.tick(name, { untilMs, signal: cutting.signal });
      for (const run of runs) logRun(log, run);
      const last = runs[runs.length - 1];
      if (hasFailed(last)) throw new Error(`the job ${name} failed: ${last.failures[0]}`);
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
