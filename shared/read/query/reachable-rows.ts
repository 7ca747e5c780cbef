/**
 * Drops rows of a page that cannot be in the response of a log query, before their lines are unpacked and
 * their entries are created. Rows are ascending by time within a run, so for the newest entries every row of
 * a page would come before those found so far.
 */
import type { PageRows } from '../../base/model/page.ts';
import type { PlannedPage } from './day-plan.ts';
import type { LogCollector } from './log-collector.ts';

/**
 * Filters `selection[0..count)` in place and order, and returns the number of rows left. Rows of equal times
 * stay together, because only the collector can decide between them.
 *
 * @param keepsRows Whether no stage and no delete filter drops rows: only the first `limit` rows of the page
 *   can then be in the response
 */
export function keepReachable(
  { limit, backward, bound }: Pick<LogCollector, 'limit' | 'backward' | 'bound'>,
  rows: Pick<PageRows, 'times'>,
  {
    page: { base },
    first,
    last,
  }: Pick<PlannedPage, 'first' | 'last'> & { readonly page: { readonly base: number } },
  selection: Uint32Array,
  count: number,
  keepsRows: boolean,
): number {
  let left = count;
  // Times are decoded only if a row may be dropped: a query whose line filter rejects all lines needs none.
  if (bound !== undefined && (backward ? first < bound : last > bound)) {
    left = keepUpTo(rows.times, selection, left, bound - base, backward);
  }
  if (!keepsRows || left <= limit || limit === 0) return left;
  const { times } = rows;
  const ascending = new Float64Array(left);
  for (let i = 0; i < left; i++) ascending[i] = times[selection[i]];
  ascending.sort();
  return keepUpTo(times, selection, left, ascending[backward ? left - limit : limit - 1], backward);
}

/** Keeps rows that do not come after the time, in the direction of the query. */
function keepUpTo(
  times: Float64Array,
  selection: Uint32Array,
  count: number,
  time: number,
  backward: boolean,
): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    if (backward ? times[row] >= time : times[row] <= time) selection[kept++] = row;
  }
  return kept;
}
