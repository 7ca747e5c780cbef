/** What the delete requests of a tenant leave of a chunk: the one view of them that queries and compaction share. */
import type { PageRows, Stream } from '../model/page.ts';

/** The requests that may touch one chunk. */
export interface ChunkRowFilter {
  /** False: no row of such a stream is covered, whatever its line. */
  mayTouch(stream: Stream): boolean;
  /**
   * Takes the covered rows out of `selection`, whose first `count` places hold rows of the page, ascending.
   * @returns how many stay
   */
  hide(rows: PageRows, selection: Uint32Array, count: number): number;
}
