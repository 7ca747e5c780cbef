/**
 * Whether a job has work, by a few small reads: for a timer that pays for each run that it calls. What is not seen here is found by
 * the runs that come without work, so a look may be wrong for a while, but must not be expensive.
 */
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../ports/clock.ts';
import { FlushRequest } from './flush-request.ts';
import { SyncState } from './sync-state.ts';

export type Work = 'none' | 'waiting' | 'asked-for';

export interface WorkParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** Days with pushes that are not packed or indexed for good. */
async function hasBacklog({ catalog }: WorkParts): Promise<boolean> {
  for await (const _ of catalog.outstanding.list()) return true;
  return false;
}

const LOOKS: Readonly<Record<string, (parts: WorkParts) => Promise<Work>>> = {
  async compaction(parts) {
    if ((await new FlushRequest(parts).pending()) !== undefined) return 'waiting';
    return (await hasBacklog(parts)) ? 'waiting' : 'none';
  },
  async 'index-sync'(parts) {
    if ((await new SyncState(parts).status()).inProgress) return 'asked-for';
    return (await hasBacklog(parts)) ? 'waiting' : 'none';
  },
  async collection({ catalog, clock }) {
    return (await catalog.garbage.due(clock.nowMs(), 1)).length > 0 ? 'waiting' : 'none';
  },
  async deletion({ catalog }) {
    for await (const _ of catalog.deletes.tenants()) return 'waiting';
    return 'none';
  },
  async rules({ catalog }) {
    return (await catalog.ruleGroups.tenants()).length > 0 ? 'waiting' : 'none';
  },
  // Queries hide what has expired, so nobody waits for its removal.
  retention: async () => 'none',
};

/** Throws what the table throws. A job that is not known here always waits. */
export async function workOf(job: string, parts: WorkParts): Promise<Work> {
  return (await LOOKS[job]?.(parts)) ?? 'waiting';
}
