/**
 * What delete requests hide in one page. Requests without stages are cuts: stretches of rows, found by their times. For
 * the others lines are looked at, unless it is known from before what they take (`PageHitsCache`).
 *
 * A query asks `wants` when it reads the page, and then `hide` on rows with these columns. Where its own filters left few
 * rows, only those are looked at; else the whole page is, so that it is known for good.
 */

import { lowerBound, lowerRow } from '../../base/model/binary-search.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import { LEVEL_NAME, type PageMeta, type RunMeta } from '../../storage/chunk/format.ts';
import type { PageWants } from '../../storage/chunk/reader.ts';
import type { ApplicableRequestCache } from './applicable-requests.ts';
import type { LineMasks, MaskTimes } from './covered-rows.ts';
import type { HiddenRowStats } from './hidden-row-stats.ts';
import { joinRows, type PageHits, type PageHitsCache, removeRows } from './page-hits.ts';
import type { HiddenRow } from './shown-counts.ts';

export interface PageToFilter {
  readonly page: PageMeta;
  /** Of the chunk; runs name them by place. */
  readonly streams: readonly Stream[];
  /** The runs that matter, of the page. */
  readonly runs: readonly RunMeta[];
}

/** Rows of one run that are hidden where their time is in `from..to`, both inclusive; times are the page's. */
export interface Cut {
  readonly firstRow: number;
  readonly rows: number;
  readonly from: number;
  readonly to: number;
}

export interface PageMaskParts {
  /** Of the page, among all; '' where nothing is to be remembered. */
  readonly name: string;
  /** Ns from the start of the day to what the page's times are relative to. */
  readonly base: number;
  readonly cuts: readonly Cut[];
  /** Requests for which lines are looked at. */
  readonly lines: LineMasks | undefined;
  readonly times: MaskTimes;
  readonly hits: PageHitsCache;
  readonly sets: Pick<ApplicableRequestCache, 'linesOf'>;
}

/** Of a page's rows, below which it is cheaper to look at those that are left than to look at all for good. */
const FEW_ROWS = 1 / 8;

export class PageDeleteFilter {
  readonly #parts: PageMaskParts;
  /** Rows that requests with stages take; undefined where that is not known. */
  #taken: Uint32Array | undefined;
  /** Where they are known: of these rows, and of what other requests take. */
  #facts: HiddenRowStats | undefined;

  constructor(parts: PageMaskParts) {
    this.#parts = parts;
    if (parts.lines === undefined) this.#taken = NO_ROWS;
  }

  /** True where it is known, without a look at lines, that nothing between the two rows is hidden. */
  showsAll(firstRow: number, rows: number): boolean {
    if (!this.#isKnown || this.#parts.cuts.some(cut => cut.firstRow === firstRow)) return false;
    const taken = this.#taken!;
    const next = lowerRow(taken, 0, taken.length, firstRow);
    return next === taken.length || taken[next] >= firstRow + rows;
  }

  /**
   * The rows from `firstRow` on that requests with stages hide, as their footer counted them; undefined where that is not
   * known without a look at lines. Cuts are not among them.
   */
  hiddenIn(firstRow: number, rows: number): readonly HiddenRow[] | undefined {
    if (!this.#isKnown) return undefined;
    const taken = this.#taken!;
    const facts = this.#facts;
    const hidden: HiddenRow[] = [];
    for (
      let i = lowerRow(taken, 0, taken.length, firstRow);
      i < taken.length && taken[i] < firstRow + rows;
      i++
    ) {
      if (facts === undefined) return undefined;
      const at = lowerRow(facts.rows, 0, facts.rows.length, taken[i]);
      const { minutes, levels, lineBytes } = facts;
      hidden.push({ minute: minutes[at], level: levels[at], lineBytes: lineBytes[at] });
    }
    return hidden;
  }

  /** What a page must hold for `hide`; `wants` where lines need not be looked at. */
  wants(wants: PageWants): PageWants {
    if (this.#isKnown) return wants;
    const { readsMetadata } = this.#parts.lines!;
    const { metadata } = wants;
    if (readsMetadata || metadata === 'all') return { lines: 'bytes', metadata: 'all' };
    return { lines: 'bytes', metadata: new Set([...metadata, LEVEL_NAME]) };
  }

  /** Takes the hidden rows out of `selection[0..count)`; how many stay. */
  hide(rows: PageRows, selection: Uint32Array, count: number): number {
    const { cuts } = this.#parts;
    const left = cuts.length === 0 ? count : removeCuts(rows.times, selection, count, cuts);
    if (left === 0) return 0;
    if (!this.#isKnown && this.#parts.name !== '' && left >= rows.rows * FEW_ROWS) this.#look(rows);
    if (this.#taken !== undefined) return removeRows(selection, left, this.#taken);
    const { lines, base, times } = this.#parts;
    const found = lines!.find(rows, base, times, selection, left);
    return found.size === 0 ? left : removeRows(selection, left, joinRows([...found.values()]));
  }

  /** Asks what is known until it is known: then it stays so for this query. */
  get #isKnown(): boolean {
    if (this.#taken !== undefined) return true;
    const { name, lines, hits } = this.#parts;
    const known = name === '' ? undefined : hits.get(name);
    if (known === undefined || lines!.missingIn(known.looked).length > 0) return false;
    this.#know(known);
    return true;
  }

  /** Looks at the whole page, for what is not known yet. */
  #look(rows: PageRows): void {
    const { name, lines, base, times, hits, sets } = this.#parts;
    const before = hits.get(name);
    const asked = before === undefined ? lines! : sets.linesOf(lines!.missingIn(before.looked));
    const all = Uint32Array.from({ length: rows.rows }, (_, row) => row);
    const found = asked.find(rows, base, times, all, all.length);
    this.#know(hits.set({ name, page: rows, base }, lines!.keys, found, before));
  }

  #know(hits: PageHits): void {
    this.#taken = takenBy(this.#parts.lines!, hits);
    this.#facts = hits.facts;
  }
}

const NO_ROWS = new Uint32Array(0);

function takenBy({ keys }: LineMasks, { rows }: PageHits): Uint32Array {
  if (rows.size === 0) return NO_ROWS;
  const lists: Uint32Array[] = [];
  for (const [key, list] of rows) if (keys.has(key)) lists.push(list);
  return lists.length === 0 ? NO_ROWS : joinRows(lists);
}

/** Takes cut rows out of the selection. Rows of a run ascend by time, and cuts come in the order of their runs. */
function removeCuts(
  times: Float64Array,
  selection: Uint32Array,
  count: number,
  cuts: readonly Cut[],
): number {
  const stretches = cuts
    .map(({ firstRow, rows, from, to }) => ({
      first: lowerBound(times, firstRow, firstRow + rows, from),
      end: lowerBound(times, firstRow, firstRow + rows, to + 1),
    }))
    .sort((a, b) => a.first - b.first);
  let kept = 0;
  let next = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    while (next < stretches.length && stretches[next].end <= row) next++;
    // One that begins earlier and ends later may stand before: it is not passed by until it ends.
    let isCut = false;
    for (let s = next; s < stretches.length && stretches[s].first <= row && !isCut; s++)
      isCut = row < stretches[s].end;
    if (!isCut) selection[kept++] = row;
  }
  return kept;
}
