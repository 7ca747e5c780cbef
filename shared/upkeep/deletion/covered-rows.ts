/**
 * Finds the rows of a page that a set of requests covers. All texts are searched in one pass over the bytes.
 * A match counts if it is inside one line, and if the stream and time of that row belong to the request. The
 * search covers either the whole page, or a few rows that other filters left.
 */
import { binaryFirst, firstRowAfter } from '../../base/model/binary-search.ts';
import type { PageRows, Run } from '../../base/model/page.ts';
import type { DeleteFilter } from './delete-filter.ts';
import { MultiPatternSearch } from './multi-pattern-search.ts';
import type { SelectorGroup, SelectorGroups } from './selector-groups.ts';

/** Time bounds of requests, ns since the start of a day, both inclusive. */
export interface RequestTimeBounds {
  from(request: DeleteFilter): number;
  to(request: DeleteFilter): number;
}

/** Requests that are searched together. All of them have stages. */
export class LineDeleteFilters {
  readonly requests: readonly DeleteFilter[];
  readonly keys: ReadonlySet<string>;
  readonly readsMetadata: boolean;
  readonly #groups: SelectorGroups;
  readonly #groupOf = new Map<DeleteFilter, SelectorGroup>();
  readonly #needles: MultiPatternSearch;
  /** Requests per needle of the set. */
  readonly #filtersOfNeedle: readonly (readonly DeleteFilter[])[];
  readonly #others: readonly DeleteFilter[];
  /** Missing requests by the set of searched keys, which many pages share. */
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
    const byNeedle = new Map<string, { readonly needle: Buffer; readonly filters: DeleteFilter[] }>();
    for (const request of requests) {
      const { needle } = request;
      if (needle === undefined) continue;
      const key = needle.toString('latin1');
      const known = byNeedle.get(key);
      if (known === undefined) byNeedle.set(key, { needle, filters: [request] });
      else known.filters.push(request);
    }
    this.#needles = new MultiPatternSearch([...byNeedle.values()].map(({ needle }) => needle));
    this.#filtersOfNeedle = [...byNeedle.values()].map(({ filters }) => filters);
    this.#others = requests.filter(({ needle }) => needle === undefined);
  }

  /** Requests whose keys are not in `searched`. */
  missingIn(searched: ReadonlySet<string>): readonly DeleteFilter[] {
    let missing = this.#missing.get(searched);
    if (missing === undefined) {
      missing = searched === this.keys ? [] : this.requests.filter(({ key }) => !searched.has(key));
      this.#missing.set(searched, missing);
    }
    return missing;
  }

  /**
   * Rows among `selection[0..count)` that each request covers, ascending. Omits requests that cover no row.
   * The page holds lines, and metadata if `readsMetadata`.
   *
   * @param base ns from the start of the day to the zero of the page's times
   */
  find(
    page: PageRows,
    base: number,
    times: RequestTimeBounds,
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

  /** Rows with a needle of the request, in its streams and times. A row can occur twice. */
  #hits(
    page: PageRows,
    selection: Uint32Array,
    count: number,
    scope: PageScope,
  ): Map<DeleteFilter, number[]> {
    const hits = new Map<DeleteFilter, number[]>();
    if (this.#filtersOfNeedle.length === 0) return hits;
    const { lines, lineOffsets } = page;
    const needles = this.#needles;
    const filtersOfNeedle = this.#filtersOfNeedle;
    for (let i = 0; i < count; ) {
      const next = endOfSpan(lineOffsets, selection, i, count);
      const found = needles.search(lines, lineOffsets[selection[i]], lineOffsets[selection[next - 1] + 1]);
      for (let hit = 0; hit < found; hit++) {
        const position = needles.positions[hit];
        const row = rowAt(lineOffsets, selection, i, next, position);
        if (row < 0) continue;
        for (const request of filtersOfNeedle[needles.needlesAt[hit]]) {
          if (position + request.needle!.length > lineOffsets[row + 1] || !scope.takes(request, row))
            continue;
          const rows = hits.get(request);
          if (rows === undefined) hits.set(request, [row]);
          // Matches in one line usually follow each other.
          else if (rows[rows.length - 1] !== row) rows.push(row);
        }
      }
      i = next;
    }
    return hits;
  }
}

/** Matches rows of a page against the streams and times of requests. */
class PageScope {
  readonly #page: PageRows;
  readonly #base: number;
  readonly #times: RequestTimeBounds;
  readonly #groups: SelectorGroups;
  readonly #groupOf: ReadonlyMap<DeleteFilter, SelectorGroup>;

  constructor(
    page: PageRows,
    base: number,
    times: RequestTimeBounds,
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

  /** Rows of the selection that belong to the request's streams and times. */
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

/** Up to this gap, searching the bytes between two rows costs less than starting another search. */
const MAX_GAP_BYTES = 256;

function endOfSpan(lineOffsets: Uint32Array, selection: Uint32Array, from: number, count: number): number {
  let i = from + 1;
  while (i < count && lineOffsets[selection[i]] - lineOffsets[selection[i - 1] + 1] <= MAX_GAP_BYTES) i++;
  return i;
}

/** Row of `selection[from..to)` whose line contains the byte, or -1. */
function rowAt(
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  from: number,
  to: number,
  position: number,
): number {
  const row = selection[firstRowAfter(lineOffsets, selection, from, to - 1, position)];
  return lineOffsets[row] <= position ? row : -1;
}

/** Index of the run that contains the row. Empty runs contain no row. */
function runAt(runs: readonly Run[], row: number): number {
  return binaryFirst(runs.length - 1, i => runs[i].firstRow + runs[i].rows > row);
}
