/**
 * Decodes the Snappy block format of protobuf pushes. Decompression is the most expensive step of a push, so
 * blocks of usual size use kernels/snappy.ts. The plain loop in this file is for larger blocks, which the
 * kernel's memory does not hold, and tests compare the kernel with it.
 */

import { decodeInKernel } from '../../base/kernels/snappy.ts';
import { BufferPool } from '../../base/model/buffer-pool.ts';
import { BadRequestError, TooLargeError } from '../../base/model/errors.ts';
import type { Steps } from '../../base/model/steps.ts';

/**
 * Maximum ratio: the densest element is a copy, 3 bytes for 64 bytes of output. A declared length beyond this
 * ratio cannot be reached and is refused before any allocation.
 */
const MAX_RATIO = 22;

/** Output per step without the kernel: about 0.3 ms. */
const STEP_BYTES = 256 * 1024;
/** Longer literals are copied by a native function, in steps. */
const LONG_LITERAL_BYTES = 64 * 1024;

const corrupt = () => new BadRequestError('snappy: corrupt input');

/** Pool of bodies. */
const POOL = new BufferPool(16 * 1024 * 1024);

/** Returns a result of `uncompressSnappy` to the pool. The next result may overwrite it. */
export function releaseUncompressed(bytes: Buffer): void {
  POOL.give(bytes);
}

/**
 * Returns the declared length, if the elements can reach it. Throws BadRequestError if not, TooLargeError if
 * it exceeds `maxBytes`.
 */
export function snappyLength(body: Uint8Array, maxBytes: number): number {
  const { declared } = head(body, maxBytes);
  return declared;
}

/**
 * Returns the decompressed bytes, in a separate buffer until they are released (which is optional). Throws
 * BadRequestError if the input is not one complete snappy block, TooLargeError if it declares more than
 * `maxBytes`.
 */
export function* uncompressSnappy(body: Uint8Array, maxBytes: number): Steps<Buffer> {
  const { declared, at } = head(body, maxBytes);
  const out = POOL.take(declared);
  const isWhole = decodeInKernel(body, at, out, declared) ?? (yield* decodeElements(body, at, out, declared));
  if (!isWhole) {
    POOL.give(out);
    throw corrupt();
  }
  return out.subarray(0, declared);
}

function head(body: Uint8Array, maxBytes: number): { readonly declared: number; readonly at: number } {
  let at = 0;
  let declared = 0;
  for (let scale = 1; ; scale *= 128) {
    if (at === 5 || at === body.length) throw corrupt();
    const byte = body[at++];
    declared += (byte & 127) * scale;
    if (byte < 128) break;
  }
  if (declared > 0xffffffff) throw corrupt();
  if (declared > maxBytes) {
    throw new TooLargeError(
      `request body too large: decompressed message size too large than max (${declared} vs ${maxBytes})`,
    );
  }
  if (declared > (body.length - at) * MAX_RATIO) throw corrupt();
  return { declared, at };
}

/** Progress of decoding the elements. */
interface DecodeProgress {
  at: number;
  done: number;
  /** Bytes of a long literal that are still to be copied. */
  literal: number;
}

/**
 * Decodes the elements after the length, for blocks that the kernel does not handle. Returns false if they do
 * not yield exactly `length` bytes.
 */
export function* decodeElements(body: Uint8Array, from: number, out: Buffer, length: number): Steps<boolean> {
  const progress: DecodeProgress = { at: from, done: 0, literal: 0 };
  while (progress.at < body.length) {
    if (progress.literal > 0) {
      const size = Math.min(progress.literal, STEP_BYTES);
      out.set(body.subarray(progress.at, progress.at + size), progress.done);
      progress.at += size;
      progress.done += size;
      progress.literal -= size;
    } else if (!decodeStep(body, out, length, progress)) return false;
    yield;
  }
  return progress.done === length;
}

/**
 * Decodes elements up to STEP_BYTES of output, or up to a long literal. Returns false if they are corrupt.
 */
function decodeStep(body: Uint8Array, out: Buffer, length: number, progress: DecodeProgress): boolean {
  const end = body.length;
  let { at, done } = progress;
  const until = done + STEP_BYTES;
  while (at < end && done < until) {
    const tag = body[at++];
    const kind = tag & 3;
    let size = (tag >>> 2) + 1;
    let offset: number;
    if (kind === 0) {
      if (size > 60) {
        const extra = size - 60;
        if (at + extra > end) return false;
        size = body[at];
        if (extra > 1) size |= body[at + 1] << 8;
        if (extra > 2) size |= body[at + 2] << 16;
        if (extra > 3) size += body[at + 3] * 0x1000000;
        size++;
        at += extra;
      }
      if (size > end - at || size > length - done) return false;
      if (size > LONG_LITERAL_BYTES) {
        progress.literal = size;
        break;
      }
      for (let i = 0; i < size; i++) out[done + i] = body[at + i];
      at += size;
      done += size;
      continue;
    }
    if (kind === 1) {
      if (at >= end) return false;
      size = ((tag >>> 2) & 7) + 4;
      offset = ((tag >>> 5) << 8) | body[at++];
    } else if (kind === 2) {
      if (at + 2 > end) return false;
      offset = body[at] | (body[at + 1] << 8);
      at += 2;
    } else {
      if (at + 4 > end) return false;
      offset = (body[at] | (body[at + 1] << 8) | (body[at + 2] << 16)) + body[at + 3] * 0x1000000;
      at += 4;
    }
    if (offset === 0 || offset > done || size > length - done) return false;
    // A copy that overlaps itself repeats a pattern.
    const origin = done - offset;
    for (let i = 0; i < size; i++) out[done + i] = out[origin + i];
    done += size;
  }
  progress.at = at;
  progress.done = done;
  return true;
}
