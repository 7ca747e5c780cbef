/**
 * Finds duplicates among the entries of one stream and timestamp. Equal row hashes give the candidates, by a
 * hash table if there are many (a clock of whole seconds gives thousands). Candidates are then compared byte
 * by byte.
 *
 * If one timestamp has more entries than a batch can hold, a SHA-256 digest represents those that leave with
 * the batch. Nothing weaker may decide that an acknowledged entry is not stored.
 */
import { hash } from 'node:crypto';
import type { MergeBatch } from './merge-batch.ts';
import { MAX_TIE_DIGESTS, MergeTooLargeError } from './merge-bounds.ts';

/** Up to this many entries are compared one by one. */
const SCANNED_ROWS = 8;

export class MergeTies {
  #stream = -1;
  #time = -1;
  /** First row of the tie in the batch. */
  #from = 0;
  /** Hash table with linear probing: 0, or 1 + index after `from`. */
  #slots = new Uint32Array(0);
  readonly #digests = new Set<string>();

  /** Returns true if a row of this stream and time belongs to the current tie. */
  goesOn(stream: number, time: number): boolean {
    return stream === this.#stream && time === this.#time;
  }

  /** @param from row of the batch that will be the first of the tie */
  begin(stream: number, time: number, from: number): void {
    this.#stream = stream;
    this.#time = time;
    this.#from = from;
    if (this.#slots.length > 0) this.#slots = new Uint32Array(0);
    if (this.#digests.size > 0) this.#digests.clear();
  }

  /** The next row is not compared with those before it. */
  end(): void {
    this.begin(-1, -1, 0);
  }

  /** Returns true if the last appended row is the same entry as one of the tie. */
  isRepeat(batch: MergeBatch): boolean {
    const row = batch.rows;
    const count = row - this.#from;
    if (this.#digests.size > 0 && this.#digests.has(digestOf(batch, row))) return true;
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
   * Called when the batch leaves in the middle of the tie: stores digests of its rows, and the tie continues
   * at the start of the next batch. Throws MergeTooLargeError.
   */
  keepDigests(batch: MergeBatch): void {
    if (this.#digests.size + batch.rows - this.#from > MAX_TIE_DIGESTS) {
      throw new MergeTooLargeError(`more than ${MAX_TIE_DIGESTS} entries of one stream and timestamp`);
    }
    for (let row = this.#from; row < batch.rows; row++) this.#digests.add(digestOf(batch, row));
    this.#from = 0;
    this.#slots = new Uint32Array(0);
  }

  /** Fills a table with capacity for twice the number of rows. */
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

/** Equal if line and metadata are equal. */
function digestOf(batch: MergeBatch, row: number): string {
  const line = hash('sha256', batch.lineOf(row), 'base64');
  return hash('sha256', `${line} ${JSON.stringify(batch.pairsOf(row))}`, 'base64');
}
