/**
 * Compressed bodies that are far larger when they are decompressed. They are assembled from repeated parts, so that
 * a test needs neither the memory nor the time that a body costs a server.
 */
import { gzipSync, zstdCompressSync } from 'node:zlib';

const MIB = 1024 * 1024;
/** Size of the content of one gzip member, or of one zstd frame. */
const PART_BYTES = 4 * MIB;
const MAX_COPY_BYTES = 64;
const MAX_COPY_DISTANCE = 65_535;

/** Content that is repeated `times` times. */
export interface Repeated {
  readonly bytes: Buffer;
  readonly times: number;
}

/** Gzip of the parts in order, in members of a few megabytes. */
export function gzipOf(...pieces: readonly Repeated[]): Buffer {
  return packParts(pieces, part => gzipSync(part, { level: 6 }));
}

/** Zstd of the parts in order, in frames of a few megabytes. */
export function zstdOf(...pieces: readonly Repeated[]): Buffer {
  return packParts(pieces, part => zstdCompressSync(part));
}

function packParts(pieces: readonly Repeated[], pack: (part: Buffer) => Buffer): Buffer {
  return Buffer.concat(
    pieces.flatMap(({ bytes, times }) => {
      const timesInPart = Math.max(1, Math.floor(PART_BYTES / bytes.length));
      const parts = Math.floor(times / timesInPart);
      const rest = times - parts * timesInPart;
      const packed: Buffer[] = [];
      if (parts > 0) packed.push(...Array<Buffer>(parts).fill(pack(repeat(bytes, timesInPart))));
      if (rest > 0) packed.push(pack(repeat(bytes, rest)));
      return packed;
    }),
  );
}

function repeat(bytes: Buffer, times: number): Buffer {
  return Buffer.alloc(bytes.length * times, bytes);
}

/** One zstd frame with a byte repeated `times` times, in RLE blocks (RFC 8878, 3.1.1.2). */
export function zstdFrameOf(byte: number, times: number): Buffer {
  const BLOCK_BYTES = 128 * 1024;
  const RUN = 1;
  // Magic number, no checksum, no content size, a window of 128 KiB.
  const frame = [Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38)];
  for (let left = times; left > 0; left -= BLOCK_BYTES) {
    const isLast = left <= BLOCK_BYTES ? 1 : 0;
    const block = Buffer.alloc(4);
    block.writeUIntLE((Math.min(left, BLOCK_BYTES) << 3) | (RUN << 1) | isLast, 0, 3);
    block[3] = byte;
    frame.push(block);
  }
  return Buffer.concat(frame);
}

/**
 * A block of snappy; parts are up to 65,535 bytes. It has 3 bytes for every 64 of content that repeats what
 * came before.
 */
export function snappyOf(...pieces: readonly Repeated[]): Buffer {
  const total = pieces.reduce((sum, { bytes, times }) => sum + bytes.length * times, 0);
  const out = [varint(total)];
  for (const { bytes, times } of pieces) {
    if (bytes.length > MAX_COPY_DISTANCE) throw new RangeError('a piece is too long to be copied from');
    out.push(snappyLiteral(bytes));
    const copied = bytes.length * (times - 1);
    const copies = Math.floor(copied / MAX_COPY_BYTES);
    if (copies > 0) out.push(repeat(snappyCopy(MAX_COPY_BYTES, bytes.length), copies));
    const rest = copied - copies * MAX_COPY_BYTES;
    if (rest > 0) out.push(snappyCopy(rest, bytes.length));
  }
  return Buffer.concat(out);
}

function snappyLiteral(bytes: Buffer): Buffer {
  const LENGTH_IN_TWO_BYTES = 61 << 2;
  return Buffer.concat([
    Buffer.of(LENGTH_IN_TWO_BYTES, (bytes.length - 1) & 0xff, (bytes.length - 1) >> 8),
    bytes,
  ]);
}

function snappyCopy(length: number, distance: number): Buffer {
  const COPY_WITH_TWO_BYTES = 2;
  return Buffer.of(((length - 1) << 2) | COPY_WITH_TWO_BYTES, distance & 0xff, distance >> 8);
}

/** Encodes a number as protobuf and snappy do. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left & 0x7f) | 0x80);
  return Buffer.of(...bytes, left);
}

/** Tag and length of a protobuf field of `length` bytes. */
function fieldHead(number: number, length: number): Buffer {
  const BYTES = 2;
  return Buffer.concat([Buffer.of((number << 3) | BYTES), varint(length)]);
}

/** A protobuf field with a text or a message. */
export function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([fieldHead(number, bytes.length), bytes]);
}

/** A protobuf message that contains the parts: the tag and length of the field, then the parts. */
export function messageOf(number: number, ...pieces: readonly Repeated[]): Repeated[] {
  const length = pieces.reduce((sum, { bytes, times }) => sum + bytes.length * times, 0);
  return [{ bytes: fieldHead(number, length), times: 1 }, ...pieces];
}
