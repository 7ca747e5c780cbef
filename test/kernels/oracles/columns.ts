/** Byte-by-byte version of assembly/columns.ts. */
import type { TimeDifferences } from '../../../shared/base/kernels/columns.ts';

/** Numbers of seven bits per byte, of up to `maxBytes` each, and the position after them. */
export function readNumbers(
  bytes: Uint8Array,
  count: number,
  maxBytes: number,
): { numbers: bigint[]; at: number } {
  const numbers: bigint[] = [];
  let at = 0;
  while (numbers.length < count) {
    let end = at;
    while (end < bytes.length && bytes[end] >= 0x80) end++;
    if (end >= bytes.length || end - at >= maxBytes) break;
    let number = 0n;
    for (let i = end; i >= at; i--) number = number * 128n + BigInt(bytes[i] & 0x7f);
    numbers.push(number);
    at = end + 1;
  }
  return { numbers, at };
}

export function writeNumber(number: bigint): number[] {
  return number < 128n ? [Number(number)] : [Number(number % 128n) | 0x80, ...writeNumber(number / 128n)];
}

const EXACT = 2n ** 53n;

/** Offsets in ns from differences, as many as are sound. */
export function readTimes(
  { high, low, bits }: { readonly high: Uint8Array; readonly low: Uint8Array; readonly bits: number },
  unit: number,
  rows: number,
  firstRows: readonly number[],
): number[] {
  const divisor = 2n ** BigInt(bits);
  const all = low.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const times: number[] = [];
  let value = 0n;
  for (const upper of readNumbers(high, rows, 8).numbers) {
    const row = times.length;
    if (firstRows.includes(row)) value = 0n;
    if (upper >= EXACT / divisor) break;
    value += upper * divisor + ((all >> BigInt(bits * row)) % divisor);
    if (value > EXACT) break;
    times.push(Number(value) * unit);
  }
  return times;
}

/** The columns of offsets (ns), the first of each run if `starts` is 1. */
export function writeTimes(
  offsets: readonly number[],
  starts: readonly number[],
  units: readonly number[],
  bitsFor: (differences: TimeDifferences) => number,
) {
  const scale = units.findLastIndex(unit => offsets.every(offset => offset % unit === 0));
  const values = offsets.map(offset => BigInt(offset / units[scale]));
  const deltas = values.map((value, i) => (starts[i] === 1 ? value : value - values[i - 1]));
  const inner = deltas.filter((_, i) => starts[i] !== 1);
  const sum = inner.reduce((a, b) => a + b, 0n);
  const mean = inner.length === 0 ? 0 : Number(sum) / inner.length;
  const distances = inner.map(delta => Math.abs(Number(delta) - mean)).reduce((a, b) => a + b, 0);
  const bits = bitsFor({ mean, distance: () => (inner.length === 0 ? 0 : distances / inner.length) });
  const divisor = 2n ** BigInt(bits);
  const high = deltas.flatMap(delta => writeNumber(delta / divisor));
  let all = deltas.reduceRight((sum, delta) => sum * divisor + (delta % divisor), 0n);
  const low = Array.from({ length: Math.ceil((bits * deltas.length) / 8) }, () => {
    const byte = Number(all % 256n);
    all /= 256n;
    return byte;
  });
  return { scale, high, low, bits };
}
