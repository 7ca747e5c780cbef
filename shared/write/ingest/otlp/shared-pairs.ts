/**
 * Metadata pairs that all records of a resource or scope share. They are evaluated once, then copied as
 * numbers behind the pairs of each record. Their values are stored once, whatever the number of records.
 */
import { MAX_METADATA_PAIRS, tooMany } from '../bounds.ts';
import type { PushColumns } from '../push-columns.ts';

export class SharedPairs {
  count = 0;
  /** Bytes of the values. */
  valueBytes = 0;
  #name = new Uint32Array(32);
  #start = new Uint32Array(32);
  #end = new Uint32Array(32);

  clear(): void {
    this.count = 0;
    this.valueBytes = 0;
  }

  add(name: number, start: number, end: number): void {
    if (this.count === MAX_METADATA_PAIRS) throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
    if (this.count === this.#name.length) {
      this.#name = doubled(this.#name);
      this.#start = doubled(this.#start);
      this.#end = doubled(this.#end);
    }
    this.#name[this.count] = name;
    this.#start[this.count] = start;
    this.#end[this.count] = end;
    this.count++;
    this.valueBytes += end - start;
  }

  /** Adds the pairs to the most recent entry. */
  copyTo(columns: PushColumns): void {
    const { count } = this;
    const name = this.#name;
    const start = this.#start;
    const end = this.#end;
    if (columns.pairCount + count > MAX_METADATA_PAIRS) throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
    for (let i = 0; i < count; i++) columns.addPair(name[i], start[i], end[i]);
  }
}

function doubled(from: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(from.length * 2);
  to.set(from);
  return to;
}
