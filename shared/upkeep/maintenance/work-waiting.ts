/**
 * Whether a job has work, by a few small reads: for a timer that pays for each run that it calls. What is not seen here is found by
 * the runs that come without work, so a look may be wrong for a while, but must not be expensive.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { FlushRequest } from './flush-request.ts';
import { SyncState } from './sync-state.ts';

export interface WorkParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** Days with pushes that are not packed or indexed for good. */
async function hasBacklog({ catalog }: WorkParts): Promise<boolean> {
  for await (const _ of catalog.outstanding.list()) return true;
  return false;
}

const LOOKS: Readonly<Record<string, (parts: WorkParts) => Promise<boolean>>> = {
  async compaction(parts) {
    return (await new FlushRequest(parts).pending()) !== undefined || hasBacklog(parts);
  },
  async 'index-sync'(parts) {
    return (await isAskedFor('index-sync', parts)) || hasBacklog(parts);
  },
  async collection({ catalog, clock }) {
    return (await catalog.garbage.due(clock.nowMs(), 1)).length > 0;
  },
  async deletion({ catalog }) {
    for await (const _ of catalog.deletes.tenants()) return true;
    return false;
  },
  async rules({ catalog }) {
    return (await catalog.ruleGroups.tenants()).length > 0;
  },
  // Queries hide what has expired, so nobody waits for its removal.
  retention: async () => false,
};

/** Whether there is something to do when the job's time has come. Throws what the table throws. An unknown job always has work. */
export async function hasWork(job: string, parts: WorkParts): Promise<boolean> {
  return (await LOOKS[job]?.(parts)) ?? true;
}

/** Whether somebody waits for a run, so that it may not wait for its time. Throws what the table throws. */
export async function isAskedFor(job: string, parts: WorkParts): Promise<boolean> {
  return job === 'index-sync' && (await new SyncState(parts).status()).inProgress;
}
