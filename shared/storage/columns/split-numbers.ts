/** Numbers of a column of split lines (docs/dev/format.md#47-split-lines). */
import type { ByteReader } from '../codec/byte-io.ts';
import type { SplitRecord } from './split-frame.ts';

/** Maximum bytes of a number in a column, so that numbers are exact in a double. */
export const MAX_NUMBER_WIDTH = 6;
/** Bit of the mode: a number is the difference to the one before. */
const DELTA = 1;

/**
 * Returns `count` numbers: the lowest bytes of all are first, then the second ones and so on. Throws CorruptionError if there are not
 * enough bytes.
 */
export function numbersOf(
  { width, mode, base }: SplitRecord,
  count: number,
  reader: ByteReader,
): Float64Array {
  const numbers = new Float64Array(count);
  for (let plane = 0, factor = 1; plane < width; plane++, factor *= 256) {
    const bytes = reader.bytes(count);
    for (let i = 0; i < count; i++) numbers[i] += bytes[i] * factor;
  }
  if ((mode & DELTA) === 0) for (let i = 0; i < count; i++) numbers[i] += base;
  else {
    let last = base;
    for (let i = 0; i < count; i++) {
      const own = numbers[i];
      last += own % 2 === 1 ? -(own + 1) / 2 : own / 2;
      numbers[i] = last;
    }
  }
  return numbers;
}
