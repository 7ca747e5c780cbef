/** Request for the next page of a list of rows. */
import { type LogRow, lastOfOneTime } from './rows.ts';

export const PAGE_ENTRIES = 1000;
/** The default of `max_entries_limit_per_query`. */
export const MAX_PAGE_ENTRIES = 5000;

export interface LogPageRequest {
  /** Unix nanoseconds; the start is inclusive, the end exclusive. */
  readonly startNs: string;
  readonly endNs: string;
  readonly limit: number;
}

/**
 * Next page: starts again at the timestamp of the last row, and requests as many more entries as are known at
 * that timestamp. `undefined` if more entries share it than one request returns, because then no request can
 * advance.
 */
export function nextPage(
  rows: readonly LogRow[],
  range: Pick<LogPageRequest, 'startNs' | 'endNs'>,
  newestFirst: boolean,
  [pageEntries, maxEntries] = [PAGE_ENTRIES, MAX_PAGE_ENTRIES],
): LogPageRequest | undefined {
  const last = rows.at(-1);
  if (last === undefined) return { ...range, limit: pageEntries };
  const known = lastOfOneTime(rows);
  if (known >= maxEntries) return undefined;
  const limit = Math.min(pageEntries + known, maxEntries);
  return newestFirst
    ? { ...range, endNs: `${BigInt(last.ns) + 1n}`, limit }
    : { ...range, startNs: last.ns, limit };
}
