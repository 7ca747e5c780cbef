/**
 * Remembers which rows of a cached page line filters accept. Dashboards repeat their filters, and the lines of
 * a page never change, so a repeated filter searches no line. This matters most for new lines, which have no
 * text index until they are merged.
 */
import { binaryFirst, lowerBound } from '../../base/model/binary-search.ts';
import type { RowRange } from './parsed-column-cache.ts';
import { areWithin, spansOfRanges } from './row-spans.ts';

/** Filters of a page: the panels of a dashboard. A further one replaces the oldest. */
const MAX_FILTERS = 8;
/** Maximum characters of a filter. All pages that a query reads share its text. */
const MAX_FILTER_CHARS = 256;
/** Maximum spans of tested rows, 0.5 KB. A page of a push has about 30 streams. */
const MAX_SPANS = 64;
/** Maximum share of accepted rows: processing more costs far more than the search. */
const MAX_ACCEPTED_SHARE = 1 / 16;
/** Bytes of a text that no line has. All pages share the text. */
const BYTES_PER_ABSENT = 8;
/** Bytes of an entry in addition to its arrays. */
const BYTES_PER_FILTER = 250;
const NO_ROWS = new Uint32Array(0);

/** Line filter on lines as stored. */
export interface SoughtFilter {
  /** Identifies the filter: those with equal texts accept the same lines. */
  readonly text: string;
  /** Finds a position in every line that the filter accepts, and possibly others. Undefined if none is known. */
  readonly search: LineSearch | undefined;
}

/** Searches lines in line memory (kernels/line-memory.ts). */
interface LineSearch {
  /** Returns a position within `from` to `to`, or -1. */
  find(lines: Buffer, from: number, to: number): number;
}

interface TestedRows {
  readonly filter: string;
  /** Start and end of each span of consecutive rows that were tested. */
  readonly spans: Uint32Array;
  /** Accepted rows, ascending. */
  readonly accepted: Uint32Array;
}

export class FilteredRows {
  readonly #known: TestedRows[] = [];
  /** Filters that accept no row of the page. */
  readonly #absent: string[] = [];
  #heldBytes = 0;

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Narrows `selection[0..count)`, ascending rows, in place to the rows that the filter accepts. Returns the
   * new count.
   *
   * @param filter text that identifies the filter
   * @param select does the same by searching the lines
   */
  narrow(
    filter: string,
    selection: Uint32Array,
    count: number,
    select: (selection: Uint32Array, count: number) => number,
  ): number {
    const spans = filter.length <= MAX_FILTER_CHARS ? spansOf(selection, count) : undefined;
    if (spans === undefined) return select(selection, count);
    const known = this.#known.find(one => one.filter === filter && areEqual(one.spans, spans));
    if (known !== undefined) {
      selection.set(known.accepted);
      return known.accepted.length;
    }
    const kept = select(selection, count);
    if (kept <= count * MAX_ACCEPTED_SHARE) this.#add({ filter, spans, accepted: selection.slice(0, kept) });
    return kept;
  }

  /** Whether it is known that the filter accepts no row of these ascending ranges. */
  excludes(filter: string, ranges: readonly RowRange[]): boolean {
    if (this.#absent.includes(filter)) return true;
    for (const { filter: text, accepted, spans } of this.#known)
      if (text === filter && accepted.length === 0 && areWithin(ranges, spans)) return true;
    return false;
  }

  /** Whether a search of all lines of the page shows that the filter accepts none. */
  excludesAll({ text, search }: SoughtFilter, lines: Buffer): boolean {
    if (search === undefined || this.#accepts(text) || search.find(lines, 0, lines.length) >= 0) return false;
    if (text.length > MAX_FILTER_CHARS) return true;
    if (this.#absent.length === MAX_FILTERS) this.#absent.shift();
    else this.#heldBytes += BYTES_PER_ABSENT;
    this.#absent.push(text);
    return true;
  }

  /**
   * Whether a search of the lines shows that the filter accepts no row of these ascending ranges. It stops at the first
   * hit, and selects no rows, so it takes a fraction of `narrow`.
   */
  excludesBySearch(
    { text, search }: SoughtFilter,
    ranges: readonly RowRange[],
    lines: Buffer,
    lineOffsets: Uint32Array,
  ): boolean {
    if (search === undefined || this.#accepts(text, ranges)) return false;
    const spans = spansOfRanges(ranges);
    for (let i = 0; i < spans.length; i += 2) {
      if (search.find(lines, lineOffsets[spans[i]], lineOffsets[spans[i + 1]]) >= 0) return false;
    }
    if (spans.length <= 2 * MAX_SPANS && text.length <= MAX_FILTER_CHARS) {
      this.#add({ filter: text, spans: Uint32Array.from(spans), accepted: NO_ROWS });
    }
    return true;
  }

  /** Whether it is known that the filter accepts a row of the page, or of these ranges. A search then finds nothing new. */
  #accepts(filter: string, ranges?: readonly RowRange[]): boolean {
    return this.#known.some(
      ({ filter: text, accepted }) =>
        text === filter &&
        accepted.length > 0 &&
        (ranges === undefined || ranges.some(range => hasRow(accepted, range))),
    );
  }

  #add(known: TestedRows): void {
    if (this.#known.length === MAX_FILTERS) this.#heldBytes -= weightOf(this.#known.shift()!);
    this.#known.push(known);
    this.#heldBytes += weightOf(known);
  }
}

function weightOf({ spans, accepted }: TestedRows): number {
  return BYTES_PER_FILTER + spans.byteLength + accepted.byteLength;
}

/** @param rows ascending */
function hasRow(rows: Uint32Array, { firstRow, rows: count }: RowRange): boolean {
  const at = lowerBound(rows, 0, rows.length, firstRow);
  return at < rows.length && rows[at] < firstRow + count;
}

/** Returns the spans of consecutive rows, or undefined if there are too many. */
function spansOf(selection: Uint32Array, count: number): Uint32Array | undefined {
  const spans: number[] = [];
  for (let i = 0; i < count; ) {
    if (spans.length === 2 * MAX_SPANS) return undefined;
    const end = endOfSpan(selection, i, count);
    spans.push(selection[i], selection[end - 1] + 1);
    i = end;
  }
  return Uint32Array.from(spans);
}

/** Returns the index after the last row of the span that starts at index `from`, by binary search. */
function endOfSpan(selection: Uint32Array, from: number, count: number): number {
  return from + binaryFirst(count - from, index => selection[from + index] - selection[from] !== index);
}

function areEqual(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
