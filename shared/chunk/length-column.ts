/** Line lengths of a page as varints; reading turns them into offsets into the line bytes. */
import { CorruptionError } from '../model/errors.ts';

export function encodeLengths(lengths: Uint32Array, rows: number): Uint8Array {
  const out = Buffer.allocUnsafe(rows * 5);
  let at = 0;
  for (let i = 0; i < rows; i++) {
    let value = lengths[i];
    while (value >= 0x80) {
      out[at++] = (value & 0x7f) | 0x80;
      value >>>= 7;
    }
    out[at++] = value;
  }
  return out.subarray(0, at);
}

/** `rows + 1` offsets. Throws CorruptionError where the lengths do not add up to `lineBytes`. */
export function decodeOffsets(bytes: Buffer, rows: number, lineBytes: number, what: string): Uint32Array {
  const offsets = new Uint32Array(rows + 1);
  const end = bytes.length;
  let at = 0;
  let total = 0;
  for (let i = 0; i < rows; i++) {
    let shift = 0;
    let byte: number;
    let length = 0;
    do {
      if (at >= end || shift > 28) throw new CorruptionError(`${what}: broken at row ${i} of ${rows}`);
      byte = bytes[at++];
      length += (byte & 0x7f) * 2 ** shift;
      shift += 7;
    } while (byte >= 0x80);
    total += length;
    offsets[i + 1] = total;
  }
  if (at !== end || total !== lineBytes) {
    throw new CorruptionError(
      `${what}: lengths add up to ${total} where ${lineBytes} bytes of lines are stored`,
    );
  }
  return offsets;
}
