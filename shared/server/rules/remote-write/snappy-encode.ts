/**
 * Encodes Snappy's block format for remote write. It finds repeats of at least four bytes in blocks of 64
 * KiB. More is unnecessary, because series of one rule differ in a few bytes and compress well with this.
 */
const BLOCK_BYTES = 65_536;
const HASH_BITS = 14;
const MIN_MATCH = 4;
/** Shorter input is not compressed. */
const MIN_BLOCK = 16;
const MAX_COPY = 64;

export function snappyEncode(input: Uint8Array): Buffer {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  // Literals add at most 3 bytes per block.
  const out = Buffer.allocUnsafe(10 + bytes.length + Math.ceil(bytes.length / 6) + 16);
  let at = writeVarint(out, 0, bytes.length);
  const table = new Int32Array(1 << HASH_BITS);
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    at = encodeBlock(bytes, start, Math.min(bytes.length, start + BLOCK_BYTES), { out, at, table });
  }
  return out.subarray(0, at);
}

interface Target {
  readonly out: Buffer;
  at: number;
  /** Latest position of four bytes with a hash, from 1; 0 is none. */
  readonly table: Int32Array;
}

function encodeBlock(bytes: Buffer, start: number, end: number, target: Target): number {
  const { table } = target;
  table.fill(0);
  let literal = start;
  let at = start;
  const last = end - MIN_BLOCK;
  while (at <= last) {
    const word = bytes.readUInt32LE(at);
    const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - HASH_BITS);
    const candidate = table[slot] - 1;
    table[slot] = at + 1;
    if (candidate < start || bytes.readUInt32LE(candidate) !== word) {
      at++;
      continue;
    }
    let length = MIN_MATCH;
    while (at + length < end && bytes[candidate + length] === bytes[at + length]) length++;
    writeLiteral(bytes, literal, at, target);
    writeCopies(at - candidate, length, target);
    at += length;
    literal = at;
  }
  writeLiteral(bytes, literal, end, target);
  return target.at;
}

function writeLiteral(bytes: Buffer, start: number, end: number, target: Target): void {
  const length = end - start;
  if (length === 0) return;
  const { out } = target;
  const less = length - 1;
  if (less < 60) out[target.at++] = less << 2;
  else if (less < 256) {
    out[target.at++] = 60 << 2;
    out[target.at++] = less;
  } else {
    out[target.at++] = 61 << 2;
    target.at = out.writeUInt16LE(less, target.at);
  }
  target.at += bytes.copy(out, target.at, start, end);
}

/** Writes copies with a two-byte offset, which covers a whole block. */
function writeCopies(offset: number, length: number, target: Target): void {
  const { out } = target;
  for (let left = length; left > 0; ) {
    const part = Math.min(left, MAX_COPY);
    out[target.at++] = ((part - 1) << 2) | 2;
    target.at = out.writeUInt16LE(offset, target.at);
    left -= part;
  }
}

function writeVarint(out: Buffer, start: number, value: number): number {
  let at = start;
  let left = value;
  while (left >= 0x80) {
    out[at++] = (left & 0x7f) | 0x80;
    left >>>= 7;
  }
  out[at++] = left;
  return at;
}
