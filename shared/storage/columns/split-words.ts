/** Words of a column of split lines (docs/dev/format.md#47-split-lines). */
import { CorruptionError } from '../../base/model/errors.ts';
import type { ByteReader } from '../codec/byte-io.ts';
import type { SplitRecord } from './split-frame.ts';

/** Reads the index of each value: a byte each, or `width` bits, the first in the lowest ones. Throws CorruptionError. */
export function indexesOfWords({ width, count }: SplitRecord, reader: ByteReader): Uint8Array {
  if (width === 0) return reader.bytes(count);
  if (width !== 1 && width !== 2 && width !== 4) throw new CorruptionError(`indexes of ${width} bits`);
  const packed = reader.bytes(Math.ceil((width * count) / 8));
  const indexes = new Uint8Array(count);
  const mask = (1 << width) - 1;
  for (let i = 0, bit = 0; i < count; i++, bit += width) indexes[i] = (packed[bit >> 3] >> (bit & 7)) & mask;
  return indexes;
}

/** Reads the starts of the words, and the end of the last one. Throws CorruptionError. */
export function startsOfWords({ number }: SplitRecord, reader: ByteReader): Uint32Array {
  const lengths = reader.bytes(2 * number);
  const starts = new Uint32Array(number + 1);
  for (let i = 0; i < number; i++) starts[i + 1] = starts[i] + (lengths[2 * i] | (lengths[2 * i + 1] << 8));
  return starts;
}
