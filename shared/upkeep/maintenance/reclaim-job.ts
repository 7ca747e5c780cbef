/**
 * The scheduled job that deletes replaced objects as soon as no reader needs them, where one process knows all readers. Elsewhere they
 * stay for `object_grace_period`, and `collection` deletes them.
 */

import type { ObjectReaders } from '../../base/ports/object-readers.ts';
import type { GarbageList } from '../../storage/catalog/garbage.ts';
import { type CollectorParts, deleteLists } from '../compaction/collector.ts';
import type { Job, JobOutcome } from './jobs.ts';

export interface ReclaimJobParts extends CollectorParts {
  readonly readers: ObjectReaders;
  /** Of objects that a merge replaced, ms. Those that expired have a longer one, most of which they keep. */
  readonly graceMs: number;
  /** Of `collection`: this runs as often at least. */
  readonly collectionEveryMs: number;
}

/** Two runs take what a merge replaced: the first one asks who reads, the second one finds that they have ended. */
const MAX_EVERY_MS = 10_000;
/** Lists of each partition that one run works on. */
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
      if (waiting !== undefined && (await readers.haveLeft(waiting.mark))) {
        const done = await deleteLists({ catalog, store, clock }, waiting.lists, bounds);
        ({ deleted } = done);
        // Of all lists, also where the time was up before the last: nobody reads those objects any more.
        readers.deleted(waiting.lists.flatMap(({ keys }) => keys));
        // Those that are left are found again.
        waiting = undefined;
      }
      if (waiting === undefined) {
        const lists = await catalog.garbage.due(clock.nowMs() + graceMs, LISTS_AT_ONCE);
        // Read before the mark: each of their swaps was committed by then.
        if (lists.length > 0) waiting = { lists, mark: readers.mark() };
      }
      return { done: true, succeeded: 1, figures: { deleted }, failures: [] };
    },
  };
}
