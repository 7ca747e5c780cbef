/**
 * Encodings of Parquet for whole numbers: runs and bit-packed groups (RLE), and packed deltas
 * (DELTA_BINARY_PACKED).
 */
import type { ByteSink } from './bytes.ts';

/** Values of a bit-packed group, and minimum length of a run. */
const GROUP = 8;
const BLOCK = 128;
const MINIBLOCKS = 4;
const MINIBLOCK = BLOCK / MINIBLOCKS;
/** Bits added to the accumulator at a time. Together with up to 7 pending bits they stay below 2^31. */
const MAX_BITS_AT_ONCE = 24;

/** Bits of numbers from 0 to `max`. At least one, which every reader supports. */
export function bitWidth(max: number): number {
  return Math.max(1, 32 - Math.clz32(max));
}

/** Writes the numbers from index `from` to `to`, of `width` bits each, as runs and bit-packed groups. */
export function writeRuns(out: ByteSink, values: Uint32Array, from: number, to: number, width: number): void {
  for (let at = from; at < to; ) {
    const run = runAt(values, at, to, to - at);
    if (run >= GROUP) {
      out.varint(run * 2);
      for (let shift = 0; shift < width; shift += 8) out.byte((values[at] >>> shift) & 255);
      at += run;
      continue;
    }
    let end = at + GROUP;
    while (end < to && runAt(values, end, to, GROUP) < GROUP) end += GROUP;
    const groups = Math.ceil((Math.min(end, to) - at) / GROUP);
    out.varint(groups * 2 + 1);
    const bits = new BitSink(out);
    for (let i = at; i < at + groups * GROUP; i++) bits.add(i < to ? values[i] : 0, width);
    at += groups * GROUP;
  }
}

/** Number of repetitions of the value at an index, up to `most`. */
function runAt(values: Uint32Array, at: number, to: number, most: number): number {
  let run = 1;
  while (run < most && at + run < to && values[at + run] === values[at]) run++;
  return run;
}

/**
 * Writes whole numbers as packed deltas.
 *
 * @param first the first value
 * @param offsets exact difference of each value to the first, in numbers between -2^52 and 2^52
 */
export function writeDeltas(out: ByteSink, first: bigint, offsets: Float64Array): void {
  const count = offsets.length;
  for (const value of [BLOCK, MINIBLOCKS, count]) out.varint(value);
  out.zigzag(first);
  const deltas = new Float64Array(BLOCK);
  for (let at = 1; at < count; at += BLOCK) {
    const size = Math.min(BLOCK, count - at);
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < size; i++) {
      deltas[i] = offsets[at + i] - offsets[at + i - 1];
      if (deltas[i] < least) least = deltas[i];
    }
    deltas.fill(least, size);
    out.zigzag(BigInt(least));
    const widths = Array.from({ length: MINIBLOCKS }, (_, block) => {
      if (block * MINIBLOCK >= size) return 0;
      let most = 0;
      for (let i = block * MINIBLOCK; i < (block + 1) * MINIBLOCK; i++)
        most = Math.max(most, deltas[i] - least);
      return most === 0 ? 0 : Math.floor(Math.log2(most)) + 1;
    });
    for (const width of widths) out.byte(width);
    for (const [block, width] of widths.entries()) {
      const bits = new BitSink(out);
      if (width > 0)
        for (let i = block * MINIBLOCK; i < (block + 1) * MINIBLOCK; i++) bits.add(deltas[i] - least, width);
    }
  }
}

/**
 * Packs numbers of variable width, lowest bit first. Writes whole bytes. All numbers together must fill whole
 * bytes.
 */
class BitSink {
  readonly #out: ByteSink;
  #bits = 0;
  #count = 0;

  constructor(out: ByteSink) {
    this.#out = out;
  }

  /** @param width number of bits, up to 53 */
  add(value: number, width: number): void {
    let rest = value;
    let left = width;
    for (; left > MAX_BITS_AT_ONCE; left -= MAX_BITS_AT_ONCE) {
      this.#addFew(rest % 2 ** MAX_BITS_AT_ONCE, MAX_BITS_AT_ONCE);
      rest = Math.floor(rest / 2 ** MAX_BITS_AT_ONCE);
    }
    this.#addFew(rest, left);
  }

  #addFew(value: number, width: number): void {
    this.#bits |= value << this.#count;
    this.#count += width;
    for (; this.#count >= 8; this.#count -= 8) {
      this.#out.byte(this.#bits & 255);
      this.#bits >>>= 8;
    }
  }
}
