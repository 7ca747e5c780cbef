/**
 * Hides rows of the current page of a scan. The pipeline calls it after the query's own line filters, which
 * usually leave few rows to check.
 */

import type { PageRows } from '../../base/model/page.ts';
import type { RowNarrower } from '../../execution/pipeline/stage-runner.ts';
import type { PageDeleteFilter } from '../../upkeep/deletion/page-delete-filter.ts';

export class HiddenRows implements RowNarrower {
  #deleteFilter: PageDeleteFilter | undefined;
  /** Rows with streams as stored, which is how requests select them. */
  #rows: PageRows | undefined;

  enter(deleteFilter: PageDeleteFilter | undefined, rows: PageRows): void {
    this.#deleteFilter = deleteFilter;
    this.#rows = rows;
  }

  /** Ends the page: later selections have no hidden rows. */
  leave(): void {
    this.#deleteFilter = undefined;
    this.#rows = undefined;
  }

  narrow(selection: Uint32Array, count: number): number {
    return this.#deleteFilter === undefined ? count : this.#deleteFilter.hide(this.#rows!, selection, count);
  }
}
