/**
 * Checks with a few small reads whether a job has work, for a timer that pays for each run. Regular runs find
 * what these checks miss, so a check may be wrong for a while, but must be cheap.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { FlushRequest } from './flush-request.ts';
import { SyncState } from './sync-state.ts';

interface WorkParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** Days with pushes that are not compacted or indexed finally. */
async function hasBacklog({ catalog }: WorkParts): Promise<boolean> {
  for await (const _ of catalog.outstanding.list()) return true;
  return false;
}

const LOOKS: Readonly<Record<string, (parts: WorkParts) => Promise<boolean>>> = {
  async compaction(parts) {
    return (await new FlushRequest(parts).pending()) !== undefined || hasBacklog(parts);
  },
  async 'index-sync'(parts) {
    return (await isRequested('index-sync', parts)) || hasBacklog(parts);
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
  // Queries hide expired entries, so their removal is not urgent.
  retention: async () => false,
};

/**
 * Returns whether there is work when the job is due. Throws what the table throws. An unknown job always has
 * work.
 */
export async function hasWork(job: string, parts: WorkParts): Promise<boolean> {
  return (await LOOKS[job]?.(parts)) ?? true;
}

/**
 * Returns whether a run was requested, so that it must start before it is due. Throws what the table throws.
 */
export async function isRequested(job: string, parts: WorkParts): Promise<boolean> {
  return job === 'index-sync' && (await new SyncState(parts).status()).inProgress;
}
