/**
 * What delete requests hide in one page. Requests without stages are cuts: stretches of rows, found by their times. For
 * the others lines are looked at, unless it is known from before what they take (`PageHitsCache`).
 *
 * A query asks `wants` when it reads the page, and then `hide` on rows with these columns. Where its own filters left few
 * rows, only those are looked at; else the whole page is, so that it is known for good.
 */
import type { PageMeta, RunMeta } from '../chunk/format.ts';
import type { PageWants } from '../chunk/reader.ts';
import type { PageRows, Stream } from '../model/page.ts';
import { lowerBound } from '../query/row-search.ts';
import type { MaskRequest } from './mask-request.ts';
import type { LineMasks, MaskTimes } from './masked-rows.ts';
import { joinRows, type PageHits, type PageHitsCache, removeRows } from './page-hits.ts';

export interface PageOfMask {
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
  /** The tables of some requests. */
  setOf(requests: readonly MaskRequest[]): LineMasks;
}

/** Of a page's rows, below which it is cheaper to look at those that are left than to look at all for good. */
const FEW_ROWS = 1 / 8;
const keySets = new WeakMap<LineMasks, ReadonlySet<string>>();

export class PageMask {
  private readonly parts: PageMaskParts;
  /** Rows that requests with stages take; undefined where that is not known. */
  private taken: Uint32Array | undefined;

  constructor(parts: PageMaskParts) {
    this.parts = parts;
    if (parts.lines === undefined) this.taken = new Uint32Array(0);
  }

  /** True where it is known, without a look at lines, that nothing between the two rows is hidden. */
  showsAll(firstRow: number, rows: number): boolean {
    if (!this.isKnown || this.parts.cuts.some(cut => cut.firstRow === firstRow)) return false;
    const taken = this.taken!;
    let low = 0;
    let high = taken.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (taken[middle] < firstRow) low = middle + 1;
      else high = middle;
    }
    return low === taken.length || taken[low] >= firstRow + rows;
  }

  /** What a page must hold for `hide`; `wants` where lines need not be looked at. */
  wants(wants: PageWants): PageWants {
    if (this.isKnown) return wants;
    const { readsMetadata } = this.parts.lines!;
    return { lines: 'bytes', metadata: readsMetadata ? 'all' : wants.metadata };
  }

  /** Takes the hidden rows out of `selection[0..count)`; how many stay. */
  hide(rows: PageRows, selection: Uint32Array, count: number): number {
    const { cuts } = this.parts;
    const left = cuts.length === 0 ? count : removeCuts(rows.times, selection, count, cuts);
    if (left === 0) return 0;
    if (!this.isKnown && this.parts.name !== '' && left >= rows.rows * FEW_ROWS) this.look(rows);
    if (this.taken !== undefined) return removeRows(selection, left, this.taken);
    const { lines, base, times } = this.parts;
    const found = lines!.find(rows, base, times, selection, left);
    return found.size === 0 ? left : removeRows(selection, left, joinRows([...found.values()]));
  }

  /** Asks what is known until it is known: then it stays so for this query. */
  private get isKnown(): boolean {
    if (this.taken !== undefined) return true;
    const { name, lines, hits } = this.parts;
    const known = name === '' ? undefined : hits.get(name);
    if (known === undefined || missing(lines!, known).length > 0) return false;
    this.taken = takenBy(lines!, known);
    return true;
  }

  /** Looks at the whole page, for what is not known yet. */
  private look(rows: PageRows): void {
    const { name, lines, base, times, hits, setOf } = this.parts;
    const before = hits.get(name);
    const asked = before === undefined ? lines! : setOf(missing(lines!, before));
    const all = Uint32Array.from({ length: rows.rows }, (_, row) => row);
    const found = asked.find(rows, base, times, all, all.length);
    this.taken = takenBy(lines!, hits.set(name, keysOf(lines!), found, before));
  }
}

function keysOf(lines: LineMasks): ReadonlySet<string> {
  let keys = keySets.get(lines);
  if (keys === undefined) {
    keys = new Set(lines.requests.map(({ key }) => key));
    keySets.set(lines, keys);
  }
  return keys;
}

function missing(lines: LineMasks, { looked }: PageHits): readonly MaskRequest[] {
  if (keysOf(lines) === looked) return [];
  return lines.requests.filter(({ key }) => !looked.has(key));
}

function takenBy(lines: LineMasks, { rows }: PageHits): Uint32Array {
  if (rows.size === 0) return NO_ROWS;
  const lists = lines.requests.flatMap(({ key }) => rows.get(key) ?? []);
  return lists.length === 0 ? NO_ROWS : joinRows(lists);
}

const NO_ROWS = new Uint32Array(0);

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
