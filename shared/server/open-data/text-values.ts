/** Texts as ranges of bytes, and their numbers in a dictionary. */
import { scratch } from './scratch.ts';

export interface TextRanges {
  /** UTF-8. */
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Texts of a dictionary and the number of each value; or all values. */
export type TextValues =
  | { readonly type: 'BYTE_ARRAY'; readonly texts: TextRanges }
  | { readonly type: 'BYTE_ARRAY'; readonly dictionary: TextRanges; readonly indexes: Uint32Array };

export function rangesOf(texts: readonly string[]): TextRanges {
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [i, text] of texts.entries()) {
    starts[i] = end;
    end += Buffer.byteLength(text);
    ends[i] = end;
  }
  return { bytes: Buffer.from(texts.join('')), starts, ends };
}

/** Values after which a column that hardly repeats them gets no dictionary. */
const TRIED_VALUES = 512;
const FIRST_SLOTS = 64;
const HASH_FACTOR = 0x01000193;
const HASH_START = 0x811c9dc5;
const HASH_SHIFT = 15;
const WORD_BYTES = 4;

/** Chooses a dictionary if the texts repeat at least once on average. */
export function textValues(texts: TextRanges): TextValues {
  const { bytes, starts, ends } = texts;
  const count = starts.length;
  const dictionary = new RangeDictionary(bytes);
  const indexes = scratch('indexes', Uint32Array, count);
  for (let i = 0; i < count; i++) {
    indexes[i] = dictionary.indexOf(starts[i], ends[i]);
    if (2 * dictionary.size > Math.max(i + 1, TRIED_VALUES)) return { type: 'BYTE_ARRAY', texts };
  }
  if (count === 0 || 2 * dictionary.size > count) return { type: 'BYTE_ARRAY', texts };
  return { type: 'BYTE_ARRAY', dictionary: dictionary.texts(), indexes };
}

/** Distinct ranges by their bytes, in a hash table with open addressing. */
class RangeDictionary {
  size = 0;
  readonly #bytes: Buffer;
  readonly #words: DataView;
  /** 1 + number of a text, or 0. */
  #slots = new Uint32Array(FIRST_SLOTS);
  #starts = new Uint32Array(FIRST_SLOTS / 2);
  #ends = new Uint32Array(FIRST_SLOTS / 2);
  #hashes = new Int32Array(FIRST_SLOTS / 2);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  indexOf(start: number, end: number): number {
    const words = this.#words;
    const bytes = this.#bytes;
    let hash = HASH_START;
    let at = start;
    for (; at + WORD_BYTES <= end; at += WORD_BYTES) {
      hash = Math.imul(hash ^ words.getUint32(at, true), HASH_FACTOR);
      hash ^= hash >>> HASH_SHIFT;
    }
    for (; at < end; at++) hash = Math.imul(hash ^ bytes[at], HASH_FACTOR);
    hash ^= hash >>> HASH_SHIFT;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const number = slots[slot] - 1;
      if (this.#hashes[number] === hash && this.#isEqual(number, start, end)) return number;
    }
    slots[slot] = this.size + 1;
    this.#starts[this.size] = start;
    this.#ends[this.size] = end;
    this.#hashes[this.size] = hash;
    if (++this.size === this.#starts.length) this.#grow();
    return this.size - 1;
  }

  #isEqual(number: number, start: number, end: number): boolean {
    const words = this.#words;
    const bytes = this.#bytes;
    let at = this.#starts[number];
    if (this.#ends[number] - at !== end - start) return false;
    let i = start;
    for (; i + WORD_BYTES <= end; i += WORD_BYTES, at += WORD_BYTES)
      if (words.getUint32(i, true) !== words.getUint32(at, true)) return false;
    for (; i < end; i++, at++) if (bytes[i] !== bytes[at]) return false;
    return true;
  }

  #grow(): void {
    const room = 2 * this.#starts.length;
    const [starts, ends, hashes] = [new Uint32Array(room), new Uint32Array(room), new Int32Array(room)];
    starts.set(this.#starts);
    ends.set(this.#ends);
    hashes.set(this.#hashes);
    const slots = new Uint32Array(2 * room);
    const mask = slots.length - 1;
    for (let number = 0; number < this.size; number++) {
      let slot = hashes[number] & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#starts = starts;
    this.#ends = ends;
    this.#hashes = hashes;
    this.#slots = slots;
  }

  texts(): TextRanges {
    const { size } = this;
    return { bytes: this.#bytes, starts: this.#starts.subarray(0, size), ends: this.#ends.subarray(0, size) };
  }
}
