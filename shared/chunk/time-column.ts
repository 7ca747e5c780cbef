/**
 * Timestamps of a page. Each run starts with an offset from the page's base, the rest are differences to the row
 * before; all are divided by the page's scale, the largest power of 1000 that divides every offset (clocks with
 * milliseconds then cost two bytes a row, not five).
 *
 * Of a nanosecond clock the low bits of a difference are noise. They are kept apart, in fixed width: noise among the
 * high parts would spoil their entropy code (10% more bytes on the benchmark corpus), and fixed width reads faster.
 */
import { CorruptionError } from '../model/errors.ts';
import { writeVarint } from './byte-io.ts';

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

/** Place in SCALES of the largest scale that divides every offset. */
function scaleOf(offsets: Float64Array, rows: number): number {
  let scale = SCALES.length - 1;
  for (let i = 0; i < rows && scale > 0; i++) while (scale > 0 && offsets[i] % SCALES[scale] !== 0) scale--;
  return scale;
}

/**
 * Packs `rows` offsets (ns from the page's base).
 * @param runStarts 1 where a run begins at the row
 */
export function encodeTimes(offsets: Float64Array, rows: number, runStarts: Uint8Array): EncodedTimes {
  const scale = scaleOf(offsets, rows);
  const unit = SCALES[scale];
  const deltas = new Float64Array(rows);
  let before = 0;
  let sum = 0;
  let inner = 0;
  for (let i = 0; i < rows; i++) {
    const value = offsets[i] / unit;
    if (runStarts[i] === 1) deltas[i] = value;
    else {
      deltas[i] = value - before;
      sum += deltas[i];
      inner++;
    }
    before = value;
  }
  const width = lowBytesFor(inner === 0 ? 0 : sum / inner);
  const low = Buffer.allocUnsafe(rows * width);
  const high = Buffer.allocUnsafe(rows * 8);
  const divisor = 2 ** (8 * width);
  let at = 0;
  for (let i = 0; i < rows; i++) {
    const upper = Math.floor(deltas[i] / divisor);
    if (width > 0) low.writeUIntLE(deltas[i] - upper * divisor, i * width, width);
    if (upper < 0x80) high[at++] = upper;
    else at = writeVarint(high, at, upper);
  }
  return { scale, high: high.subarray(0, at), low };
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
  const times = new Float64Array(rows);
  const used = decodeVarints(high, rows, times);
  if (used !== high.length)
    throw new CorruptionError(`${what}: timestamps take ${used} of ${high.length} bytes`);
  if (width > 0) addLow(times, low, rows, width);
  let row = 0;
  for (let run = 0; run <= firstRows.length; run++) {
    const end = run < firstRows.length ? Math.min(firstRows[run], rows) : rows;
    let value = 0;
    for (; row < end; row++) {
      value += times[row];
      times[row] = value * unit;
    }
  }
  return times;
}

/** Fills `out` and returns the bytes used; past the end where the input is too short. */
function decodeVarints(bytes: Buffer, rows: number, out: Float64Array): number {
  let at = 0;
  for (let i = 0; i < rows; i++) {
    let byte = bytes[at++];
    if (byte < 0x80) {
      out[i] = byte;
      continue;
    }
    let value = byte & 0x7f;
    let factor = 0x80;
    do {
      byte = bytes[at++];
      value += (byte & 0x7f) * factor;
      factor *= 0x80;
    } while (byte >= 0x80);
    out[i] = value;
  }
  return at;
}

function addLow(out: Float64Array, low: Buffer, rows: number, width: number): void {
  const divisor = 2 ** (8 * width);
  if (width === 3) {
    for (let i = 0, at = 0; i < rows; i++, at += 3) {
      out[i] = out[i] * divisor + (low[at] | (low[at + 1] << 8) | (low[at + 2] << 16));
    }
    return;
  }
  for (let i = 0; i < rows; i++) out[i] = out[i] * divisor + low.readUIntLE(i * width, width);
}
