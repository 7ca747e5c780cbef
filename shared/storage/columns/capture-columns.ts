/**
 * Captures of patterns in a cached page, as columns: dashboards repeat their patterns, and the lines of a page never change, so a
 * repeated query neither searches lines nor unpacks them. The columns cover the runs of the query that they were made for.
 */
import { CaptureFinder } from '../../base/kernels/capture-finder.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { CaptureWants, PageCaptures } from '../../base/model/page-captures.ts';
import { type CaptureTable, capturesOf, tableOf } from './capture-table.ts';
import type { RowRange } from './parsed-column-cache.ts';
import { areWithin, spansOfRanges } from './row-spans.ts';

/** Patterns of a page: the panels of a dashboard. A further one replaces the oldest. */
const MAX_PATTERNS = 4;
/** Maximum characters of a pattern. All pages that a query reads share its text. */
const MAX_TEXT_CHARS = 1024;
/** Maximum spans of rows. A page of a push has about 30 streams. */
const MAX_SPANS = 64;
/** Minimum share of the page that a query needs. Columns have 2 bytes for every row of the page. */
export const MIN_PAGE_SHARE = 1 / 4;
/** Minimum share of the rows of its runs that a query needs. Captures of all of them are found. */
const MIN_RUN_SHARE = 1 / 2;
/** Bytes of an entry in addition to its arrays. */
const BYTES_PER_PATTERN = 400;

interface KnownPattern {
  readonly text: string;
  /** Start and end of each span of consecutive rows that the columns cover. */
  readonly spans: readonly number[];
  /** Undefined if there are too many different texts, or too long ones. */
  readonly columns: CaptureTable | undefined;
}

/** Rows of which a query needs captures. */
interface CapturedRows {
  /** Ascending runs with all of them. */
  readonly runs: readonly RowRange[];
  /** Number of rows. */
  readonly rows: number;
  readonly page: PageRows;
}

export class CaptureColumns {
  readonly #known: KnownPattern[] = [];
  #heldBytes = 0;

  /** Bytes in memory, an estimate. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Returns captures of rows, or undefined if there are no columns of them.
   *
   * @param ofPage Returns captures of all rows of the page if that needs no lines
   */
  for(
    wants: CaptureWants,
    { runs, rows, page }: CapturedRows,
    ofPage: () => CaptureTable | undefined,
  ): PageCaptures | undefined {
    const spans = spansOfRanges(runs);
    const known = this.#known.find(
      ({ text, columns, spans: covered }) =>
        text === wants.text && (columns === undefined ? areEqual(spans, covered) : areWithin(runs, covered)),
    );
    if (known !== undefined) return known.columns && capturesOf(known.columns, page.rows);
    const rowsOfRuns = runs.reduce((sum, run) => sum + run.rows, 0);
    const isWorth = rows >= page.rows * MIN_PAGE_SHARE && rows >= rowsOfRuns * MIN_RUN_SHARE;
    if (!isWorth || wants.text.length > MAX_TEXT_CHARS || spans.length > 2 * MAX_SPANS) return undefined;
    const whole = ofPage();
    if (whole !== undefined) {
      this.#add({ text: wants.text, spans: [0, page.rows], columns: whole });
      return capturesOf(whole, page.rows);
    }
    const finder = CaptureFinder.of(wants);
    if (finder?.restart(page) !== true) return undefined;
    const columns = tableOf(finder, wants.captures.length, spans, page.rows);
    this.#add({ text: wants.text, spans, columns });
    return columns && capturesOf(columns, page.rows);
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
