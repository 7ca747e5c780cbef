/**
 * Finds repeats among the entries of one stream and timestamp. The candidates are told by the hashes of their rows, in a
 * table where there are many (a clock of whole seconds gives thousands), and then compared byte by byte.
 *
 * Where one timestamp has more entries than a batch may hold, those that leave with the batch are remembered by a SHA-256
 * digest: nothing weaker may decide that an acknowledged entry is not stored.
 */
import { hash } from 'node:crypto';
import type { MergeBatch } from './merge-batch.ts';
import { MAX_SPILLED_ROWS, MergeTooLargeError } from './merge-bounds.ts';

/** Up to this many entries are looked at one by one. */
const SCANNED_ROWS = 8;

export class MergeTies {
  #stream = -1;
  #time = -1;
  /** First row of the tie in the batch. */
  #from = 0;
  /** By hash, linear probing: 0, or 1 + place behind `from`. */
  #slots = new Uint32Array(0);
  readonly #spilled = new Set<string>();

  /** True where a row of this stream and time belongs with those before. */
  goesOn(stream: number, time: number): boolean {
    return stream === this.#stream && time === this.#time;
  }

  /** @param from row of the batch that will be the first of the tie */
  begin(stream: number, time: number, from: number): void {
    this.#stream = stream;
    this.#time = time;
    this.#from = from;
    if (this.#slots.length > 0) this.#slots = new Uint32Array(0);
    if (this.#spilled.size > 0) this.#spilled.clear();
  }

  /** True where the row that was laid last is the same entry as one of the tie. */
  isRepeat(batch: MergeBatch): boolean {
    const row = batch.rows;
    const count = row - this.#from;
    if (this.#spilled.size > 0 && this.#spilled.has(digestOf(batch, row))) return true;
    if (count <= SCANNED_ROWS) {
      for (let other = this.#from; other < row; other++) {
        if (batch.sameHash(other, row) && batch.sameEntry(other, row)) return true;
      }
      return false;
    }
    if (2 * (count + 1) > this.#slots.length) this.#fill(batch, count);
    const mask = this.#slots.length - 1;
    let slot = batch.hashOf(row) & mask;
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const other = this.#from + this.#slots[slot] - 1;
      if (batch.sameHash(other, row) && batch.sameEntry(other, row)) return true;
    }
    this.#slots[slot] = 1 + count;
    return false;
  }

  /**
   * The batch leaves in the midst of the tie: its rows are remembered by their digests, and the tie goes on at the start
   * of the next batch. Throws MergeTooLargeError.
   */
  spill(batch: MergeBatch): void {
    if (this.#spilled.size + batch.rows - this.#from > MAX_SPILLED_ROWS) {
      throw new MergeTooLargeError(`more than ${MAX_SPILLED_ROWS} entries of one stream and timestamp`);
    }
    for (let row = this.#from; row < batch.rows; row++) this.#spilled.add(digestOf(batch, row));
    this.#from = 0;
    this.#slots = new Uint32Array(0);
  }

  /** A table with room for twice as many rows as there are. */
  #fill(batch: MergeBatch, count: number): void {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(4 * (count + 1))));
    const mask = this.#slots.length - 1;
    for (let i = 0; i < count; i++) {
      let slot = batch.hashOf(this.#from + i) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = 1 + i;
    }
  }
}

/** Equal where line and metadata are. */
function digestOf(batch: MergeBatch, row: number): string {
  const line = hash('sha256', batch.lineOf(row), 'base64');
  return hash('sha256', `${line} ${JSON.stringify(batch.pairsOf(row))}`, 'base64');
}
