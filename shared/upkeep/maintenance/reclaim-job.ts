/**
 * The scheduled job that deletes replaced objects as soon as no reader needs them, if one process knows all
 * readers. In other deployments, they stay for `object_grace_period`, and `collection` deletes them.
 */

import type { ObjectReaders } from '../../base/ports/object-readers.ts';
import type { GarbageList } from '../../storage/catalog/garbage.ts';
import { type CollectorParts, deleteLists } from '../compaction/collector.ts';
import type { Job, JobOutcome } from './jobs.ts';

interface ReclaimJobParts extends CollectorParts {
  readonly readers: ObjectReaders;
  /**
   * Grace period of objects that a merge replaced, ms. Expired objects have a longer one, and keep most of
   * it.
   */
  readonly graceMs: number;
  /** Interval of `collection`. This job runs at least as often. */
  readonly collectionEveryMs: number;
}

/**
 * Deleting what a merge replaced takes two runs: the first marks the current readers, the second finds that
 * they have ended. The second one is at once, the first one after this time unless a merge kicks it.
 */
const MAX_EVERY_MS = 10_000;
/** Maximum number of lists of each partition per run. */
const LISTS_AT_ONCE = 100;

export function reclaimJob({
  catalog,
  store,
  clock,
  readers,
  graceMs,
  collectionEveryMs,
}: ReclaimJobParts): Job {
  let waiting: { readonly lists: readonly GarbageList[]; readonly mark: number } | undefined;
  return {
    name: 'reclaim',
    everyMs: Math.min(MAX_EVERY_MS, collectionEveryMs),
    isUrgent: true,
    async run(bounds): Promise<JobOutcome> {
      let deleted = 0;
      let areReadersLeft = false;
      if (waiting !== undefined && (await readers.haveLeft(waiting.mark))) {
        const done = await deleteLists({ catalog, store, clock }, waiting.lists, bounds);
        ({ deleted } = done);
        // Applies to all lists, also if the time was up before the last: nothing reads those objects any more.
        readers.replaced(keysOf(waiting.lists));
        // The next run finds the remaining lists again.
        waiting = undefined;
      } else areReadersLeft = waiting !== undefined;
      if (waiting === undefined) {
        const lists = await catalog.garbage.due(clock.nowMs() + graceMs, LISTS_AT_ONCE);
        // Read before the mark, so each of their swaps was committed by then.
        if (lists.length > 0) {
          waiting = { lists, mark: readers.mark() };
          readers.replaced(keysOf(lists));
        }
      }
      // Readers may stay for long, for example a backup.
      const done = waiting === undefined || areReadersLeft;
      return { done, succeeded: 1, figures: { deleted }, failures: [] };
    },
  };
}

function keysOf(lists: readonly GarbageList[]): string[] {
  return lists.flatMap(({ keys }) => keys);
}
