/**
 * Growing byte writer and bounds-checked reader for footers, column payloads and catalog records. Whole
 * numbers are LEB128 varints up to 2^53 - 1 (a nanosecond of a day needs 47 bits). Texts are length-prefixed
 * UTF-8.
 */
import { bytesOfText, textOfBytes } from '../../base/model/byte-text.ts';
import { CorruptionError, invariant } from '../../base/model/errors.ts';

/** Maximum characters of a text that is written without two calls into the engine: most names and values of labels. */
const SHORT_TEXT = 32;

export class ByteWriter {
  #buffer: Buffer;
  length = 0;

  constructor(capacity = 256) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#buffer.writeUInt32LE(value, this.length);
    this.length += 4;
  }

  u64(value: bigint): void {
    this.#reserve(8);
    this.#buffer.writeBigUInt64LE(value, this.length);
    this.length += 8;
  }

  /** Writes a varint, 0 <= value < 2^53. */
  varint(value: number): void {
    // NaN and Infinity would loop forever or write an invalid number.
    invariant(value >= 0 && value <= Number.MAX_SAFE_INTEGER, 'a varint is a whole number below 2^53');
    this.#reserve(8);
    this.length = writeVarint(this.#buffer, this.length, value);
  }

  /** Writes a signed whole number with its sign folded into the lowest bit; |value| < 2^52. */
  signedVarint(value: number): void {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.length);
    this.length += value.length;
  }

  /** Writes length-prefixed bytes. */
  block(value: Uint8Array): void {
    this.varint(value.length);
    this.bytes(value);
  }

  text(value: string): void {
    if (value.length <= SHORT_TEXT && this.#shortText(value)) return;
    const size = Buffer.byteLength(value);
    this.varint(size);
    this.#reserve(size);
    this.#buffer.write(value, this.length, 'utf8');
    this.length += size;
  }

  /** Writes a short text of ASCII characters. Returns false, and writes nothing, if it has others. */
  #shortText(value: string): boolean {
    const { length } = value;
    this.#reserve(length + 1);
    const buffer = this.#buffer;
    const at = this.length;
    buffer[at] = length;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) return false;
      buffer[at + 1 + i] = code;
    }
    this.length = at + 1 + length;
    return true;
  }

  /** Writes a text that may contain bytes that are not UTF-8 (byte-text.ts), as its original bytes. */
  byteText(value: string): void {
    if (value.isWellFormed()) this.text(value);
    else this.block(bytesOfText(value));
  }

  /**
   * Returns a view of the written bytes. Later writes may move to another buffer, which leaves the view
   * outdated.
   */
  view(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  /** Returns a copy of the written bytes. */
  finish(): Buffer {
    return Buffer.from(this.view());
  }
}

/** Writes a varint at `at` and returns the offset after it. The caller ensures 8 free bytes. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest >= 0x80) {
    target[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  target[at++] = rest;
  return at;
}

/** Factor of a varint's ninth byte, which is out of range. */
const BEYOND_VARINT = 0x80 ** 8;

/**
 * Reads all varints of `bytes[start..end)` and returns their number. `numbers` must have an element for each
 * byte. It is faster than ByteReader for many small numbers, because a ByteReader updates its position each
 * time. Throws CorruptionError.
 */
export function readVarints(bytes: Uint8Array, start: number, end: number, numbers: Float64Array): number {
  let count = 0;
  for (let at = start; at < end; count++) {
    let byte = bytes[at++];
    let value = byte & 0x7f;
    if (byte >= 0x80) {
      let factor = 0x80;
      for (; byte >= 0x80 && at < end && factor < BEYOND_VARINT; factor *= 0x80) {
        byte = bytes[at++];
        value += (byte & 0x7f) * factor;
      }
      if (byte >= 0x80 || value > Number.MAX_SAFE_INTEGER) {
        throw new CorruptionError(`varint before offset ${at} is cut or over 2^53`);
      }
    }
    numbers[count] = value;
  }
  return count;
}

/** Reads the output of ByteWriter. Every read past the end or out of range throws CorruptionError. */
export class ByteReader {
  readonly #buffer: Buffer;
  #at: number;
  readonly #end: number;

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer;
    this.#at = start;
    this.#end = end;
  }

  get position(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  #take(bytes: number): number {
    const start = this.#at;
    if (bytes > this.#end - start) {
      throw new CorruptionError(
        `wanted ${bytes} bytes at offset ${start}, but only ${this.#end - start} are left`,
      );
    }
    this.#at = start + bytes;
    return start;
  }

  byte(): number {
    return this.#buffer[this.#take(1)];
  }

  u32(): number {
    return this.#buffer.readUInt32LE(this.#take(4));
  }

  u64(): bigint {
    return this.#buffer.readBigUInt64LE(this.#take(8));
  }

  varint(): number {
    const buffer = this.#buffer;
    const end = this.#end;
    let at = this.#at;
    let value = 0;
    let factor = 1;
    for (let i = 0; i < 8 && at < end; i++) {
      const byte = buffer[at++];
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        this.#at = at;
        return value;
      }
      factor *= 0x80;
    }
    if (at === end && buffer[at - 1] >= 0x80) throw new CorruptionError(`varint before offset ${at} is cut`);
    if (this.#at === end) throw new CorruptionError(`wanted 1 bytes at offset ${end}, but only 0 are left`);
    throw new CorruptionError(`varint before offset ${at} is over 2^53`);
  }

  /** Skips this many varints without decoding them. */
  skipVarints(count: number): void {
    const buffer = this.#buffer;
    const end = this.#end;
    let at = this.#at;
    let left = count;
    while (left > 0 && at < end) if (buffer[at++] < 0x80) left--;
    if (left > 0) throw new CorruptionError(`${left} of ${count} varints before offset ${end} are missing`);
    this.#at = at;
  }

  /** Returns a view of the bytes from `start`, an earlier `position`, to the current position. */
  since(start: number): Buffer {
    return this.#buffer.subarray(start, this.#at);
  }

  /**
   * Reads the number of following items of at least `minBytes` bytes each. Throws CorruptionError if they
   * cannot all fit, so that a corrupt number never causes a large allocation.
   */
  count(minBytes: number): number {
    const value = this.varint();
    if (value * minBytes > this.#end - this.#at) {
      throw new CorruptionError(
        `count ${value} before offset ${this.#at} is more than the bytes left can hold`,
      );
    }
    return value;
  }

  signedVarint(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  bytes(length: number): Buffer {
    const start = this.#take(length);
    return this.#buffer.subarray(start, start + length);
  }

  block(): Buffer {
    return this.bytes(this.varint());
  }

  text(): string {
    const length = this.varint();
    const start = this.#take(length);
    return this.#buffer.utf8Slice(start, start + length);
  }

  /** Reads a text that `ByteWriter.byteText` wrote. */
  byteText(): string {
    const length = this.varint();
    const start = this.#take(length);
    return textOfBytes(this.#buffer, start, start + length);
  }
}
