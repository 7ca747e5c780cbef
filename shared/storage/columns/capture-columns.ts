/**
 * Captures of patterns in a cached page, as columns: dashboards repeat their patterns, and the lines of a page never change, so a
 * repeated query neither searches lines nor unpacks them. The columns cover the runs of the query that they were made for.
 */
import { CaptureFinder } from '../../base/kernels/capture-finder.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { CaptureNumbers, CaptureWants, PageCaptures } from '../../base/model/page-captures.ts';
import type { ValueBytes } from '../../base/model/page-fields.ts';
import type { RowRange } from './parsed-column-cache.ts';
import { areWithin, spansOfRanges } from './row-spans.ts';

/** Patterns of a page: the panels of a dashboard. A further one replaces the oldest. */
const MAX_PATTERNS = 4;
/** Maximum characters of a pattern. All pages that a query reads share its text. */
const MAX_TEXT_CHARS = 1024;
/** Maximum spans of rows. A page of a push has about 30 streams. */
const MAX_SPANS = 64;
/** Minimum share of the page that a query needs. Columns have 2 bytes for every row of the page. */
const MIN_PAGE_SHARE = 1 / 4;
/** Minimum share of the rows of its runs that a query needs. Captures of all of them are found. */
const MIN_RUN_SHARE = 1 / 2;
/** Bytes of an entry in addition to its arrays. */
const BYTES_PER_PATTERN = 400;

interface Columns {
  /** For each capture, the number of each row: 0 if it is not set, else 1 + index of its text. */
  readonly numbers: Uint16Array;
  /** Texts, concatenated. */
  readonly texts: Buffer;
  /** Start of each text, and the end of the last one. */
  readonly starts: Uint32Array;
}

interface KnownPattern {
  readonly text: string;
  /** Start and end of each span of consecutive rows that the columns cover. */
  readonly spans: readonly number[];
  /** Undefined if there are too many different texts, or too long ones. */
  readonly columns: Columns | undefined;
}

export class CaptureColumns {
  readonly #known: KnownPattern[] = [];
  #heldBytes = 0;

  /** Bytes in memory, an estimate. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Returns captures of ascending runs, or undefined if there are no columns of them.
   *
   * @param wantedRows number of rows of which the query needs captures
   */
  for(
    wants: CaptureWants,
    runs: readonly RowRange[],
    wantedRows: number,
    page: PageRows,
  ): PageCaptures | undefined {
    const spans = spansOfRanges(runs);
    const known = this.#known.find(
      ({ text, columns, spans: covered }) =>
        text === wants.text && (columns === undefined ? areEqual(spans, covered) : areWithin(runs, covered)),
    );
    if (known !== undefined) return known.columns && new KnownCaptures(known.columns, page.rows);
    const rowsOfRuns = runs.reduce((sum, { rows }) => sum + rows, 0);
    const isWorth = wantedRows >= page.rows * MIN_PAGE_SHARE && wantedRows >= rowsOfRuns * MIN_RUN_SHARE;
    if (!isWorth || wants.text.length > MAX_TEXT_CHARS || spans.length > 2 * MAX_SPANS) return undefined;
    const finder = CaptureFinder.of(wants);
    if (finder?.enterPage(page) !== true) return undefined;
    const columns = columnsOf(finder, wants, spans, page.rows);
    this.#add({ text: wants.text, spans, columns });
    return columns && new KnownCaptures(columns, page.rows);
  }

  #add(known: KnownPattern): void {
    if (this.#known.length === MAX_PATTERNS) this.#heldBytes -= weightOf(this.#known.shift()!);
    this.#known.push(known);
    this.#heldBytes += weightOf(known);
  }
}

function weightOf({ spans, columns }: KnownPattern): number {
  const bytes = BYTES_PER_PATTERN + 8 * spans.length;
  if (columns === undefined) return bytes;
  const { numbers, texts, starts } = columns;
  return bytes + numbers.byteLength + texts.length + starts.byteLength;
}

function areEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** Returns undefined if a capture has no number. */
function columnsOf(
  finder: CaptureFinder,
  { captures }: CaptureWants,
  spans: readonly number[],
  rows: number,
): Columns | undefined {
  const numbers = new Uint16Array(captures.length * rows);
  const texts = new TextRanges();
  for (let span = 0; span < spans.length; span += 2) {
    const spanEnd = spans[span + 1];
    for (let row = spans[span]; row < spanEnd; ) {
      const found = finder.numbersFrom(row);
      const end = Math.min(found.end, spanEnd);
      for (let i = 0; i < captures.length; i++) {
        const from = i * found.stride - found.first;
        for (let at = row; at < end; at++) {
          const number = found.numbers[from + at];
          if (number < 0) return undefined;
          if (number === 0) continue;
          // Numbers of lines without the lead, and of other runs in the same call, have no text here.
          let own = found.noted[number];
          if (own === 0) {
            own = texts.add(finder.bytesOf(i, at));
            found.noted[number] = own;
          }
          numbers[i * rows + at] = own;
        }
      }
      row = end;
    }
  }
  return { numbers, ...texts.copies() };
}

/** Texts in the lines of a page. */
class TextRanges {
  readonly #ranges: number[] = [];
  #source: Buffer = Buffer.alloc(0);
  #bytes = 0;

  /** Returns 1 + index of the text. */
  add({ source, start, end }: ValueBytes): number {
    this.#source = source;
    this.#bytes += end - start;
    return this.#ranges.push(start, end) / 2;
  }

  copies(): Pick<Columns, 'texts' | 'starts'> {
    const ranges = this.#ranges;
    const texts = Buffer.allocUnsafeSlow(this.#bytes);
    const starts = new Uint32Array(ranges.length / 2 + 1);
    for (let i = 0; i < ranges.length; i += 2) {
      const at = starts[i / 2];
      this.#source.copy(texts, at, ranges[i], ranges[i + 1]);
      starts[i / 2 + 1] = at + ranges[i + 1] - ranges[i];
    }
    return { texts, starts };
  }
}

/** Columns for one query. */
class KnownCaptures implements PageCaptures {
  readonly #columns: Columns;
  readonly #numbers: CaptureNumbers;
  readonly #found: ValueBytes;

  constructor(columns: Columns, rows: number) {
    const { numbers, texts, starts } = columns;
    this.#columns = columns;
    this.#numbers = { first: 0, end: rows, numbers, stride: rows, noted: new Int32Array(starts.length) };
    this.#found = { source: texts, start: 0, end: 0 };
  }

  numbersFrom(): CaptureNumbers {
    return this.#numbers;
  }

  bytesOf(_i: number, _row: number, number: number): ValueBytes {
    const { starts } = this.#columns;
    this.#found.start = starts[number - 1];
    this.#found.end = starts[number];
    return this.#found;
  }
}
