/** Line lengths of a page as varints; reading turns them into offsets into the line bytes. */
import { CorruptionError } from '../model/errors.ts';

/** Of the fifth byte of a length; there is no sixth. */
const MAX_FACTOR = 2 ** 28;

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
    // Nearly all lengths take one or two bytes. Past the end a byte is undefined, which no comparison accepts.
    let length = bytes[at];
    if (length < 0x80) at++;
    else if (length >= 0x80 && bytes[at + 1] < 0x80) {
      length += (bytes[at + 1] << 7) - 0x80;
      at += 2;
    } else {
      length = 0;
      let factor = 1;
      let byte: number;
      do {
        if (at >= end || factor > MAX_FACTOR)
          throw new CorruptionError(`${what}: broken at row ${i} of ${rows}`);
        byte = bytes[at++];
        length += (byte & 0x7f) * factor;
        factor *= 0x80;
      } while (byte >= 0x80);
    }
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
