/**
 * Line lengths of a page; decoding converts them to offsets into the line bytes. There are two forms. Varints suit pushes. Merged pages
 * have the differences to the shortest line, in as many bytes as the longest needs: all lowest bytes, then all second bytes and so on.
 * Two bytes of a varint differ in their statistics, so one table for both costs a quarter more bytes.
 */
import { packLengths, unpackLengths } from '../../base/kernels/columns.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import { ByteReader } from '../codec/byte-io.ts';

/** Maximum bytes of a difference. */
const MAX_WIDTH = 4;
/** Bytes before the differences: the width, and the shortest length. */
const HEAD_BYTES = 5;

export function encodeLengths(lengths: Uint32Array, rows: number): Uint8Array {
  return packLengths(lengths, rows);
}

/** Encodes `rows` lengths, at least one, in the fixed width that they need. */
export function encodeFixedLengths(lengths: Uint32Array, rows: number): Uint8Array {
  let least = lengths[0];
  let most = least;
  for (let row = 1; row < rows; row++) {
    if (lengths[row] < least) least = lengths[row];
    if (lengths[row] > most) most = lengths[row];
  }
  const width = most === least ? 0 : (39 - Math.clz32(most - least)) >>> 3;
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + width * rows);
  bytes[0] = width;
  bytes.writeUInt32LE(least, 1);
  for (let plane = 0, at = HEAD_BYTES; plane < width; plane++) {
    const shift = 8 * plane;
    for (let row = 0; row < rows; row++) bytes[at++] = (lengths[row] - least) >>> shift;
  }
  return bytes;
}

/** Returns `rows + 1` offsets. Throws CorruptionError if the lengths do not add up to `lineBytes`. */
export function decodeOffsets(bytes: Buffer, rows: number, lineBytes: number, what: string): Uint32Array {
  const { offsets, soundRows, usedBytes, total } = unpackLengths(bytes, rows);
  if (soundRows < rows) throw new CorruptionError(`${what}: broken at row ${soundRows} of ${rows}`);
  if (usedBytes !== bytes.length || total !== lineBytes) throw wrongTotal(total, lineBytes, what);
  return offsets;
}

/** Works as `decodeOffsets`, for lengths of a fixed width. */
export function decodeFixedOffsets(
  bytes: Buffer,
  rows: number,
  lineBytes: number,
  what: string,
): Uint32Array {
  const reader = new ByteReader(bytes);
  const width = reader.byte();
  const least = reader.u32();
  if (width > MAX_WIDTH || reader.remaining !== width * rows)
    throw new CorruptionError(`${what}: lengths of ${width} bytes for ${rows} rows`);
  const offsets = new Uint32Array(rows + 1);
  const total = addLengths(bytes, width, least, offsets);
  if (total !== lineBytes) throw wrongTotal(total, lineBytes, what);
  return offsets;
}

/**
 * Fills the offsets after the first and returns the last. A separate function: V8 optimizes the loop before the code behind it has
 * run, and discarded its own code at the end of each loop.
 */
function addLengths(bytes: Buffer, width: number, least: number, offsets: Uint32Array): number {
  const rows = offsets.length - 1;
  let total = 0;
  for (let row = 0; row < rows; row++) {
    let length = least;
    for (let plane = 0, at = HEAD_BYTES + row, factor = 1; plane < width; plane++, factor *= 256) {
      length += bytes[at] * factor;
      at += rows;
    }
    total += length;
    offsets[row + 1] = total;
  }
  return total;
}

function wrongTotal(total: number, lineBytes: number, what: string): CorruptionError {
  return new CorruptionError(`${what}: lengths add up to ${total} bytes, expected ${lineBytes}`);
}
