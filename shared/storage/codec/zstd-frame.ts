/**
 * Frame header around zstd's blocks (RFC 8878, 3.1.1). Frames that versions before 0.2.0 wrote as a stream do not
 * contain their content size. The library then decompresses them into an internal window and copies from
 * there. That is 8% slower, and data that does not fit the output remains in the context. The size of our
 * blocks is known, so this module inserts it.
 */
const MAGIC = 0xfd2f_b528;
/** Descriptor bits: the content size has four bytes. */
const SIZE_OF_4 = 0x80;
const SINGLE_SEGMENT = 0x20;
const CHECKSUM = 0x04;
const DICTIONARY_ID = 0x03;
/** Size of magic, descriptor and window in a frame without content size. */
const BARE_HEADER_BYTES = 6;
/** Number of bytes that `withContentSize` adds. */
export const ADDED_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const RLE_BLOCK = 1;

export const UNDECLARED = -1;
export const UNUSUAL = -2;

/**
 * Returns the content size from the header, or UNDECLARED if it has none. Returns UNUSUAL if the bytes are
 * not exactly one frame, from magic to last block, or have a form that this program never writes.
 */
export function contentSize(frame: Buffer): number {
  if (frame.length < BARE_HEADER_BYTES + BLOCK_HEADER_BYTES || frame.readUInt32LE(0) !== MAGIC)
    return UNUSUAL;
  const descriptor = frame[4];
  if ((descriptor & DICTIONARY_ID) !== 0) return UNUSUAL;
  const isSingle = (descriptor & SINGLE_SEGMENT) !== 0;
  const at = isSingle ? 5 : 6;
  const trailer = (descriptor & CHECKSUM) === 0 ? 0 : 4;
  switch (descriptor >> 6) {
    case 0:
      if (!isSingle) return isWhole(frame, at, trailer) ? UNDECLARED : UNUSUAL;
      return isWhole(frame, at + 1, trailer) ? frame[at] : UNUSUAL;
    case 1:
      return isWhole(frame, at + 2, trailer) ? frame.readUInt16LE(at) + 256 : UNUSUAL;
    case 2:
      return isWhole(frame, at + 4, trailer) ? frame.readUInt32LE(at) : UNUSUAL;
    default:
      return UNUSUAL;
  }
}

/** Returns whether the blocks from `at` end at the end of the frame. */
function isWhole(frame: Buffer, at: number, trailer: number): boolean {
  let next = at;
  while (next + BLOCK_HEADER_BYTES <= frame.length) {
    const header = frame.readUIntLE(next, BLOCK_HEADER_BYTES);
    const isRle = ((header >> 1) & 3) === RLE_BLOCK;
    next += BLOCK_HEADER_BYTES + (isRle ? 1 : header >> 3);
    if ((header & 1) === 1) return next + trailer === frame.length;
  }
  return false;
}

/**
 * Copies an UNDECLARED frame to the start of `out`, with `size` in its header. Returns the length of the
 * copy.
 */
export function withContentSize(frame: Buffer, size: number, out: Buffer): number {
  frame.copy(out, 0, 0, BARE_HEADER_BYTES);
  out[4] |= SIZE_OF_4;
  out.writeUInt32LE(size, BARE_HEADER_BYTES);
  frame.copy(out, BARE_HEADER_BYTES + ADDED_BYTES, BARE_HEADER_BYTES);
  return frame.length + ADDED_BYTES;
}
