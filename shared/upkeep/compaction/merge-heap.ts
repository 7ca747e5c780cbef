/** The cursors of a merge with the smallest row first: by stream, timestamp, and order of the chunks and of their pages. */
import type { MergeCursor } from './merge-cursor.ts';

/** Negative if `a` comes first. Never zero for two cursors. */
export function compareCursors(a: MergeCursor, b: MergeCursor): number {
  return a.stream - b.stream || a.time - b.time || a.order - b.order || a.pageIndex - b.pageIndex;
}

export class CursorHeap {
  readonly #cursors: MergeCursor[];

  constructor(cursors: readonly MergeCursor[]) {
    this.#cursors = cursors.slice().sort(compareCursors);
  }

  get first(): MergeCursor | undefined {
    return this.#cursors[0];
  }

  /** The cursor that comes next when the first one has passed it. */
  get second(): MergeCursor | undefined {
    const cursors = this.#cursors;
    if (cursors.length < 3) return cursors[1];
    return compareCursors(cursors[1], cursors[2]) < 0 ? cursors[1] : cursors[2];
  }

  /** Restores the order after the first cursor moved forward. */
  firstMoved(): void {
    this.#sink();
  }

  /** Removes the first cursor at its end. */
  dropFirst(): void {
    const last = this.#cursors.pop();
    if (last === undefined || this.#cursors.length === 0) return;
    this.#cursors[0] = last;
    this.#sink();
  }

  #sink(): void {
    const cursors = this.#cursors;
    const moved = cursors[0];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= cursors.length) break;
      if (child + 1 < cursors.length && compareCursors(cursors[child + 1], cursors[child]) < 0) child++;
      if (compareCursors(moved, cursors[child]) < 0) break;
      cursors[at] = cursors[child];
      at = child;
    }
    cursors[at] = moved;
  }
}
