/**
 * Caches the rows of pages that requests cover. Pages and requests never change. So only the first query
 * after a request pays for searching lines, and a metric query that needs no lines reads none. Entries are
 * per request, whatever its state, so a new request leaves the others valid.
 */
import { lowerBound } from '../../base/model/binary-search.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { DeleteFilter } from './delete-filter.ts';
import { bytesOfStats, type HiddenRowStats, hiddenRowStats } from './hidden-row-stats.ts';

/** About 100,000 pages without a match, with up to 1 MiB of lines each. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024;
/** Key, value and overhead of a cache entry. */
const ENTRY_BYTES = 160;
/** A request with its array of rows. */
const HIT_BYTES = 200;

/** Search result of a page. */
export interface PageHits {
  /** Keys of the searched requests. Many pages share the same object. */
  readonly searched: ReadonlySet<string>;
  /** Ascending rows by key. Omits requests that cover no row. */
  readonly rows: ReadonlyMap<string, Uint32Array>;
  /** Stats of all covered rows; `undefined` if they are too many. */
  readonly stats: HiddenRowStats | undefined;
}

/** A page with lines and levels that was searched. */
interface SearchedPage {
  /** Globally unique name of the page. */
  readonly name: string;
  readonly page: PageRows;
  /** Ns from the start of the day to the zero of the page's times. */
  readonly base: number;
}

const NO_HITS = new Uint32Array(0);
const NO_ROWS: ReadonlyMap<string, Uint32Array> = new Map();

export class PageHitsCache {
  readonly #pages = new LruCache<string, PageHits>(MAX_CACHED_BYTES);

  get(page: string): PageHits | undefined {
    return this.#pages.get(page);
  }

  /** Caches the result for `searched`, of which `before` contained a part. */
  set(
    { name, page, base }: SearchedPage,
    searched: ReadonlySet<string>,
    found: ReadonlyMap<DeleteFilter, Uint32Array>,
    before: PageHits | undefined,
  ): PageHits {
    let rows = NO_ROWS;
    if (found.size > 0 || (before !== undefined && before.rows.size > 0)) {
      const joined = new Map<string, Uint32Array>();
      for (const [key, ofKey] of before?.rows ?? NO_ROWS) if (searched.has(key)) joined.set(key, ofKey);
      // Copied, because the result is a view of a larger array.
      for (const [{ key }, ofKey] of found) joined.set(key, ofKey.slice());
      rows = joined;
    }
    const stats = hiddenRowStats(page, base, rows.size === 0 ? NO_HITS : unionOfRows([...rows.values()]));
    const hits: PageHits = { searched, rows, stats };
    let bytes = ENTRY_BYTES + (stats === undefined ? 0 : bytesOfStats(stats));
    for (const one of rows.values()) bytes += HIT_BYTES + one.byteLength;
    this.#pages.set(name, hits, bytes);
    return hits;
  }
}

/** Rows of any of the requests, ascending, without duplicates. */
export function unionOfRows(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length === 1) return lists[0];
  const rows = new Set<number>();
  for (const list of lists) for (const row of list) rows.add(row);
  return Uint32Array.from(rows).sort();
}

/**
 * From this number of selected rows per hidden one, searching and moving ranges is faster than checking each
 * row.
 */
const LONG_RANGE = 16;

/**
 * Removes ascending `rows` from the ascending `selection[0..count)` in place. Returns the number of remaining
 * rows.
 */
export function removeRows(selection: Uint32Array, count: number, rows: Uint32Array): number {
  return rows.length * LONG_RANGE > count
    ? removeMany(selection, count, rows)
    : removeFew(selection, count, rows);
}

function removeMany(selection: Uint32Array, count: number, rows: Uint32Array): number {
  let kept = 0;
  let next = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    while (next < rows.length && rows[next] < row) next++;
    if (next === rows.length) {
      selection.copyWithin(kept, i, count);
      return kept + count - i;
    }
    if (rows[next] !== row) selection[kept++] = row;
  }
  return kept;
}

function removeFew(selection: Uint32Array, count: number, rows: Uint32Array): number {
  let kept = 0;
  /** Start of the range that remains. */
  let from = 0;
  let at = 0;
  for (let i = 0; i < rows.length; i++) {
    at = lowerBound(selection, at, count, rows[i]);
    if (at === count) break;
    if (selection[at] !== rows[i]) continue;
    if (kept !== from) selection.copyWithin(kept, from, at);
    kept += at - from;
    from = ++at;
  }
  if (kept === from) return count;
  selection.copyWithin(kept, from, count);
  return kept + count - from;
}
