/**
 * Interns label values as small numbers: equal texts have equal numbers. Values that are still bytes are
 * found by their bytes, so that a parsed value becomes a string once, not once per line.
 */

import { textOfBytes } from '../../base/model/byte-text.ts';
import { enlarged } from '../../base/model/enlarged.ts';
import { decodeClean } from '../../base/text/text.ts';

/** Maximum values and bytes. Beyond them, the owner starts over. */
const MAX_VALUE_IDS = 1 << 20;
const MAX_VALUE_BYTES = 64 << 20;

/**
 * Maximum slots probed for one value. Longer probe sequences occur only for values chosen to collide; such a
 * value is not stored.
 */
const MAX_PROBES = 64;
/** Maximum length of values that are stored by their bytes. */
const MAX_KEPT_LENGTH = 256;

export class ValueIds {
  #ids = new Map<string, number>();
  #slots = new Int32Array(1 << 10);
  #kept = 0;
  #hashes = new Int32Array(1 << 9);
  #starts = new Int32Array((1 << 9) + 1);
  #idsOfKept = new Int32Array(1 << 9);
  #bytes = Buffer.alloc(1 << 12);
  #view = viewOf(this.#bytes);
  /** Buffer of the latest lookup, mostly a page's lines, and a view of it as words. */
  #source: Buffer | undefined;
  #sourceView = this.#view;
  #byteCount = 0;
  #textLength = 0;

  get isFull(): boolean {
    return this.#ids.size > MAX_VALUE_IDS || this.#byteCount + this.#textLength > MAX_VALUE_BYTES;
  }

  /** Number of values so far. */
  get count(): number {
    return this.#ids.size;
  }

  /** Returns the number of a text. Numbers start at 1: 0 is free for "absent". */
  idOfText(text: string): number {
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.#ids.size + 1;
      this.#ids.set(text, id);
      this.#textLength += text.length;
    }
    return id;
  }

  /** @param clean Whether invalid bytes read as spaces (json, logfmt) or are preserved */
  idOfBytes(source: Buffer, start: number, end: number, clean: boolean): number {
    const length = end - start;
    if (length > MAX_KEPT_LENGTH) return this.#idOfDecoded(source, start, end, clean);
    if (source !== this.#source) this.#enter(source);
    const words = this.#sourceView;
    let hash = length;
    // Four bytes per step, because each step waits for the previous one. The last step may read some bytes
    // again.
    if (length >= 4) {
      const last = end - 4;
      for (let at = start; at < last; at += 4) {
        hash = Math.imul(hash ^ words.getInt32(at, true), 0x9e3779b1);
        hash ^= hash >>> 15;
      }
      hash = Math.imul(hash ^ words.getInt32(last, true), 0x9e3779b1);
    } else for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + source[at]) | 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (hash >>> 13)) & mask;
    let probes = 0;
    for (; probes < MAX_PROBES; probes++) {
      const kept = this.#slots[slot] - 1;
      if (kept < 0) break;
      if (this.#hashes[kept] === hash) {
        const from = this.#starts[kept];
        if (this.#starts[kept + 1] - from === length && this.#equal(from, source, start, length))
          return this.#idsOfKept[kept];
      }
      slot = (slot + 1) & mask;
    }
    const text = textOfBytes(source, start, end);
    // Bytes that different parsers read differently are not stored.
    if (text.includes('\ufffd') || !text.isWellFormed()) return this.#idOfDecoded(source, start, end, clean);
    const id = this.idOfText(text);
    if (probes < MAX_PROBES) this.#keep(source, start, end, hash, slot, id);
    return id;
  }

  #enter(source: Buffer): void {
    this.#source = source;
    this.#sourceView = viewOf(source);
  }

  /** Returns whether the stored bytes at `from` equal those at `start` of the source. */
  #equal(from: number, source: Buffer, start: number, length: number): boolean {
    if (length < 4) {
      for (let i = 0; i < length; i++) if (this.#bytes[from + i] !== source[start + i]) return false;
      return true;
    }
    const kept = this.#view;
    const words = this.#sourceView;
    const last = length - 4;
    for (let i = 0; i < last; i += 4) if (kept.getInt32(from + i) !== words.getInt32(start + i)) return false;
    return kept.getInt32(from + last) === words.getInt32(start + last);
  }

  #idOfDecoded(source: Buffer, start: number, end: number, clean: boolean): number {
    return this.idOfText(clean ? decodeClean(source, start, end) : textOfBytes(source, start, end));
  }

  clear(): void {
    this.#ids = new Map();
    this.#slots.fill(0);
    this.#kept = 0;
    this.#byteCount = 0;
    this.#textLength = 0;
  }

  #keep(source: Buffer, start: number, end: number, hash: number, slot: number, id: number): void {
    const kept = this.#kept;
    if (kept === this.#hashes.length) this.#grow();
    if (this.#byteCount + end - start > this.#bytes.length) {
      const larger = Buffer.alloc(this.#bytes.length * 2 + MAX_KEPT_LENGTH);
      this.#bytes.copy(larger, 0, 0, this.#byteCount);
      this.#bytes = larger;
      this.#view = viewOf(larger);
    }
    source.copy(this.#bytes, this.#byteCount, start, end);
    this.#starts[kept] = this.#byteCount;
    this.#byteCount += end - start;
    this.#starts[kept + 1] = this.#byteCount;
    this.#hashes[kept] = hash;
    this.#idsOfKept[kept] = id;
    this.#kept++;
    this.#slots[slot] = kept + 1;
    if (this.#kept * 2 > this.#slots.length) this.#rehash();
  }

  #grow(): void {
    const size = this.#hashes.length * 2;
    this.#hashes = enlarged(this.#hashes, new Int32Array(size));
    this.#starts = enlarged(this.#starts, new Int32Array(size + 1));
    this.#idsOfKept = enlarged(this.#idsOfKept, new Int32Array(size));
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let kept = 0; kept < this.#kept; kept++) {
      const hash = this.#hashes[kept];
      let slot = (hash ^ (hash >>> 13)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = kept + 1;
    }
    this.#slots = slots;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
