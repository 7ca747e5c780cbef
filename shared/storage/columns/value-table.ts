/**
 * Distinct values of one column of one page, by their bytes, numbered from 0 in order of first appearance.
 */
import { MAX_DICTIONARY_BYTES, MAX_DICTIONARY_VALUES } from './bounds.ts';

const SLOTS = 4 * MAX_DICTIONARY_VALUES;
/**
 * Maximum slots probed for one value. Longer probe sequences occur only for values chosen to collide; the
 * table then counts as full.
 */
const MAX_PROBES = 64;

/** Result if the table has no space for another value. */
export const FULL = -1;
/** Result if the bytes are not UTF-8 or contain U+FFFD: parsers would show a different text. */
export const BROKEN = -2;

export class ValueTable {
  readonly #slots = new Int16Array(SLOTS);
  readonly #hashes = new Int32Array(MAX_DICTIONARY_VALUES);
  readonly bytes = Buffer.allocUnsafe(MAX_DICTIONARY_BYTES);
  /** Offsets: value i is `bytes[starts[i]..starts[i + 1])`. */
  readonly starts = new Uint32Array(MAX_DICTIONARY_VALUES + 1);
  count = 0;

  clear(): void {
    if (this.count > 0) this.#slots.fill(0);
    this.count = 0;
  }

  get byteCount(): number {
    return this.starts[this.count];
  }

  /** Returns the number of a value, FULL or BROKEN. */
  find(source: Uint8Array, start: number, end: number): number {
    const length = end - start;
    let hash = length;
    let bits = 0;
    for (let i = start; i < end; i++) {
      hash = (Math.imul(hash, 31) + source[i]) | 0;
      bits |= source[i];
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    const { starts, bytes } = this;
    let slot = (hash ^ (hash >>> 13)) & (SLOTS - 1);
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      const value = this.#slots[slot] - 1;
      if (value < 0) {
        if (bits >= 0x80 && Buffer.from(source.subarray(start, end)).toString('utf8').includes('\ufffd'))
          return BROKEN;
        const from = starts[this.count];
        if (this.count === MAX_DICTIONARY_VALUES || from + length > MAX_DICTIONARY_BYTES) return FULL;
        bytes.set(source.subarray(start, end), from);
        this.#hashes[this.count] = hash;
        this.#slots[slot] = this.count + 1;
        starts[this.count + 1] = from + length;
        return this.count++;
      }
      if (this.#hashes[value] === hash && starts[value + 1] - starts[value] === length) {
        const from = starts[value];
        let i = 0;
        while (i < length && bytes[from + i] === source[start + i]) i++;
        if (i === length) return value;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    return FULL;
  }
}
