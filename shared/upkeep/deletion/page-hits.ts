/**
 * What requests take of pages, remembered: neither pages nor requests ever change. So only the first query after a request
 * pays for looking at lines, and a metric query that needs none reads none. It is kept by request, whatever the state of each:
 * a new request leaves the rest valid.
 */
import { lowerRow } from '../../base/model/binary-search.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { DeleteFilter } from './delete-filter.ts';
import { bytesOfFacts, factsOf, type HiddenRowStats } from './hidden-row-stats.ts';

/** About 100,000 pages without a hit, of up to 1 MiB lines each. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024;
/** Key, entry and its place in the cache. */
const ENTRY_BYTES = 160;
/** A request with its array of rows. */
const HIT_BYTES = 200;

/** What was looked for in a page, and found. */
export interface PageHits {
  /** Keys of the requests that were looked for; the same object for many pages. */
  readonly looked: ReadonlySet<string>;
  /** By key, rows ascending; requests that take nothing are left out. */
  readonly rows: ReadonlyMap<string, Uint32Array>;
  /** Of all rows that any of them takes; undefined where those are many. */
  readonly facts: HiddenRowStats | undefined;
}

/** A page that was looked at, with lines and levels. */
export interface LookedPage {
  /** Of the page, among all. */
  readonly name: string;
  readonly page: PageRows;
  /** Ns from the start of the day to what the page's times are relative to. */
  readonly base: number;
}

const NO_HITS = new Uint32Array(0);
const NO_ROWS: ReadonlyMap<string, Uint32Array> = new Map();

export class PageHitsCache {
  readonly #pages = new LruCache<string, PageHits>(MAX_CACHED_BYTES);

  get(page: string): PageHits | undefined {
    return this.#pages.get(page);
  }

  /** Keeps what was found for `looked`, of which `before` knew a part. */
  set(
    { name, page, base }: LookedPage,
    looked: ReadonlySet<string>,
    found: ReadonlyMap<DeleteFilter, Uint32Array>,
    before: PageHits | undefined,
  ): PageHits {
    let rows = NO_ROWS;
    if (found.size > 0 || (before !== undefined && before.rows.size > 0)) {
      const joined = new Map<string, Uint32Array>();
      for (const [key, ofKey] of before?.rows ?? NO_ROWS) if (looked.has(key)) joined.set(key, ofKey);
      // A copy: what was found lies in a larger array.
      for (const [{ key }, ofKey] of found) joined.set(key, ofKey.slice());
      rows = joined;
    }
    const facts = factsOf(page, base, rows.size === 0 ? NO_HITS : joinRows([...rows.values()]));
    const hits: PageHits = { looked, rows, facts };
    let bytes = ENTRY_BYTES + (facts === undefined ? 0 : bytesOfFacts(facts));
    for (const one of rows.values()) bytes += HIT_BYTES + one.byteLength;
    this.#pages.set(name, hits, bytes);
    return hits;
  }
}

/** Rows of any of the requests, ascending, each once. */
export function joinRows(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length === 1) return lists[0];
  const rows = new Set<number>();
  for (const list of lists) for (const row of list) rows.add(row);
  return Uint32Array.from(rows).sort();
}

/** From so many rows of the selection to a hidden one on, searching and moving stretches beats a look at each. */
const LONG_STRETCH = 16;

/** Takes ascending `rows` out of the ascending `selection[0..count)`, in place; how many stay. */
export function removeRows(selection: Uint32Array, count: number, rows: Uint32Array): number {
  return rows.length * LONG_STRETCH > count
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
  /** Start of the stretch that stays. */
  let from = 0;
  let at = 0;
  for (let i = 0; i < rows.length; i++) {
    at = lowerRow(selection, at, count, rows[i]);
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
