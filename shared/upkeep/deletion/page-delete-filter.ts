/**
 * Hides the rows of one page that delete requests cover. Requests without stages are cuts: row ranges found
 * by time. For other requests lines are searched, unless the result is cached (`PageHitsCache`).
 *
 * A query calls `wants` when it reads the page, and then `hide` on rows with these columns. If its own
 * filters left few rows, only those are searched. Otherwise the whole page is searched, and the result is
 * cached.
 */

import { lowerBound } from '../../base/model/binary-search.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import { LEVEL_NAME, type PageMeta, type RunMeta } from '../../storage/chunk/format.ts';
import type { PageWants } from '../../storage/chunk/reader.ts';
import type { ApplicableRequestCache } from './applicable-requests.ts';
import type { LineDeleteFilters, RequestTimeBounds } from './covered-rows.ts';
import type { HiddenRowStats } from './hidden-row-stats.ts';
import { type PageHits, type PageHitsCache, removeRows, unionOfRows } from './page-hits.ts';
import type { HiddenRow } from './shown-counts.ts';

export interface PageToFilter {
  readonly page: PageMeta;
  /** Streams of the chunk. Runs refer to them by index. */
  readonly streams: readonly Stream[];
  /** Runs of the page that the query needs. */
  readonly runs: readonly RunMeta[];
}

/**
 * Rows of one run that are hidden if their time is in `from..to`, both inclusive. Times are relative to the
 * page.
 */
export interface Cut {
  readonly firstRow: number;
  readonly rows: number;
  readonly from: number;
  readonly to: number;
}

interface PageDeleteFilterParts {
  /** Globally unique name of the page; '' disables caching. */
  readonly name: string;
  /** Ns from the start of the day to the zero of the page's times. */
  readonly base: number;
  readonly cuts: readonly Cut[];
  /** Requests with stages, which need the lines. */
  readonly lines: LineDeleteFilters | undefined;
  readonly times: RequestTimeBounds;
  readonly hits: PageHitsCache;
  readonly sets: Pick<ApplicableRequestCache, 'linesOf'>;
}

/** Share of a page's rows below which searching only these rows costs less than searching the whole page. */
const FEW_ROWS = 1 / 8;

export class PageDeleteFilter {
  readonly #parts: PageDeleteFilterParts;
  /** Rows that requests with stages cover; `undefined` if unknown. */
  #covered: Uint32Array | undefined;
  /** Stats of these rows and of rows that other requests cover, if known. */
  #stats: HiddenRowStats | undefined;

  constructor(parts: PageDeleteFilterParts) {
    this.#parts = parts;
    if (parts.lines === undefined) this.#covered = NO_ROWS;
  }

  /** True if it is known, without reading lines, that no row in the range is hidden. */
  showsAll(firstRow: number, rows: number): boolean {
    if (!this.#isKnown || this.#parts.cuts.some(cut => cut.firstRow === firstRow)) return false;
    const covered = this.#covered!;
    const next = lowerBound(covered, 0, covered.length, firstRow);
    return next === covered.length || covered[next] >= firstRow + rows;
  }

  /**
   * Rows from `firstRow` on that requests with stages hide, as their footer counted them; `undefined` if this
   * is not known without reading lines. Cuts are not included.
   */
  hiddenIn(firstRow: number, rows: number): readonly HiddenRow[] | undefined {
    if (!this.#isKnown) return undefined;
    const covered = this.#covered!;
    const stats = this.#stats;
    const hidden: HiddenRow[] = [];
    for (
      let i = lowerBound(covered, 0, covered.length, firstRow);
      i < covered.length && covered[i] < firstRow + rows;
      i++
    ) {
      if (stats === undefined) return undefined;
      const at = lowerBound(stats.rows, 0, stats.rows.length, covered[i]);
      const { minutes, levels, lineBytes } = stats;
      hidden.push({ minute: minutes[at], level: levels[at], lineBytes: lineBytes[at] });
    }
    return hidden;
  }

  /** Columns that a page must have for `hide`: `wants` if lines need not be read. */
  wants(wants: PageWants): PageWants {
    if (this.#isKnown) return wants;
    const { readsMetadata } = this.#parts.lines!;
    const { metadata } = wants;
    if (readsMetadata || metadata === 'all') return { lines: 'bytes', metadata: 'all' };
    return { lines: 'bytes', metadata: new Set([...metadata, LEVEL_NAME]) };
  }

  /** Removes the hidden rows from `selection[0..count)`. Returns the number of remaining rows. */
  hide(rows: PageRows, selection: Uint32Array, count: number): number {
    const { cuts } = this.#parts;
    const left = cuts.length === 0 ? count : removeCuts(rows.times, selection, count, cuts);
    if (left === 0) return 0;
    if (!this.#isKnown && this.#parts.name !== '' && left >= rows.rows * FEW_ROWS) this.#search(rows);
    if (this.#covered !== undefined) return removeRows(selection, left, this.#covered);
    const { lines, base, times } = this.#parts;
    const found = lines!.find(rows, base, times, selection, left);
    return found.size === 0 ? left : removeRows(selection, left, unionOfRows([...found.values()]));
  }

  /** Looks up the cache until it has the page. Then the result stays valid for this query. */
  get #isKnown(): boolean {
    if (this.#covered !== undefined) return true;
    const { name, lines, hits } = this.#parts;
    const known = name === '' ? undefined : hits.get(name);
    if (known === undefined || lines!.missingIn(known.searched).length > 0) return false;
    this.#use(known);
    return true;
  }

  /** Searches the whole page for requests without a cached result. */
  #search(rows: PageRows): void {
    const { name, lines, base, times, hits, sets } = this.#parts;
    const before = hits.get(name);
    const asked = before === undefined ? lines! : sets.linesOf(lines!.missingIn(before.searched));
    const all = Uint32Array.from({ length: rows.rows }, (_, row) => row);
    const found = asked.find(rows, base, times, all, all.length);
    this.#use(hits.set({ name, page: rows, base }, lines!.keys, found, before));
  }

  #use(hits: PageHits): void {
    this.#covered = rowsCoveredBy(this.#parts.lines!, hits);
    this.#stats = hits.stats;
  }
}

const NO_ROWS = new Uint32Array(0);

function rowsCoveredBy({ keys }: LineDeleteFilters, { rows }: PageHits): Uint32Array {
  if (rows.size === 0) return NO_ROWS;
  const lists: Uint32Array[] = [];
  for (const [key, list] of rows) if (keys.has(key)) lists.push(list);
  return lists.length === 0 ? NO_ROWS : unionOfRows(lists);
}

/**
 * Removes cut rows from the selection. Rows of a run ascend by time, and cuts are in the order of their runs.
 */
function removeCuts(
  times: Float64Array,
  selection: Uint32Array,
  count: number,
  cuts: readonly Cut[],
): number {
  const ranges = cuts
    .map(({ firstRow, rows, from, to }) => ({
      first: lowerBound(times, firstRow, firstRow + rows, from),
      end: lowerBound(times, firstRow, firstRow + rows, to + 1),
    }))
    .sort((a, b) => a.first - b.first);
  let kept = 0;
  let next = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    while (next < ranges.length && ranges[next].end <= row) next++;
    // An earlier range may end later, so it stays active until its end.
    let isCut = false;
    for (let s = next; s < ranges.length && ranges[s].first <= row && !isCut; s++)
      isCut = row < ranges[s].end;
    if (!isCut) selection[kept++] = row;
  }
  return kept;
}
