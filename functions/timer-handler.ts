/**
 * Function that a schedule calls every minute. It checks for due work and calls the functions that do it: the
 * maintenance function for jobs with work, and the dispatcher while live tails are open. An idle store causes
 * no other calls.
 *
 *     minute                0    1    2    3    4    5   ...  60
 *     has work, 1 min       call call call call call call     call
 *     has work, 5 min       call                     call     call
 *     has none              call                              call    each job once an hour: it finds what a check missed
 *
 * The hourly calls of the jobs come in consecutive minutes, so that one instance runs them all. The minute
 * alone decides what is due, so no state is kept between calls.
 *
 * Pitfall: the calls are asynchronous. Only the maintenance function reports whether a job fails.
 */

import { MS_PER_MINUTE } from '../shared/base/model/time-units.ts';
import type { Clock } from '../shared/base/ports/clock.ts';
import type { Catalog } from '../shared/storage/catalog/catalog.ts';
import type { Schedule } from '../shared/upkeep/maintenance/maintenance.ts';
import { hasWork, isRequested } from '../shared/upkeep/maintenance/work-waiting.ts';

/** Functions that the timer calls. */
type CalledFunction = 'maintenance' | 'tail-dispatch';

interface TimerParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Schedules of all jobs. */
  readonly schedules: readonly Schedule[];
  /** Owner of the connections of live tails. */
  readonly tailOwner: string;
  /** Invokes a function asynchronously. Absent if the stack does not have the function. */
  readonly calls: Readonly<Partial<Record<CalledFunction, (event: object) => Promise<void>>>>;
  readonly log: { warn(fields: object, message: string): void };
}

interface TimerResult {
  /** Called jobs, and `tail-dispatch`. */
  readonly called: readonly string[];
}

/** Event of the schedule, with its time in RFC 3339. */
export interface TimerEvent {
  readonly time?: unknown;
}

/** Each job runs once an hour even if no work is found. */
const SWEEP_MINUTES = 60;

/** Throws an AggregateError after all calls if one failed. The next minute retries. */
export function createTimer(parts: TimerParts): (event: unknown) => Promise<TimerResult> {
  const { catalog, clock, schedules, tailOwner, calls, log } = parts;
  return async event => {
    const minute = Math.floor(timeOf(event, clock.nowMs()) / MS_PER_MINUTE);
    const due: [name: string, called: CalledFunction, event: object][] = [];
    await Promise.all([
      ...schedules.map(async (schedule, i) => {
        if (await isDue(schedule, minute, i)) due.push([schedule.job, 'maintenance', { job: schedule.job }]);
      }),
      seen('tails', async () => {
        const tenants = await catalog.subscriptions.tenantsOf(tailOwner);
        return tenants.length > 0;
      }).then(isTailed => {
        if (isTailed) due.push(['tail-dispatch', 'tail-dispatch', {}]);
      }),
    ]);
    const able = due.filter(([, called]) => calls[called] !== undefined);
    const ends = await Promise.allSettled(able.map(([, called, sent]) => calls[called]?.(sent)));
    const failures = ends.filter(end => end.status === 'rejected').map(({ reason }) => reason as unknown);
    if (failures.length > 0) throw new AggregateError(failures, 'invoking functions failed');
    return { called: able.map(([name]) => name).sort() };
  };

  /** @param offset index of the job, which spreads the hourly calls over minutes */
  async function isDue({ job, everyMs }: Schedule, minute: number, offset: number): Promise<boolean> {
    const every = Math.max(1, Math.round(everyMs / MS_PER_MINUTE));
    const sweep = every * Math.ceil(SWEEP_MINUTES / every);
    if (minute % sweep === offset % sweep) return true;
    if (minute % every !== 0) return seen(job, () => isRequested(job, parts));
    return seen(job, () => hasWork(job, parts));
  }

  /** Returns true if the check fails: the job itself then reports the problem with the table. */
  async function seen(what: string, look: () => Promise<boolean>): Promise<boolean> {
    try {
      return await look();
    } catch (error) {
      log.warn({ what, err: error }, 'checking for work failed; calling the job');
      return true;
    }
  }
}

/** Falls back to the current time if the event has no valid time. */
function timeOf(event: unknown, nowMs: number): number {
  const { time } = (event ?? {}) as TimerEvent;
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? nowMs : ms;
}
