/** Captures of patterns in a page: from columns of its split lines, or as a cached page keeps them. */
import type { PageRows, Run } from '../../base/model/page.ts';
import type { CaptureWants, PageCaptures } from '../../base/model/page-captures.ts';
import { CaptureColumns, MIN_PAGE_SHARE } from '../columns/capture-columns.ts';
import { type CaptureTable, capturesOf } from '../columns/capture-table.ts';

/** Rows of which a query needs captures. */
interface CapturedRows {
  /** Ascending runs with all of them. */
  readonly runs: readonly Run[];
  /** Number of rows. */
  readonly rows: number;
  /** The page, with its lines. */
  readonly page: PageRows;
}

export class CapturesOfPage {
  readonly #keeps: boolean;
  readonly #ofSplit: (wants: CaptureWants) => CaptureTable | undefined;
  #known: CaptureColumns | undefined;
  /** Captures that a query has requested last from a page that keeps none. */
  #latest: { readonly wants: CaptureWants; readonly table: CaptureTable | undefined } | undefined;

  /**
   * @param keeps Whether the page is cached
   * @param ofSplit Returns captures of all rows of the page if few of them need lines
   */
  constructor(keeps: boolean, ofSplit: (wants: CaptureWants) => CaptureTable | undefined) {
    this.#keeps = keeps;
    this.#ofSplit = ofSplit;
  }

  /** Bytes in memory that a cached page keeps, an estimate. */
  get heldBytes(): number {
    return this.#known?.heldBytes ?? 0;
  }

  /** Returns captures of rows (see PageRows). Throws CorruptionError. */
  for(wants: CaptureWants, captured: CapturedRows): PageCaptures | undefined {
    if (this.#keeps) {
      this.#known ??= new CaptureColumns();
      return this.#known.for(wants, captured, () => this.#ofSplit(wants));
    }
    const { rows, page } = captured;
    if (rows < page.rows * MIN_PAGE_SHARE) return undefined;
    // A query asks again when its time slice has ended.
    if (this.#latest?.wants !== wants) this.#latest = { wants, table: this.#ofSplit(wants) };
    const { table } = this.#latest;
    return table && capturesOf(table, page.rows);
  }
}
