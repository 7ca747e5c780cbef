/** The scheduled job that deletes objects nobody needs: those whose time has come, and once a day a look for orphans. */
import { type CollectorParts, collectGarbage } from '../compaction/collector.ts';
import { walkForOrphans } from '../compaction/orphan-walk.ts';
import type { Job, JobOutcome } from './jobs.ts';

export function collectionJob(parts: CollectorParts & { readonly everyMs: number }): Job {
  return {
    name: 'collection',
    everyMs: parts.everyMs,
    async run(bounds): Promise<JobOutcome> {
      const garbage = await collectGarbage(parts, bounds);
      const orphans = garbage.done ? await walkForOrphans(parts, bounds) : undefined;
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
