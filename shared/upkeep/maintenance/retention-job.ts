/**
 * The scheduled job that removes expired entries. Queries hide entries from the moment at which they expire,
 * so the removal is not urgent, and the job does what is cheap:
 *
 * - It deletes a chunk in which everything is expired without reading it.
 * - It rewrites a partly expired chunk only when a whole day of some stream has expired: at most once for
 *   each period that rules give to streams of the chunk.
 *
 * Each run determines again what to remove, so a changed period applies to stored entries. The job remembers
 * the days that it checked only to save work.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import { LruCache } from '../../base/model/lru.ts';
import { FIRST_DAY } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { type Catalog, dayOf } from '../../storage/catalog/catalog.ts';
import type { Day } from '../../storage/catalog/day-item.ts';
import { type DayRewriterParts, noRewrites, type RewriteFigures } from '../compaction/day-rewriter.ts';
import type { Job, JobOutcome, RunBounds } from '../maintenance/jobs.ts';
import { type DayExpiry, dayExpiry, isWhollyExpired, periodsOver } from '../retention/expire-day.ts';
import { type Retention, retentionOf } from '../retention/retention.ts';

export interface RetentionJobParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly rewriter: DayRewriterParts;
  /** Default: the rewriter, on this thread. */
  readonly expiry?: DayExpiry;
  limitsOf(tenant: string): Limits;
  /** Time that objects stay after their last entry has expired and their record is deleted, ms. */
  readonly removedGraceMs: number;
  readonly everyMs: number;
}

/**
 * Maximum number of days remembered as checked, 300 bytes each. Each further day costs a read of its footers.
 */
const LOOKED_DAYS = 100_000;

interface RetentionFigures extends RewriteFigures {
  days: number;
}

export function retentionJob(parts: RetentionJobParts): Job {
  const { catalog, clock, limitsOf, everyMs, removedGraceMs, expiry = dayExpiry(parts.rewriter) } = parts;
  const looked = new LruCache<string, string>(LOOKED_DAYS);
  let first: string | undefined;
  return {
    name: 'retention',
    everyMs,
    async run(bounds): Promise<JobOutcome> {
      const figures: RetentionFigures = { ...noRewrites(), days: 0 };
      const failures: string[] = [];
      const tenants = await Array.fromAsync(catalog.tenants());
      const start = Math.max(0, first === undefined ? 0 : tenants.indexOf(first));
      first = undefined;
      let done = true;
      for (const tenant of [...tenants.slice(start), ...tenants.slice(0, start)]) {
        const retention = retentionOf(limitsOf(tenant), true);
        if (retention.shortestNs === 0n) continue;
        if (!(await removeExpired(tenant, retention, bounds, figures, failures))) {
          done = false;
          first = tenant;
          break;
        }
      }
      const succeeded = Math.max(0, Math.max(figures.days, tenants.length) - failures.length);
      return { done: done && failures.length === 0, succeeded, figures: { ...figures }, failures };
    },
  };

  /** Returns false if the time was up. */
  async function removeExpired(
    tenant: string,
    retention: Retention,
    bounds: RunBounds,
    figures: RetentionFigures,
    failures: string[],
  ): Promise<boolean> {
    const nowNs = clock.nowNs();
    for (const day of await catalog.days(tenant, FIRST_DAY, dayOf(nowNs - retention.shortestNs))) {
      if (bounds.signal.aborted || clock.nowMs() >= bounds.untilMs) return false;
      const key = `${tenant}/${day.day}`;
      const state = stateOf(day, retention, nowNs);
      if (looked.get(key) === state) continue;
      try {
        const end = await removeOfDay(tenant, day.day, retention, nowNs, bounds, figures);
        if (end === 'time') return false;
        if (end === 'done') looked.set(key, state);
      } catch (error) {
        if (bounds.signal.aborted) return false;
        failures.push(`${tenant} day ${day.day}: ${messageOf(error)}`);
      }
    }
    return true;
  }

  /** `more`: there will be more to remove as time passes. */
  async function removeOfDay(
    tenant: string,
    day: number,
    retention: Retention,
    nowNs: bigint,
    bounds: RunBounds,
    figures: RetentionFigures,
  ) {
    figures.days++;
    const isOver = periodsOver(retention, day, nowNs) > 0;
    if (!isOver) {
      const snapshot = await catalog.day(tenant, day);
      if (!snapshot?.records.some(record => isWhollyExpired(record, retention, nowNs))) return 'more';
    }
    const { definition } = retention;
    const work = { tenant, day, ...bounds, removedGraceMs, retention: definition, nowNs };
    const end = await expiry.expireDay(work, figures);
    return end === 'done' && !isOver ? 'more' : end;
  }
}

/** A key that changes when there may be more to remove from a day that is over for some period. */
function stateOf({ day, version }: Day, retention: Retention, nowNs: bigint): string {
  return `${version} ${periodsOver(retention, day, nowNs)} ${isCut(retention, day, nowNs)} ${retention.version}`;
}

/** While the longest period ends within the day, chunks expire one by one, so the key includes the time. */
function isCut({ longestNs }: Retention, day: number, nowNs: bigint): string {
  const cutNs = nowNs - longestNs;
  return longestNs > 0n && dayOf(cutNs) === day ? `${cutNs}` : '';
}
