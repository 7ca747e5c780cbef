/**
 * Decodes LZ4 frames, which collectors may send as bodies. The decoder is our own, because no maintained
 * library bounds its output.
 *
 * A frame is a header (flags, maximum block size, optional content size), blocks of sequences (literals, then
 * a copy of earlier output), and an end mark. Headers, blocks and the content may each have a checksum.
 * Linked blocks copy from the block before, so all blocks decode into one buffer. Several frames may follow
 * each other.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import type { Steps } from '../../../base/model/steps.ts';
import { GrowingBytes, type UnpackOptions } from '../unpacked-bytes.ts';
import { hashInSteps, xxh32 } from './xxh32.ts';

const MAGIC = 0x184d2204;
/** Application frame with its size after the magic number. The lowest 4 bits are free. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const VERSION = 1;
const UNCOMPRESSED = 0x80000000;
const MIN_MATCH = 4;
/** Maximum expansion: one byte of length can represent 255 bytes of output. */
const MAX_RATIO = 256;
/** Output bytes per step. */
const STEP_BYTES = 64 * 1024;

const corrupt = (what: string) => new BadRequestError(`lz4: ${what}`);
const truncated = () => new BadRequestError('unexpected EOF');

/**
 * Decodes the content of all frames. Rejects with BadRequestError if the input is not complete frames with
 * valid checksums, TooLargeError if the content exceeds the limit, PushMemoryError if the memory budget is
 * exhausted.
 */
export async function decodeLz4Frames(input: Uint8Array, options: UnpackOptions): Promise<Buffer> {
  const output = new Lz4Output(options);
  const steps = new FrameReader(input, output).frames();
  const { pace } = options;
  pace.resume();
  try {
    while (steps.next().done !== true) {
      if (output.wanted > 0) {
        pace.pause();
        await output.growAsWanted();
        pace.resume();
      }
      if (pace.due()) await pace.yieldIfDue();
    }
  } finally {
    pace.pause();
  }
  return output.finish();
}

/** Decoded output so far. */
class Lz4Output extends GrowingBytes {
  /** Bytes to reserve before the next step, or 0 if none are missing. */
  wanted = 0;
  #maxBytesToCome = 0;

  /**
   * Reserves `count` more bytes. Sets `wanted` if the decoder must wait for them.
   *
   * @param maxBytesToCome maximum number of bytes that can follow
   */
  reserve(count: number, maxBytesToCome: number): void {
    if (this.fits(count)) return;
    this.wanted = count;
    this.#maxBytesToCome = maxBytesToCome;
  }

  async growAsWanted(): Promise<void> {
    const { wanted } = this;
    this.wanted = 0;
    await this.grow(wanted, this.#maxBytesToCome);
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
  readonly #input: Uint8Array;
  readonly #view: DataView;
  readonly #output: Lz4Output;

  constructor(input: Uint8Array, output: Lz4Output) {
    this.#input = input;
    this.#view = new DataView(input.buffer, input.byteOffset, input.byteLength);
    this.#output = output;
  }

  *frames(): Steps<void> {
    while (this.at < this.#input.length) yield* this.#frame();
  }

  *#frame(): Steps<void> {
    const magic = this.#uint32();
    if ((magic & 0xfffffff0) === SKIPPABLE_MAGIC) {
      const size = this.#uint32();
      this.#need(size);
      this.at += size;
      return;
    }
    if (magic !== MAGIC) throw corrupt('bad magic number');
    const header = this.#header();
    const output = this.#output;
    const frameStart = output.length;
    for (;;) {
      const size = this.#uint32();
      if (size === 0) break;
      yield* this.#block(size, header, frameStart);
    }
    if (header.hasContentChecksum) {
      const hash = yield* hashInSteps(output.bytes, frameStart, output.length);
      if (this.#uint32() !== hash) throw corrupt('invalid frame checksum');
    }
    if (header.contentSize !== undefined && output.length - frameStart !== header.contentSize) {
      throw corrupt('the content has another size than its frame says');
    }
  }

  #header(): FrameHeader {
    const start = this.at;
    this.#need(2);
    const flags = this.#input[start];
    const block = this.#input[start + 1];
    this.at += 2;
    if (flags >> 6 !== VERSION) throw corrupt('unsupported version');
    const sizeCode = (block >> 4) & 7;
    if ((flags & 2) !== 0 || (block & 0x8f) !== 0 || sizeCode < 4) throw corrupt('invalid frame header');
    if ((flags & 1) !== 0) throw corrupt('dictionaries are not supported');
    let contentSize: number | undefined;
    if ((flags & 8) !== 0) {
      contentSize = this.#uint32();
      contentSize += this.#uint32() * 0x100000000;
    }
    const checksum = (xxh32(this.#input, start, this.at) >> 8) & 0xff;
    this.#need(1);
    if (this.#input[this.at++] !== checksum) throw corrupt('invalid header checksum');
    return {
      isLinked: (flags & 0x20) === 0,
      hasBlockChecksums: (flags & 0x10) !== 0,
      hasContentChecksum: (flags & 4) !== 0,
      contentSize,
      // 64 KiB, 256 KiB, 1 MiB, 4 MiB.
      maxBlockBytes: 2 ** (8 + 2 * sizeCode),
    };
  }

  *#block(word: number, header: FrameHeader, frameStart: number): Steps<void> {
    const input = this.#input;
    const output = this.#output;
    const { maxBlockBytes } = header;
    const isPlain = word >= UNCOMPRESSED;
    const size = isPlain ? word - UNCOMPRESSED : word;
    // A block that does not shrink is stored uncompressed, so neither form may exceed the maximum.
    if (size > maxBlockBytes) throw corrupt('a block is larger than its frame allows');
    this.#need(size);
    const start = this.at;
    this.at += size;
    if (header.hasBlockChecksums && this.#uint32() !== xxh32(input, start, start + size)) {
      throw corrupt('invalid block checksum');
    }
    if (isPlain) {
      output.reserve(size, size);
      yield;
      output.bytes.set(input.subarray(start, start + size), output.length);
      output.length += size;
      return;
    }
    const before = output.length;
    const block: Block = {
      end: start + size,
      history: header.isLinked ? frameStart : before,
      limit: before + maxBlockBytes,
      at: start,
      done: before,
      state: DECODING,
    };
    while (block.state === DECODING) {
      block.state = decodeSequences(input, output, block);
      yield;
    }
    if (block.state === CORRUPT) throw corrupt('corrupt block');
    output.length = block.done;
  }

  #uint32(): number {
    this.#need(4);
    const value = this.#view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  #need(count: number): void {
    if (count > this.#input.length - this.at) throw truncated();
  }
}

const DECODING = 0;
const ENDED = 1;
const CORRUPT = 2;

/** Progress of a block. */
interface Block {
  /** End offset in the input. */
  readonly end: number;
  /** Lowest output offset that a copy may refer to. */
  readonly history: number;
  /** Maximum output offset. */
  readonly limit: number;
  /** Input offset of the next sequence. */
  at: number;
  /** Output offset of the next sequence. */
  done: number;
  state: typeof DECODING | typeof ENDED | typeof CORRUPT;
}

/**
 * Decodes sequences up to STEP_BYTES of output, the end of the block, or a sequence that exceeds the reserved
 * output.
 */
function decodeSequences(input: Uint8Array, output: Lz4Output, block: Block): Block['state'] {
  const { end, history, limit } = block;
  const until = block.done + STEP_BYTES;
  while (block.at < end) {
    let { at, done } = block;
    if (done >= until) return DECODING;
    const token = input[at++];
    let literals = token >> 4;
    if (literals === 15) {
      let byte = 255;
      while (byte === 255) {
        if (at >= end) return CORRUPT;
        byte = input[at++];
        literals += byte;
      }
    }
    if (literals > end - at || literals > limit - done) return CORRUPT;
    if (done + literals > output.bytes.length) return reserve(output, block, done + literals);
    if (literals > 0) {
      copyLiterals(input, at, output.bytes, done, literals);
      at += literals;
      done += literals;
    }
    // The last sequence has no copy.
    if (at === end) {
      block.done = done;
      return ENDED;
    }
    if (at + 2 > end) return CORRUPT;
    const offset = input[at] | (input[at + 1] << 8);
    at += 2;
    let length = token & 15;
    if (length === 15) {
      let byte = 255;
      while (byte === 255) {
        if (at >= end) return CORRUPT;
        byte = input[at++];
        length += byte;
      }
    }
    length += MIN_MATCH;
    if (offset === 0 || offset > done - history || length > limit - done) return CORRUPT;
    if (done + length > output.bytes.length) return reserve(output, block, done + length);
    copyMatch(output.bytes, done, offset, length);
    block.at = at;
    block.done = done + length;
  }
  // A block ends with literals. One that ends after a copy was truncated.
  return CORRUPT;
}

/** Reserves output. The sequence is decoded again after that. */
function reserve(output: Lz4Output, { end, at, limit }: Block, needed: number): typeof DECODING {
  output.reserve(needed - output.length, Math.min(limit - output.length, (end - at) * MAX_RATIO));
  return DECODING;
}

/** From this length on, a native copy is faster than a loop. */
const BULK_BYTES = 48;

function copyLiterals(input: Uint8Array, from: number, bytes: Buffer, to: number, count: number): void {
  if (count >= BULK_BYTES) bytes.set(input.subarray(from, from + count), to);
  else for (let i = 0; i < count; i++) bytes[to + i] = input[from + i];
}

/** The source may overlap the target, in which case its bytes repeat. */
function copyMatch(bytes: Buffer, to: number, offset: number, count: number): void {
  if (count >= BULK_BYTES && offset >= count) bytes.copyWithin(to, to - offset, to - offset + count);
  else for (let i = 0; i < count; i++) bytes[to + i] = bytes[to - offset + i];
}
