/** The scheduled job that deletes objects nobody needs: those whose time has come, and once a day a look for orphans. */
import type { Catalog } from '../catalog/catalog.ts';
import { type CollectorParts, collectGarbage, collectOrphans } from '../compaction/collector.ts';
import type { Job, JobOutcome, RunBounds } from './jobs.ts';

/** From the start of one walk through the store to the start of the next. */
const WALK_EVERY_MS = 24 * 3_600_000;
const STATE = 'orphans';

interface Walk {
  readonly startedMs: number;
  /** Key after which to go on; absent where the walk has ended. */
  readonly after?: string;
  readonly ended: boolean;
}

const NO_WALK: Walk = { startedMs: 0, ended: true };

export function collectionJob(parts: CollectorParts & { readonly everyMs: number }): Job {
  return {
    name: 'collection',
    everyMs: parts.everyMs,
    async run(bounds): Promise<JobOutcome> {
      const garbage = await collectGarbage(parts, bounds);
      const orphans = garbage.done ? await walk(parts, parts.catalog, bounds) : undefined;
      return {
        done: garbage.done,
        succeeded: 1,
        figures: {
          deleted: garbage.deleted,
          orphans: orphans?.deleted.length ?? 0,
          looked: orphans?.looked ?? 0,
        },
        failures: (orphans?.unreadable ?? []).map(day => `records of ${day} cannot be read`),
      };
    },
  };
}

/** Goes on with the walk of today. Two at once look at the same objects, which harms nothing. */
async function walk(parts: CollectorParts, { states }: Catalog, bounds: RunBounds) {
  const nowMs = parts.clock.nowMs();
  const before = await states.read(STATE, NO_WALK);
  const isDue = nowMs - before.value.startedMs >= WALK_EVERY_MS;
  if (before.value.ended && !isDue) return undefined;
  const current = before.value.ended ? { startedMs: nowMs, ended: false } : before.value;
  const report = await collectOrphans(parts, current.after, bounds);
  const ended = report.next === undefined;
  await states.replace(STATE, before, { startedMs: current.startedMs, after: report.next, ended });
  return report;
}
