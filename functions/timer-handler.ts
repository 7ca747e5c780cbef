/**
 * The one function that a schedule calls each minute. It looks at what is due and calls the functions that do it: jobs of the
 * maintenance function that have work, and the dispatcher while somebody tails. A store that nobody uses is not worked on.
 *
 *     minute                0    1    2    3    4    5   ...  60
 *     has work, 1 min       call call call call call call     call
 *     has work, 5 min       call                     call     call
 *     has none              call                              call    each job once an hour: it finds what a look has missed
 *
 * The hourly calls of several jobs come in minutes one after the other, so that one instance does them all.
 * What is due follows from the minute alone, so nothing is remembered from call to call.
 *
 * Pitfall: its calls do not wait. Whether a job fails is told by the maintenance function.
 */

import { MS_PER_MINUTE } from '../shared/base/model/time-units.ts';
import type { Clock } from '../shared/base/ports/clock.ts';
import type { Catalog } from '../shared/storage/catalog/catalog.ts';
import type { Schedule } from '../shared/upkeep/maintenance/maintenance.ts';
import { hasWork, isAskedFor } from '../shared/upkeep/maintenance/work-waiting.ts';

/** Whom it calls. */
export type Called = 'maintenance' | 'tail-dispatch';

export interface TimerParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Of all jobs. */
  readonly schedules: readonly Schedule[];
  /** Who holds the connections of tails. */
  readonly tailOwner: string;
  /** Calls a function without waiting for its end. Undefined for one that the stack does not have. */
  readonly calls: Readonly<Partial<Record<Called, (event: object) => Promise<void>>>>;
  readonly log: { warn(fields: object, message: string): void };
}

export interface TimerResult {
  /** Jobs that were called, and `tail-dispatch`. */
  readonly called: readonly string[];
}

/** What the schedule sends: the time that the call is for, RFC 3339. */
export interface TimerEvent {
  readonly time?: unknown;
}

/** Each job is called once an hour, work or not. */
export const SWEEP_MINUTES = 60;

/** Throws an AggregateError if a call fails, after all others: the next minute makes up for it. */
export function createTimer(parts: TimerParts): (event: unknown) => Promise<TimerResult> {
  const { catalog, clock, schedules, tailOwner, calls, log } = parts;
  return async event => {
    const minute = Math.floor(timeOf(event, clock.nowMs()) / MS_PER_MINUTE);
    const due: [name: string, called: Called, event: object][] = [];
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
    if (failures.length > 0) throw new AggregateError(failures, 'functions could not be called');
    return { called: able.map(([name]) => name).sort() };
  };

  /** @param turn of the job among those that are called once an hour */
  async function isDue({ job, everyMs }: Schedule, minute: number, turn: number): Promise<boolean> {
    const every = Math.max(1, Math.round(everyMs / MS_PER_MINUTE));
    const sweep = every * Math.ceil(SWEEP_MINUTES / every);
    if (minute % sweep === turn % sweep) return true;
    if (minute % every !== 0) return seen(job, () => isAskedFor(job, parts));
    return seen(job, () => hasWork(job, parts));
  }

  /** A look that fails says nothing: the job itself tells what is wrong with the table. */
  async function seen(what: string, look: () => Promise<boolean>): Promise<boolean> {
    try {
      return await look();
    } catch (error) {
      log.warn({ what, err: error }, 'checking for work failed; calling the job');
      return true;
    }
  }
}

/** Without a time, or with one that is none, it is now. */
function timeOf(event: unknown, nowMs: number): number {
  const { time } = (event ?? {}) as TimerEvent;
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? nowMs : ms;
}
