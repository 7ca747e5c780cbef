/**
 * The status of maintenance for display: the last run of each job in any process, and the backlog. Counting
 * is limited, so that checking a store with a large backlog adds little load.
 */

import { MS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Jobs, LastRun } from './jobs.ts';

export interface JobStatus {
  readonly job: string;
  readonly everyMs: number;
  /** Undefined before the first run. */
  readonly lastRun: LastRun | undefined;
}

/** A number that may be a lower limit. */
export interface BoundedCount {
  readonly count: number;
  /** True: the count stopped, and there are at least this many. */
  readonly atLeast: boolean;
}

export interface Backlog {
  /** Days of tenants with work outstanding. A day that still receives pushes is always among them. */
  readonly days: BoundedCount;
  /** Unix ms of the oldest announcement among the counted days: how long work has waited. */
  readonly oldestAnnouncedMs: number | undefined;
  /** Lists of objects that wait to be deleted, including those in their grace period. */
  readonly garbageLists: BoundedCount;
}

export interface MaintenanceStatus {
  readonly jobs: readonly JobStatus[];
  readonly backlog: Backlog;
}

/** 20 pages of the table: a second of reading. */
export const MAX_COUNTED_DAYS = 10_000;
/** Lists of each partition. Each can have 20 KiB. */
export const MAX_COUNTED_LISTS = 250;
/** Longer than any grace period in a configuration. */
const FAR_MS = 10 * 365 * MS_PER_DAY;

interface StatusParts {
  readonly jobs: Jobs;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

export async function maintenanceStatus(parts: StatusParts): Promise<MaintenanceStatus> {
  const { jobs } = parts;
  return {
    jobs: await Promise.all(
      jobs.list.map(async ({ name, everyMs }) => ({
        job: name,
        everyMs,
        lastRun: await jobs.lastRun(name),
      })),
    ),
    backlog: await readBacklog(parts),
  };
}

async function readBacklog({ catalog, clock }: StatusParts): Promise<Backlog> {
  let count = 0;
  let atLeast = false;
  let oldestMs = Infinity;
  for await (const { writtenMs } of catalog.outstanding.list()) {
    if (count === MAX_COUNTED_DAYS) {
      atLeast = true;
      break;
    }
    count++;
    oldestMs = Math.min(oldestMs, writtenMs);
  }
  const lists = await catalog.garbage.due(clock.nowMs() + FAR_MS, MAX_COUNTED_LISTS);
  const byPartition = Map.groupBy(lists, ({ pk }) => pk);
  return {
    days: { count, atLeast },
    oldestAnnouncedMs: count === 0 ? undefined : oldestMs,
    garbageLists: {
      count: lists.length,
      atLeast: [...byPartition.values()].some(({ length }) => length >= MAX_COUNTED_LISTS),
    },
  };
}
