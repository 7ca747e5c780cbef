/**
 * LZ4 frames, which collectors may send bodies in. Own decoder, because no library that could be kept has a bound on
 * what it puts out.
 *
 * A frame is a header (flags, largest block, perhaps the size of the content), blocks of sequences (literals, then a
 * copy of earlier output), and an end mark; headers, blocks and the content may each have a checksum. Linked blocks copy
 * from the block before, so all blocks decode into one buffer. Frames may follow each other.
 */
import { BadRequestError, TooLargeError } from '../../model/errors.ts';
import type { HeldBytes } from '../push-budget.ts';
import { xxh32 } from './xxh32.ts';

const MAGIC = 0x184d2204;
/** The lowest 4 bits are free: a frame of somebody else's, with its size behind the magic number. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const VERSION = 1;
const UNCOMPRESSED = 0x80000000;
const MIN_MATCH = 4;
/** One byte of length can stand for 255 bytes of output. */
const MAX_RATIO = 256;
/** A block is decoded here at first; twice as much whenever it is full. */
const MIN_OUTPUT_BYTES = 64 * 1024;

const corrupt = (what: string) => new BadRequestError(`lz4: ${what}`);
const truncated = () => new BadRequestError('unexpected EOF');

/**
 * The content of all frames. Throws BadRequestError where the input is not whole frames with right checksums,
 * TooLargeError where the content is over `maxBytes`, ThrottledError where `held` has no room.
 */
export function decodeLz4Frames(input: Uint8Array, maxBytes: number, held: HeldBytes): Buffer {
  const output = new Output(maxBytes, held);
  const reader = new FrameReader(input, output);
  while (reader.at < input.length) reader.frame();
  return output.bytes.subarray(0, output.length);
}

/** What was decoded so far, in a buffer that grows. */
class Output {
  bytes = Buffer.alloc(0);
  length = 0;
  private readonly maxBytes: number;
  private readonly held: HeldBytes;

  constructor(maxBytes: number, held: HeldBytes) {
    this.maxBytes = maxBytes;
    this.held = held;
  }

  /** Makes room for `count` more bytes. `most`: what can come at all. */
  reserve(count: number, most: number): void {
    const needed = this.length + count;
    if (needed > this.maxBytes) {
      throw new TooLargeError(
        `request body too large: decompressed message size too large than max (${this.maxBytes + 1} vs ${this.maxBytes})`,
      );
    }
    if (needed <= this.bytes.length) return;
    const wanted = Math.max(MIN_OUTPUT_BYTES, 2 * this.bytes.length, this.length + most);
    const size = Math.max(needed, Math.min(wanted, this.maxBytes));
    this.held.take(size - this.bytes.length);
    const grown = Buffer.allocUnsafeSlow(size);
    // All of it: what the block at hand has written is not counted yet.
    this.bytes.copy(grown);
    this.bytes = grown;
  }
}

interface FrameHeader {
  readonly isLinked: boolean;
  readonly hasBlockChecksums: boolean;
  readonly hasContentChecksum: boolean;
  readonly contentSize: number | undefined;
  readonly maxBlockBytes: number;
}

class FrameReader {
  at = 0;
  private readonly input: Uint8Array;
  private readonly view: DataView;
  private readonly output: Output;

  constructor(input: Uint8Array, output: Output) {
    this.input = input;
    this.view = new DataView(input.buffer, input.byteOffset, input.byteLength);
    this.output = output;
  }

  frame(): void {
    const magic = this.uint32();
    if ((magic & 0xfffffff0) === SKIPPABLE_MAGIC) {
      const size = this.uint32();
      this.need(size);
      this.at += size;
      return;
    }
    if (magic !== MAGIC) throw corrupt('bad magic number');
    const header = this.header();
    const { output } = this;
    const frameStart = output.length;
    for (;;) {
      const size = this.uint32();
      if (size === 0) break;
      this.block(size, header, frameStart);
    }
    if (header.hasContentChecksum && this.uint32() !== xxh32(output.bytes, frameStart, output.length)) {
      throw corrupt('invalid frame checksum');
    }
    if (header.contentSize !== undefined && output.length - frameStart !== header.contentSize) {
      throw corrupt('the content has another size than its frame says');
    }
  }

  private header(): FrameHeader {
    const start = this.at;
    this.need(2);
    const flags = this.input[start];
    const block = this.input[start + 1];
    this.at += 2;
    if (flags >> 6 !== VERSION) throw corrupt('unsupported version');
    const sizeCode = (block >> 4) & 7;
    if ((flags & 2) !== 0 || (block & 0x8f) !== 0 || sizeCode < 4) throw corrupt('invalid frame header');
    if ((flags & 1) !== 0) throw corrupt('dictionaries are not supported');
    let contentSize: number | undefined;
    if ((flags & 8) !== 0) {
      contentSize = this.uint32();
      contentSize += this.uint32() * 0x100000000;
    }
    const checksum = (xxh32(this.input, start, this.at) >> 8) & 0xff;
    this.need(1);
    if (this.input[this.at++] !== checksum) throw corrupt('invalid header checksum');
    return {
      isLinked: (flags & 0x20) === 0,
      hasBlockChecksums: (flags & 0x10) !== 0,
      hasContentChecksum: (flags & 4) !== 0,
      contentSize,
      // 64 KiB, 256 KiB, 1 MiB, 4 MiB.
      maxBlockBytes: 2 ** (8 + 2 * sizeCode),
    };
  }

  private block(word: number, header: FrameHeader, frameStart: number): void {
    const { input, output } = this;
    const { maxBlockBytes } = header;
    const isPlain = word >= UNCOMPRESSED;
    const size = isPlain ? word - UNCOMPRESSED : word;
    // A block that does not shrink is stored plain, so neither form is larger than the content may be.
    if (size > maxBlockBytes) throw corrupt('a block is larger than its frame allows');
    this.need(size);
    const start = this.at;
    this.at += size;
    if (header.hasBlockChecksums && this.uint32() !== xxh32(input, start, start + size)) {
      throw corrupt('invalid block checksum');
    }
    if (isPlain) {
      output.reserve(size, size);
      output.bytes.set(input.subarray(start, start + size), output.length);
      output.length += size;
      return;
    }
    const before = output.length;
    const history = header.isLinked ? frameStart : before;
    const end = decodeBlock(input, start, start + size, output, history, before + maxBlockBytes);
    if (end < 0) throw corrupt('corrupt block');
    output.length = end;
  }

  private uint32(): number {
    this.need(4);
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  private need(count: number): void {
    if (count > this.input.length - this.at) throw truncated();
  }
}

/**
 * Decodes the sequences of `input[from, end)` behind the output so far; where they end, or -1 where they are corrupt.
 * `history`: copies reach back no further; `limit`: the output ends before it.
 */
function decodeBlock(
  input: Uint8Array,
  from: number,
  end: number,
  output: Output,
  history: number,
  limit: number,
): number {
  let done = output.length;
  let at = from;
  const room = (count: number): void => {
    const behind = done - output.length;
    output.reserve(behind + count, Math.min(limit - output.length, (end - from) * MAX_RATIO));
  };
  while (at < end) {
    const token = input[at++];
    let literals = token >> 4;
    if (literals === 15) {
      let byte = 255;
      while (byte === 255) {
        if (at >= end) return -1;
        byte = input[at++];
        literals += byte;
      }
    }
    if (literals > end - at || literals > limit - done) return -1;
    if (done + literals > output.bytes.length) room(literals);
    if (literals > 0) {
      copyLiterals(input, at, output.bytes, done, literals);
      at += literals;
      done += literals;
    }
    // The last sequence has no copy.
    if (at === end) return done;
    if (at + 2 > end) return -1;
    const offset = input[at] | (input[at + 1] << 8);
    at += 2;
    let length = token & 15;
    if (length === 15) {
      let byte = 255;
      while (byte === 255) {
        if (at >= end) return -1;
        byte = input[at++];
        length += byte;
      }
    }
    length += MIN_MATCH;
    if (offset === 0 || offset > done - history || length > limit - done) return -1;
    if (done + length > output.bytes.length) room(length);
    copyMatch(output.bytes, done, offset, length);
    done += length;
  }
  // A block ends with literals: what ends behind a copy was cut.
  return -1;
}

/** From here a call of the system beats a loop. */
const BULK_BYTES = 48;

function copyLiterals(input: Uint8Array, from: number, bytes: Buffer, to: number, count: number): void {
  if (count >= BULK_BYTES) bytes.set(input.subarray(from, from + count), to);
  else for (let i = 0; i < count; i++) bytes[to + i] = input[from + i];
}

/** The source may overlap the target: then its bytes repeat. */
function copyMatch(bytes: Buffer, to: number, offset: number, count: number): void {
  if (count >= BULK_BYTES && offset >= count) bytes.copyWithin(to, to - offset, to - offset + count);
  else for (let i = 0; i < count; i++) bytes[to + i] = bytes[to - offset + i];
}
