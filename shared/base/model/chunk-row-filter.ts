/** Row filter for one chunk. Queries and compaction use it to apply delete requests and retention. */
import type { PageRows, Stream } from '../model/page.ts';

/** Requests or retention rules that may cover rows of one chunk. */
export interface ChunkRowFilter {
  /** Returns false if no row of such a stream is covered, regardless of its line. */
  mayTouch(stream: Stream): boolean;
  /**
   * Removes the covered rows from `selection`, whose first `count` elements are rows of the page, ascending.
   * @returns the number of rows that remain
   */
  hide(rows: PageRows, selection: Uint32Array, count: number): number;
}
