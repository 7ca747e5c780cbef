/**
 * Which rows of a page a set of requests takes. Requests that ask for a text are searched together, in one pass over the
 * bytes; a hit counts where it lies inside one line, and where the stream and the time of that row are the request's. What is
 * looked at is either the whole page, or a few rows that something else has left.
 */
import { firstPlace } from '../../base/model/binary-search.ts';
import type { PageRows, Run } from '../../base/model/page.ts';
import type { DeleteFilter } from './delete-filter.ts';
import { MultiPatternSearch } from './multi-pattern-search.ts';
import type { SelectorGroup, SelectorGroups } from './selector-groups.ts';

/** Times of requests, ns since the start of a day, both inclusive. */
export interface MaskTimes {
  from(request: DeleteFilter): number;
  to(request: DeleteFilter): number;
}

/** Requests that are looked for together; none of them is whole. */
export class LineMasks {
  readonly requests: readonly DeleteFilter[];
  readonly keys: ReadonlySet<string>;
  readonly readsMetadata: boolean;
  readonly #groups: SelectorGroups;
  readonly #groupOf = new Map<DeleteFilter, SelectorGroup>();
  readonly #needles: MultiPatternSearch;
  /** For each needle of the set, who asks for it. */
  readonly #askers: readonly (readonly DeleteFilter[])[];
  readonly #others: readonly DeleteFilter[];
  /** By the keys that were looked for: many pages share them. */
  readonly #missing = new WeakMap<ReadonlySet<string>, readonly DeleteFilter[]>();

  constructor(requests: readonly DeleteFilter[], groups: SelectorGroups) {
    this.requests = requests;
    this.keys = new Set(requests.map(({ key }) => key));
    this.#groups = groups;
    this.readsMetadata = requests.some(({ readsMetadata }) => readsMetadata);
    const wanted = new Set(requests);
    for (const group of groups.all) {
      for (const request of group.requests) if (wanted.has(request)) this.#groupOf.set(request, group);
    }
    const byNeedle = new Map<string, { readonly needle: Buffer; readonly askers: DeleteFilter[] }>();
    for (const request of requests) {
      const { needle } = request;
      if (needle === undefined) continue;
      const key = needle.toString('latin1');
      const known = byNeedle.get(key);
      if (known === undefined) byNeedle.set(key, { needle, askers: [request] });
      else known.askers.push(request);
    }
    this.#needles = new MultiPatternSearch([...byNeedle.values()].map(({ needle }) => needle));
    this.#askers = [...byNeedle.values()].map(({ askers }) => askers);
    this.#others = requests.filter(({ needle }) => needle === undefined);
  }

  /** Those of them that are not among `looked`, by their keys. */
  missingIn(looked: ReadonlySet<string>): readonly DeleteFilter[] {
    let missing = this.#missing.get(looked);
    if (missing === undefined) {
      missing = looked === this.keys ? [] : this.requests.filter(({ key }) => !looked.has(key));
      this.#missing.set(looked, missing);
    }
    return missing;
  }

  /**
   * The rows among `selection[0..count)` that each request takes, ascending; requests that take none are left out. The
   * page holds lines, and metadata where `readsMetadata`.
   * @param base ns from the start of the day to what the page's times are relative to
   */
  find(
    page: PageRows,
    base: number,
    times: MaskTimes,
    selection: Uint32Array,
    count: number,
  ): Map<DeleteFilter, Uint32Array> {
    const found = new Map<DeleteFilter, Uint32Array>();
    if (count === 0) return found;
    const rows = new PageScope(page, base, times, this.#groups, this.#groupOf);
    for (const [request, hits] of this.#hits(page, selection, count, rows)) {
      const candidates = Uint32Array.from(new Set(hits)).sort();
      const { length } = candidates;
      const taken = request.isNeedleEnough ? length : request.narrow(page, candidates, length);
      if (taken > 0) found.set(request, candidates.subarray(0, taken));
    }
    for (const request of this.#others) {
      const candidates = rows.reached(request, selection, count);
      const taken = request.narrow(page, candidates, candidates.length);
      if (taken > 0) found.set(request, candidates.subarray(0, taken));
    }
    return found;
  }

  /** Rows with a needle of the request, of its streams and times; a row may come twice. */
  #hits(
    page: PageRows,
    selection: Uint32Array,
    count: number,
    scope: PageScope,
  ): Map<DeleteFilter, number[]> {
    const hits = new Map<DeleteFilter, number[]>();
    if (this.#askers.length === 0) return hits;
    const { lines, lineOffsets } = page;
    const needles = this.#needles;
    const askers = this.#askers;
    for (let i = 0; i < count; ) {
      const next = endOfSpan(lineOffsets, selection, i, count);
      const found = needles.search(lines, lineOffsets[selection[i]], lineOffsets[selection[next - 1] + 1]);
      for (let hit = 0; hit < found; hit++) {
        const position = needles.positions[hit];
        const row = rowAt(lineOffsets, selection, i, next, position);
        if (row < 0) continue;
        for (const request of askers[needles.needlesAt[hit]]) {
          if (position + request.needle!.length > lineOffsets[row + 1] || !scope.takes(request, row))
            continue;
          const rows = hits.get(request);
          if (rows === undefined) hits.set(request, [row]);
          // Most often hits of a line come one after the other.
          else if (rows[rows.length - 1] !== row) rows.push(row);
        }
      }
      i = next;
    }
    return hits;
  }
}

/** Streams and times of a page's rows, as requests ask for them. */
class PageScope {
  readonly #page: PageRows;
  readonly #base: number;
  readonly #times: MaskTimes;
  readonly #groups: SelectorGroups;
  readonly #groupOf: ReadonlyMap<DeleteFilter, SelectorGroup>;

  constructor(
    page: PageRows,
    base: number,
    times: MaskTimes,
    groups: SelectorGroups,
    groupOf: ReadonlyMap<DeleteFilter, SelectorGroup>,
  ) {
    this.#page = page;
    this.#base = base;
    this.#times = times;
    this.#groups = groups;
    this.#groupOf = groupOf;
  }

  takes(request: DeleteFilter, row: number): boolean {
    const { runs } = this.#page;
    if (!this.#hasStream(request, runs[runAt(runs, row)])) return false;
    const time = this.#base + this.#page.times[row];
    return time >= this.#times.from(request) && time <= this.#times.to(request);
  }

  /** Rows of the selection that are of the request's streams and times. */
  reached(request: DeleteFilter, selection: Uint32Array, count: number): Uint32Array {
    const { runs, times } = this.#page;
    const from = this.#times.from(request) - this.#base;
    const to = this.#times.to(request) - this.#base;
    const rows = new Uint32Array(count);
    let kept = 0;
    let run = 0;
    let end = 0;
    let isIn = false;
    for (let i = 0; i < count; i++) {
      const row = selection[i];
      if (row >= end) {
        while (runs[run].firstRow + runs[run].rows <= row) run++;
        end = runs[run].firstRow + runs[run].rows;
        isIn = this.#hasStream(request, runs[run]);
      }
      if (isIn && times[row] >= from && times[row] <= to) rows[kept++] = row;
    }
    return rows.subarray(0, kept);
  }

  #hasStream(request: DeleteFilter, { stream }: Run): boolean {
    return this.#groups.of(stream).includes(this.#groupOf.get(request)!);
  }
}

/** Bytes between two rows that are searched along: cheaper than to begin a search anew. */
const MAX_GAP_BYTES = 256;

function endOfSpan(lineOffsets: Uint32Array, selection: Uint32Array, from: number, count: number): number {
  let i = from + 1;
  while (i < count && lineOffsets[selection[i]] - lineOffsets[selection[i - 1] + 1] <= MAX_GAP_BYTES) i++;
  return i;
}

/** The row of `selection[from..to)` whose line holds the byte, or -1. */
function rowAt(
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  from: number,
  to: number,
  position: number,
): number {
  let low = from;
  let high = to - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lineOffsets[selection[middle] + 1] <= position) low = middle + 1;
    else high = middle;
  }
  return lineOffsets[selection[low]] <= position ? selection[low] : -1;
}

/** Place of the run that holds the row. Runs of no rows hold none. */
function runAt(runs: readonly Run[], row: number): number {
  return firstPlace(0, runs.length - 1, i => runs[i].firstRow + runs[i].rows > row);
}
