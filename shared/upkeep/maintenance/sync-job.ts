/**
 * The scheduled job that folds footers into the index objects of their days; also what `PUT /sync-indexes` asks for.
 *
 * What a reader would get wrong: a run is no sync. Where one is in progress, by request or left by a process that died,
 * the run goes on with it at once; otherwise it begins one only when the time between two has passed. So a request is done
 * by whichever run comes next, and a run that comes twice syncs once.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Syncer } from '../../storage/index/syncer.ts';
import type { Job, JobOutcome, RunBounds } from './jobs.ts';
import type { SyncState } from './sync-state.ts';

export interface SyncJobParts {
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
    isAskedFor: async () => (await state.status()).inProgress,
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
        // Somebody who asked for it waits for a day that a merge holds; otherwise the next sync takes it.
        if (end === 'time' || (force && end === 'busy')) done = false;
      } catch (error) {
        failures.push(`${tenant} day ${day}: ${messageOf(error)}`);
      }
    }
    return done;
  }
}
