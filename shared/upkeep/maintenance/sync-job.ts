/**
 * The scheduled job that adds footers to the index objects of their days. `PUT /sync-indexes` requests it
 * too.
 *
 * Pitfall: a run is not a sync. If a sync is in progress, requested or left by a process that died, the run
 * continues it at once. Otherwise it begins one only when the interval has passed. So the next run handles a
 * request, and two runs at once make one sync.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Syncer } from '../../storage/index/syncer.ts';
import type { Job, JobOutcome, RunBounds } from './jobs.ts';
import type { SyncState } from './sync-state.ts';

interface SyncJobParts {
  readonly catalog: Catalog;
  readonly syncer: Syncer;
  readonly clock: Clock;
  readonly state: SyncState;
  readonly everyMs: number;
}

export function syncJob({ catalog, syncer, state, everyMs }: SyncJobParts): Job {
  return {
    name: 'index-sync',
    everyMs,
    isRequested: async () => (await state.status()).inProgress,
    async run(bounds): Promise<JobOutcome> {
      await state.requestIfDue(everyMs);
      const figures = { days: 0, written: 0 };
      const failures: string[] = [];
      let done = true;
      await state.work(async hold => {
        const { inProgress, lastTrigger } = await state.status();
        done = await syncAll(bounds, hold, inProgress && lastTrigger === 'manual', figures, failures);
        return done;
      });
      return { done, succeeded: figures.days - failures.length, figures, failures };
    },
  };

  async function syncAll(
    bounds: RunBounds,
    hold: () => Promise<void>,
    force: boolean,
    figures: { days: number; written: number },
    failures: string[],
  ): Promise<boolean> {
    let done = true;
    for await (const { tenant, day } of catalog.outstanding.list()) {
      if (bounds.signal.aborted) return false;
      await hold();
      figures.days++;
      try {
        const end = await syncer.syncDay({ tenant, day, force, ...bounds });
        if (end === 'synced') figures.written++;
        // A requested sync waits for a day that a merge holds. Otherwise the next sync handles that day.
        if (end === 'time' || (force && end === 'busy')) done = false;
      } catch (error) {
        failures.push(`${tenant} day ${day}: ${messageOf(error)}`);
      }
    }
    return done;
  }
}
