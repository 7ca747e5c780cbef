/**
 * Timestamps of a page. Each run starts with an offset from the page's base. The other rows store differences
 * from the previous row. All are divided by the page's scale, the largest power of 1000 that divides every
 * offset. With a millisecond clock, a row then needs two bytes instead of five.
 *
 * With a nanosecond clock, the low bits of a difference are noise. They are stored separately with a fixed
 * width, which also decodes faster. Among the high parts, noise would degrade their entropy code (10% more
 * bytes on the benchmark corpus).
 */
import { packTimes, unpackTimes } from '../../base/kernels/columns.ts';
import { CorruptionError } from '../../base/model/errors.ts';

export const SCALES = [1, 1000, 1_000_000, 1_000_000_000] as const;
const MAX_LOW_BYTES = 4;

interface EncodedTimes {
  /** Index into SCALES. */
  readonly scale: number;
  /** Varints of each difference without its low bytes. */
  readonly high: Uint8Array;
  /** Low bytes of each difference, little endian, all of one width; empty if the width is 0. */
  readonly low: Uint8Array;
}

/**
 * Encodes `rows` offsets (ns from the page's base).
 * @param runStarts 1 if a run begins at the row
 */
export function encodeTimes(offsets: Float64Array, rows: number, runStarts: Uint8Array): EncodedTimes {
  return packTimes(offsets, rows, runStarts, SCALES, lowBytesFor);
}

/** Leaves a high part of 4 to 12 bits for a typical difference. */
function lowBytesFor(meanDelta: number): number {
  if (meanDelta < 4096) return 0;
  return Math.min(Math.floor((Math.log2(meanDelta) - 4) / 8), MAX_LOW_BYTES);
}

/**
 * Returns offsets in ns from the page's base. Throws CorruptionError if the bytes do not contain exactly
 * `rows` offsets.
 * @param firstRows First rows of the runs, ascending
 */
export function decodeTimes(
  { high, low, scale }: { readonly high: Buffer; readonly low: Buffer; readonly scale: number },
  rows: number,
  firstRows: ArrayLike<number>,
  what: string,
): Float64Array {
  const unit = SCALES[scale];
  if (unit === undefined) throw new CorruptionError(`${what}: unknown scale ${scale}`);
  const width = rows === 0 ? 0 : low.length / rows;
  if (!Number.isInteger(width) || width > MAX_LOW_BYTES) {
    throw new CorruptionError(`${what}: ${low.length} low bytes for ${rows} timestamps`);
  }
  const { times, soundRows, usedBytes } = unpackTimes({ high, low }, unit, rows, firstRows);
  if (soundRows < rows || usedBytes !== high.length)
    throw new CorruptionError(
      `${what}: ${soundRows} of ${rows} timestamps take ${usedBytes} of ${high.length} bytes`,
    );
  return times;
}
