/** The scheduled job that deletes unreferenced objects after their grace period and, once a day, orphans. */

import { messageOf } from '../../base/model/errors.ts';
import { type CollectorParts, collectGarbage } from '../compaction/collector.ts';
import { walkForOrphans } from '../compaction/orphan-walk.ts';
import type { Job, JobOutcome } from './jobs.ts';

interface CollectionJobParts extends CollectorParts {
  /**
   * Removes deleted rows from the log of the table. Small chunks are stored only in the table and leave no
   * object to delete, so every run calls it. Returns false if it could not run now.
   */
  readonly foldTable?: () => Promise<boolean>;
  readonly everyMs: number;
}

export function collectionJob(parts: CollectionJobParts): Job {
  return {
    name: 'collection',
    everyMs: parts.everyMs,
    async run(bounds): Promise<JobOutcome> {
      const garbage = await collectGarbage(parts, bounds);
      const failures: string[] = [];
      await parts.foldTable?.().catch((error: unknown) => {
        failures.push(
          `deleted bytes may still be in the write-ahead log of the catalog: ${messageOf(error)}`,
        );
      });
      const orphans = garbage.done ? await walkForOrphans(parts, bounds) : undefined;
      return {
        done: garbage.done,
        succeeded: 1,
        figures: {
          deleted: garbage.deleted,
          orphans: orphans?.deleted.length ?? 0,
          looked: orphans?.looked ?? 0,
        },
        failures: [
          ...failures,
          ...(orphans?.unreadable ?? []).map(day => `records of ${day} cannot be read`),
          ...(orphans === undefined || orphans.doubtful === 0 ? [] : [doubtOf(orphans.doubtful)]),
        ],
      };
    },
  };
}

function doubtOf(objects: number): string {
  return (
    `${objects} objects have no record, more than have one, and were not deleted: the catalog may have lost records. ` +
    'Run logboom doctor; logboom doctor --rebuild-catalog adds the records'
  );
}
