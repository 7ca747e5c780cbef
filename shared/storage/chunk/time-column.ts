/**
 * Timestamps of a page. Each run starts with an offset from the page's base, the rest are differences to the row
 * before; all are divided by the page's scale, the largest power of 1000 that divides every offset (clocks with
 * milliseconds then cost two bytes a row, not five).
 *
 * Of a nanosecond clock the low bits of a difference are noise. They are kept apart, in fixed width: noise among the
 * high parts would spoil their entropy code (10% more bytes on the benchmark corpus), and fixed width reads faster.
 */
import { packTimes, unpackTimes } from '../../base/kernels/columns.ts';
import { CorruptionError } from '../../base/model/errors.ts';

export const SCALES = [1, 1000, 1_000_000, 1_000_000_000] as const;
const MAX_LOW_BYTES = 4;

export interface EncodedTimes {
  /** Place in SCALES. */
  readonly scale: number;
  /** Varints of what is left of each difference above its low bytes. */
  readonly high: Uint8Array;
  /** The low bytes of each difference, little endian, all of one width; empty where that is 0. */
  readonly low: Uint8Array;
}

/**
 * Packs `rows` offsets (ns from the page's base).
 * @param runStarts 1 where a run begins at the row
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
 * Offsets in ns from the page's base. Throws CorruptionError where the bytes do not hold exactly `rows` of them.
 * @param firstRows first rows of the runs, ascending
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
