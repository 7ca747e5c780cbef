/**
 * Hides rows of the page that a scan is at. It is asked by the pipeline, behind the query's own line filters: those leave few
 * rows most often, and few are quickly looked at.
 */

import type { PageRows } from '../../base/model/page.ts';
import type { RowNarrower } from '../../execution/pipeline/stage-runner.ts';
import type { PageDeleteFilter } from '../../upkeep/deletion/page-delete-filter.ts';

export class HiddenRows implements RowNarrower {
  #mask: PageDeleteFilter | undefined;
  /** As stored: requests ask for streams as they are stored. */
  #rows: PageRows | undefined;

  enter(mask: PageDeleteFilter | undefined, rows: PageRows): void {
    this.#mask = mask;
    this.#rows = rows;
  }

  /** What is narrowed from here on has no hidden rows. */
  leave(): void {
    this.#mask = undefined;
    this.#rows = undefined;
  }

  narrow(selection: Uint32Array, count: number): number {
    return this.#mask === undefined ? count : this.#mask.hide(this.#rows!, selection, count);
  }
}
