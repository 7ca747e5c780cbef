/**
 * Positions of the rows of a long list with different heights. Heights are summed in blocks, so that a row
 * that changes its height costs a few hundred additions, and not one for each of 100,000 rows (10 ms).
 */
import { binaryFirst } from '../../../shared/base/model/binary-search.ts';

const BLOCK_ROWS = 256;

export class RowOffsets {
  readonly count: number;
  readonly #heights: Float64Array;
  /** Offset of the first row of each block, and the total. */
  readonly #blocks: Float64Array;

  constructor(count: number, heightOf: (index: number) => number) {
    this.count = count;
    this.#heights = new Float64Array(count);
    this.#blocks = new Float64Array(Math.ceil(count / BLOCK_ROWS) + 1);
    for (let i = 0; i < count; i++) this.#heights[i] = heightOf(i);
    for (let block = 0; block + 1 < this.#blocks.length; block++) {
      this.#blocks[block + 1] = this.#blocks[block] + this.#sum(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS);
    }
  }

  get total(): number {
    return this.#blocks[this.#blocks.length - 1];
  }

  height(index: number): number {
    return this.#heights[index];
  }

  /** Top of a row; the total for `count`. */
  top(index: number): number {
    const block = Math.floor(index / BLOCK_ROWS);
    return this.#blocks[block] + this.#sum(block * BLOCK_ROWS, index);
  }

  setHeight(index: number, height: number): void {
    const change = height - this.#heights[index];
    if (change === 0) return;
    this.#heights[index] = height;
    for (let i = Math.floor(index / BLOCK_ROWS) + 1; i < this.#blocks.length; i++) this.#blocks[i] += change;
  }

  /** Last row whose top is at most `px`; 0 above the first row, `count` from the end on. */
  rowAt(px: number): number {
    if (px >= this.total) return this.count;
    const block = Math.max(0, binaryFirst(this.#blocks.length, i => this.#blocks[i] > px) - 1);
    let row = block * BLOCK_ROWS;
    let next = this.#blocks[block] + (this.#heights[row] ?? 0);
    while (row + 1 < this.count && next <= px) next += this.#heights[++row];
    return row;
  }

  #sum(from: number, to: number): number {
    let sum = 0;
    for (let i = from; i < to && i < this.count; i++) sum += this.#heights[i];
    return sum;
  }
}
