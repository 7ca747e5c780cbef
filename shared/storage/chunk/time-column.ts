/**
 * Timestamps of a page. Each run starts with an offset from the page's base. The other rows store differences
 * from the previous row. All are divided by the page's scale, the largest power of 1000 that divides every
 * offset. With a millisecond clock, a row then needs two bytes instead of five.
 *
 * With a nanosecond clock, the low bits of a difference are noise. They are stored separately with a fixed
 * width, which also decodes faster. Among the high parts, noise would degrade their entropy code (10% more
 * bytes on the benchmark corpus). Pushes have whole low bytes. Merged pages have low bits, so that most high parts are below 16:
 * times then take 0.973 of the bytes, 2% more than the entropy of random gaps.
 */
import { lowBytesOf, packTimes, type TimeDifferences, unpackTimes } from '../../base/kernels/columns.ts';
import { CorruptionError } from '../../base/model/errors.ts';

export const SCALES = [1, 1000, 1_000_000, 1_000_000_000] as const;
const MAX_LOW_BYTES = 4;
const MAX_LOW_BITS = 40;

interface EncodedTimes {
  /** Index into SCALES. */
  readonly scale: number;
  /** Varints of each difference without its low bits. */
  readonly high: Uint8Array;
  /** `lowTimes` or `packedTimes` column (ColumnKind); an empty one of `lowTimes` is not stored. */
  readonly low: Uint8Array;
}

/**
 * Encodes `rows` offsets (ns from the page's base), with low bytes.
 * @param runStarts 1 if a run begins at the row
 */
export function encodeTimes(offsets: Float64Array, rows: number, runStarts: Uint8Array): EncodedTimes {
  return packTimes(offsets, rows, runStarts, SCALES, lowBytesFor);
}

/** Works as `encodeTimes`, with low bits. */
export function encodePackedTimes(offsets: Float64Array, rows: number, runStarts: Uint8Array): EncodedTimes {
  const { scale, high, low, bits } = packTimes(offsets, rows, runStarts, SCALES, lowBitsFor);
  return { scale, high, low: Buffer.concat([Buffer.of(bits), low]) };
}

/** Leaves a high part of 4 to 12 bits for a typical difference. Returns bits. */
function lowBytesFor({ mean }: TimeDifferences): number {
  if (mean < 4096) return 0;
  return 8 * Math.min(Math.floor((Math.log2(mean) - 4) / 8), MAX_LOW_BYTES);
}

/** Leaves 4 to 8 high parts within the mean distance, so that even differences which hardly differ keep what repeats. */
function lowBitsFor(differences: TimeDifferences): number {
  const bits = Math.floor(Math.log2(differences.distance())) - 2;
  return Math.min(Math.max(bits, 0), MAX_LOW_BITS);
}

/** Stored columns of the times. */
interface StoredTimes {
  readonly high: Buffer;
  readonly scale: number;
  /** `lowTimes` column, empty if the page has none. */
  readonly low: Buffer;
  /** `packedTimes` column, if the page has one instead. */
  readonly packed?: Buffer | undefined;
}

/**
 * Returns offsets in ns from the page's base. Throws CorruptionError if the bytes do not contain exactly
 * `rows` offsets.
 * @param firstRows First rows of the runs, ascending
 */
export function decodeTimes(
  stored: StoredTimes,
  rows: number,
  firstRows: ArrayLike<number>,
  what: string,
): Float64Array {
  const { high, scale } = stored;
  const unit = SCALES[scale];
  if (unit === undefined) throw new CorruptionError(`${what}: unknown scale ${scale}`);
  const { low, bits } = lowBitsOf(stored, rows, what);
  const { times, soundRows, usedBytes } = unpackTimes({ high, low, bits }, unit, rows, firstRows);
  if (soundRows < rows || usedBytes !== high.length)
    throw new CorruptionError(
      `${what}: ${soundRows} of ${rows} timestamps take ${usedBytes} of ${high.length} bytes`,
    );
  return times;
}

function lowBitsOf({ low, packed }: StoredTimes, rows: number, what: string) {
  if (packed === undefined) {
    const width = rows === 0 ? 0 : low.length / rows;
    if (!Number.isInteger(width) || width > MAX_LOW_BYTES) {
      throw new CorruptionError(`${what}: ${low.length} low bytes for ${rows} timestamps`);
    }
    return { low, bits: 8 * width };
  }
  const bits = packed.length === 0 ? Number.NaN : packed[0];
  const bytes = packed.subarray(1);
  if (!(bits <= MAX_LOW_BITS) || bytes.length !== lowBytesOf(bits, rows)) {
    throw new CorruptionError(`${what}: ${bytes.length} bytes of ${bits} low bits for ${rows} timestamps`);
  }
  return { low: bytes, bits };
}
