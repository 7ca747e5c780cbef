/**
 * Levels and dictionary indexes of a Parquet page: runs of equal values, or bits in groups of eight values, each after a head that counts
 * them. hyparquet-writer chooses for every few values, which takes five times as long as bits alone.
 *
 *     run:   count << 1      | value in bytes
 *     bits:  groups << 1 | 1 | bits, the first value in the lowest ones
 */

const MAX_HEAD_BYTES = 5;
export const NO_BYTES = new Uint8Array(0);

/** A value of up to 8 bits, `count` times. @param width bits of a value: 0 to 8 */
export function run(value: number, count: number, width: number, prefix: readonly number[] = []): Uint8Array {
  const bytes = new Uint8Array(prefix.length + MAX_HEAD_BYTES + 1);
  bytes.set(prefix);
  let at = writeHead(bytes, prefix.length, 2 * count);
  if (width > 0) bytes[at++] = value;
  return bytes.subarray(0, at);
}

/** Values as bits. */
export function packed(values: Uint32Array, width: number, prefix: readonly number[] = []): Uint8Array {
  const groups = Math.ceil(values.length / 8);
  const bytes = new Uint8Array(prefix.length + MAX_HEAD_BYTES + groups * width);
  bytes.set(prefix);
  let at = writeHead(bytes, prefix.length, 2 * groups + 1);
  const end = at + groups * width;
  let bits = 0;
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    bits |= values[i] << count;
    for (count += width; count >= 8; count -= 8) {
      bytes[at++] = bits;
      bits >>>= 8;
    }
  }
  if (count > 0) bytes[at] = bits;
  return bytes.subarray(0, end);
}

/** A product with it has the lowest bits of four bytes in its highest four bits. */
const GATHER = 0x1020_4080;

/** Flags, 0 or 1, as bits: four at a time. */
export function packedFlags(flags: Uint8Array): Uint8Array {
  const groups = Math.ceil(flags.length / 8);
  const bytes = new Uint8Array(MAX_HEAD_BYTES + groups);
  let at = writeHead(bytes, 0, 2 * groups + 1);
  const view = new DataView(flags.buffer, flags.byteOffset, flags.length);
  const whole = flags.length - (flags.length % 8);
  for (let i = 0; i < whole; i += 8) {
    const low = Math.imul(view.getUint32(i, true), GATHER) >>> 28;
    const high = Math.imul(view.getUint32(i + 4, true), GATHER) >>> 28;
    bytes[at++] = low | (high << 4);
  }
  let rest = 0;
  for (let i = whole; i < flags.length; i++) rest |= flags[i] << (i - whole);
  if (whole < flags.length) bytes[at++] = rest;
  return bytes.subarray(0, at);
}

/** Bits of lists of values, in pieces, so that a list that occurs often is packed in a few steps. */
export class PackedLists {
  readonly #width: number;
  readonly #bits: number[] = [];
  readonly #lengths: number[] = [];
  /** First piece of each list, and the end of the last list. */
  readonly #first: number[] = [0];

  /** @param width bits of a value, up to MAX_PIECE_BITS */
  constructor(width: number) {
    this.#width = width;
  }

  /** Adds a list. Lists are numbered from 0. */
  add(values: readonly number[]): void {
    const width = this.#width;
    let bits = 0;
    let length = 0;
    for (const value of values) {
      if (length + width > MAX_PIECE_BITS) {
        this.#addPiece(bits, length);
        bits = 0;
        length = 0;
      }
      bits |= value << length;
      length += width;
    }
    if (length > 0) this.#addPiece(bits, length);
    this.#first.push(this.#bits.length);
  }

  #addPiece(bits: number, length: number): void {
    this.#bits.push(bits);
    this.#lengths.push(length);
  }

  /**
   * The values of several lists, one after the other.
   * @param lists numbers of the lists
   * @param count of all their values
   */
  pack(lists: Uint32Array, count: number, prefix: readonly number[] = []): Uint8Array {
    if (this.#width === 0) return run(0, count, 0, prefix);
    const groups = Math.ceil(count / 8);
    const bytes = new Uint8Array(prefix.length + MAX_HEAD_BYTES + groups * this.#width);
    bytes.set(prefix);
    const at = writeHead(bytes, prefix.length, 2 * groups + 1);
    const [first, bits] = [Uint32Array.from(this.#first), Uint32Array.from(this.#bits)];
    writePieces(bytes, at, lists, first, bits, Uint8Array.from(this.#lengths));
    return bytes.subarray(0, at + groups * this.#width);
  }
}

/** A piece and up to 7 bits of the one before fit in the 32 bits of an operation. */
const MAX_PIECE_BITS = 24;

function writePieces(
  bytes: Uint8Array,
  start: number,
  lists: Uint32Array,
  first: Uint32Array,
  bits: Uint32Array,
  lengths: Uint8Array,
): void {
  let at = start;
  let pending = 0;
  let count = 0;
  for (let i = 0; i < lists.length; i++) {
    const end = first[lists[i] + 1];
    for (let piece = first[lists[i]]; piece < end; piece++) {
      pending |= bits[piece] << count;
      for (count += lengths[piece]; count >= 8; count -= 8) {
        bytes[at++] = pending;
        pending >>>= 8;
      }
    }
  }
  if (count > 0) bytes[at] = pending;
}

/** Returns the end. */
function writeHead(bytes: Uint8Array, start: number, head: number): number {
  let at = start;
  let left = head;
  for (; left >= 0x80; left >>>= 7) bytes[at++] = left | 0x80;
  bytes[at++] = left;
  return at;
}
