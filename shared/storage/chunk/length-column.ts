/** Line lengths of a page as varints; decoding converts them to offsets into the line bytes. */
import { packLengths, unpackLengths } from '../../base/kernels/columns.ts';
import { CorruptionError } from '../../base/model/errors.ts';

export function encodeLengths(lengths: Uint32Array, rows: number): Uint8Array {
  return packLengths(lengths, rows);
}

/** Returns `rows + 1` offsets. Throws CorruptionError if the lengths do not add up to `lineBytes`. */
export function decodeOffsets(bytes: Buffer, rows: number, lineBytes: number, what: string): Uint32Array {
  const { offsets, soundRows, usedBytes, total } = unpackLengths(bytes, rows);
  if (soundRows < rows) throw new CorruptionError(`${what}: broken at row ${soundRows} of ${rows}`);
  if (usedBytes !== bytes.length || total !== lineBytes) {
    throw new CorruptionError(`${what}: lengths add up to ${total} bytes, expected ${lineBytes}`);
  }
  return offsets;
}
