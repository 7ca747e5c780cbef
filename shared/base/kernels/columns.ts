/** Host side of assembly/columns.ts: encodes columns of timestamps and line lengths. */
import { KernelInstance } from './kernels.ts';

const INPUT_AT = 4096;
/** Padding after inputs and outputs, because loads and stores run past their end. */
const SLACK_BYTES = 64;
/** Size above which the memory is dropped after use; only a page of many rows needs more. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Maximum encoded bytes of a length, and of a time difference. */
const MAX_LENGTH_BYTES = 5;
const MAX_DELTA_BYTES = 8;
/** Marks the end of the list of first rows. */
const NO_ROW = 0xffffffff;

interface ColumnKernel {
  columnEnd(): number;
  lengthTotal(): number;
  meanDelta(offsets: number, rows: number, starts: number, unit: number): number;
  meanDistance(offsets: number, rows: number, starts: number, unit: number, mean: number): number;
  packLengths(lengths: number, rows: number, out: number): void;
  packTimes(
    offsets: number,
    rows: number,
    starts: number,
    unit: number,
    bits: number,
    high: number,
    low: number,
  ): void;
  scaleOfTimes(offsets: number, rows: number): number;
  unpackLengths(from: number, end: number, rows: number, out: number): number;
  unpackTimes(
    high: number,
    end: number,
    low: number,
    bits: number,
    unit: number,
    rows: number,
    starts: number,
    out: number,
  ): number;
}

let instance: KernelInstance<ColumnKernel> | undefined;

/** Returns the kernel with memory for parts of these sizes, and the offset of each, a multiple of 64. */
function layOut(...parts: readonly number[]) {
  if (instance === undefined || instance.bytes.length > MAX_KEPT_BYTES) instance = new KernelInstance();
  let at = INPUT_AT;
  const addresses = parts.map(bytes => {
    const address = at;
    at += Math.ceil(bytes / SLACK_BYTES + 1) * SLACK_BYTES;
    return address;
  });
  instance.reserve(at);
  return { kernel: instance, addresses };
}

/**
 * Returns the end of all parts of `layOut` with these sizes. Tests check that the kernel touches nothing
 * after it.
 */
export function columnMemoryBytes(...parts: readonly number[]): number {
  return parts.reduce((at, bytes) => at + Math.ceil(bytes / SLACK_BYTES + 1) * SLACK_BYTES, INPUT_AT);
}

/** Encodes `rows` lengths as varints, seven bits per byte. */
export function packLengths(lengths: Uint32Array, rows: number): Buffer {
  const { kernel, addresses } = layOut(4 * rows, MAX_LENGTH_BYTES * rows);
  const [lengthsAt, out] = addresses;
  kernel.words.set(lengths.subarray(0, rows), lengthsAt >>> 2);
  kernel.run.packLengths(lengthsAt, rows, out);
  return Buffer.from(kernel.bytes.subarray(out, kernel.run.columnEnd()));
}

/** Decoded part of a column. The column is valid if all rows are sound and all bytes are used. */
interface UnpackedLengths {
  readonly offsets: Uint32Array;
  readonly soundRows: number;
  readonly usedBytes: number;
  readonly total: number;
}

/** Decodes `rows` line lengths into `rows + 1` line offsets. */
export function unpackLengths(packed: Uint8Array, rows: number): UnpackedLengths {
  const { kernel, addresses } = layOut(packed.length, 4 * (rows + 1));
  const [from, out] = addresses;
  const { run, bytes, words } = kernel;
  bytes.set(packed, from);
  const soundRows = run.unpackLengths(from, from + packed.length, rows, out);
  const offsets = words.slice(out >>> 2, (out >>> 2) + rows + 1);
  return { offsets, soundRows, usedBytes: run.columnEnd() - from, total: run.lengthTotal() };
}

interface PackedTimes {
  readonly scale: number;
  readonly high: Buffer;
  readonly low: Buffer;
  /** Low bits of a difference. */
  readonly bits: number;
}

/** Differences of adjacent rows of a run, in units; both numbers are 0 if there are none. */
export interface TimeDifferences {
  readonly mean: number;
  /** Mean distance from the mean; computed for each call. */
  distance(): number;
}

/**
 * @param starts 1 for the first row of a run
 * @param units Candidate units by scale
 * @param bitsFor Returns the number of low bits of a difference, up to 40
 */
export function packTimes(
  offsets: Float64Array,
  rows: number,
  starts: Uint8Array,
  units: readonly number[],
  bitsFor: (differences: TimeDifferences) => number,
): PackedTimes {
  const { kernel, addresses } = layOut(8 * rows, rows, MAX_DELTA_BYTES * rows, MAX_DELTA_BYTES * rows);
  const [offsetsAt, startsAt, high, low] = addresses;
  const { run, bytes } = kernel;
  new Float64Array(bytes.buffer, offsetsAt, rows).set(offsets.subarray(0, rows));
  bytes.set(starts.subarray(0, rows), startsAt);
  const scale = run.scaleOfTimes(offsetsAt, rows);
  const unit = units[scale];
  const mean = run.meanDelta(offsetsAt, rows, startsAt, unit);
  const bits = bitsFor({ mean, distance: () => run.meanDistance(offsetsAt, rows, startsAt, unit, mean) });
  run.packTimes(offsetsAt, rows, startsAt, unit, bits, high, low);
  return {
    scale,
    high: Buffer.from(bytes.subarray(high, run.columnEnd())),
    low: Buffer.from(bytes.subarray(low, low + lowBytesOf(bits, rows))),
    bits,
  };
}

/** Returns the size of the low bits of `rows` differences. */
export function lowBytesOf(bits: number, rows: number): number {
  return Math.ceil((bits * rows) / 8);
}

interface UnpackedTimes {
  readonly times: Float64Array;
  readonly soundRows: number;
  readonly usedBytes: number;
}

/**
 * @param firstRows First rows of the runs, ascending
 * @param low `lowBytesOf(bits, rows)` bytes, with up to 40 bits
 */
export function unpackTimes(
  { high, low, bits }: { readonly high: Uint8Array; readonly low: Uint8Array; readonly bits: number },
  unit: number,
  rows: number,
  firstRows: ArrayLike<number>,
): UnpackedTimes {
  const { kernel, addresses } = layOut(high.length, low.length, 4 * (firstRows.length + 1), 8 * rows);
  const [highAt, lowAt, startsAt, out] = addresses;
  const { run, bytes, words } = kernel;
  bytes.set(high, highAt);
  bytes.set(low, lowAt);
  words.set(firstRows, startsAt >>> 2);
  words[(startsAt >>> 2) + firstRows.length] = NO_ROW;
  const end = highAt + high.length;
  const soundRows = run.unpackTimes(highAt, end, lowAt, bits, unit, rows, startsAt, out);
  const times = new Float64Array(bytes.buffer, out, rows).slice();
  return { times, soundRows, usedBytes: run.columnEnd() - highAt };
}
