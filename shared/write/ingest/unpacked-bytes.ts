/**
 * Collects the content of a compressed body part by part, in one buffer at the end. Every part is counted
 * before it is stored, and the first byte over the limit ends it.
 *
 * Parts are concatenated at the end. Above 4 MiB they are copied into a buffer that doubles, in steps:
 * unwritten memory costs nothing.
 */
import type { Transform } from 'node:stream';
import { copyBytes } from '../../base/model/copy-bytes.ts';
import { TooLargeError } from '../../base/model/errors.ts';
import { freeBytes, freeWhole } from '../../base/model/free-bytes.ts';
import { type Pace, runPaced, type Steps } from '../../base/model/steps.ts';
import type { HeldBytes } from './push-budget.ts';

/** Size that is concatenated in a single step: 1 ms. */
const MAX_JOINED_BYTES = 4 * 1024 * 1024;
/** Bytes copied per step, including the page faults of new memory. */
const STEP_BYTES = 1024 * 1024;
const MIN_GROWN_BYTES = 64 * 1024;
/**
 * Content up to this size may have any compression ratio. Beyond it, a ratio above that of any real log
 * exceeds the limit. Logs reach 20 to 100, a single repeated line a few hundred.
 */
const MIN_BOUNDED_BYTES = 32 * 1024 * 1024;
const MAX_RATIO = 256;

export interface UnpackOptions {
  /** Maximum bytes of the content. */
  readonly maxBytes: number;
  readonly held: HeldBytes;
  readonly pace: Pace;
}

/** Returns the maximum content of a body of `bytes`, if the limits allow `maxBytes`. */
export function boundedByRatio(bytes: number, maxBytes: number): number {
  return Math.min(maxBytes, Math.max(MIN_BOUNDED_BYTES, MAX_RATIO * bytes));
}

/** Returns the error of exceeding the limit. A reader stops one byte past the limit and reports that size. */
function overLimit(maxBytes: number, bytes = maxBytes + 1): TooLargeError {
  return new TooLargeError(
    `request body too large: decompressed message size too large than max (${bytes} vs ${maxBytes})`,
  );
}

export class UnpackedBytes {
  length = 0;
  readonly #options: UnpackOptions;
  readonly #ahead: number;
  readonly #prepaid: number;
  #paid: number;
  #parts: Buffer[] = [];
  #joined: Buffer | undefined;
  #joinedBytes = 0;

  /**
   * @param prepaid bytes that were granted before; the first parts up to this size are not counted again
   * @param ahead bytes of the next part, which exists before it is requested
   */
  constructor(
    options: UnpackOptions,
    { prepaid, ahead }: { readonly prepaid: number; readonly ahead: number },
  ) {
    this.#options = options;
    this.#prepaid = prepaid;
    this.#paid = prepaid;
    this.#ahead = ahead;
  }

  /**
   * Adds the next part. Returns undefined if it was added at once, otherwise a promise to await before the
   * next call. Throws TooLargeError, or rejects with PushMemoryError.
   */
  add(part: Buffer): Promise<void> | undefined {
    const { maxBytes, held } = this.#options;
    this.length += part.length;
    if (this.length > maxBytes) throw overLimit(maxBytes);
    const needed = this.length <= this.#prepaid ? 0 : this.length + this.#ahead - this.#paid;
    this.#paid += needed;
    const granted = needed === 0 ? undefined : held.take(needed);
    if (granted === undefined && this.length <= MAX_JOINED_BYTES) {
      this.#parts.push(part);
      return undefined;
    }
    return this.#addLater(part, granted);
  }

  /** Returns the complete content. Nothing may be added after this. */
  finish(): Buffer {
    if (this.#joined !== undefined) return this.#joined.subarray(0, this.#joinedBytes);
    return this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts, this.length);
  }

  async #addLater(part: Buffer, granted: Promise<void> | undefined): Promise<void> {
    await granted;
    this.#parts.push(part);
    if (this.length <= MAX_JOINED_BYTES) return;
    await runPaced(this.#join(), this.#options.pace);
  }

  *#join(): Steps<void> {
    const before = this.#joined ?? Buffer.alloc(0);
    if (this.length > before.length) {
      const size = Math.min(this.#options.maxBytes, Math.max(2 * this.length, 4 * MAX_JOINED_BYTES));
      this.#joined = Buffer.allocUnsafeSlow(size);
      yield* copyInSteps(before.subarray(0, this.#joinedBytes), this.#joined, 0);
      freeBytes(before);
    }
    for (const part of this.#parts) {
      yield* copyInSteps(part, this.#joined!, this.#joinedBytes);
      this.#joinedBytes += part.length;
      // The stream is done with a buffer when it has filled it. It may still write to one that is not full.
      if (part.byteOffset + part.length === part.buffer.byteLength) freeWhole(part);
    }
    this.#parts = [];
  }

  /** Frees the content of a refused body. Nothing may be added or read after this. */
  release(): void {
    if (this.#joined !== undefined) freeBytes(this.#joined);
    this.#joined = undefined;
    this.#parts = [];
  }
}

/** Content that is written part by part into one growing buffer. */
export class GrowingBytes {
  bytes: Buffer = Buffer.alloc(0);
  /** Written bytes, which the writer counts. */
  length = 0;
  readonly #options: UnpackOptions;

  constructor(options: UnpackOptions) {
    this.#options = options;
  }

  /** Whether `count` more bytes fit now. Throws TooLargeError if they exceed the limit. */
  fits(count: number): boolean {
    const needed = this.length + count;
    if (needed > this.#options.maxBytes) throw overLimit(this.#options.maxBytes);
    return needed <= this.bytes.length;
  }

  /**
   * Grows the buffer for `count` more bytes, and up to `maxBytesToCome` of those that may follow. Rejects with
   * PushMemoryError.
   */
  async grow(count: number, maxBytesToCome = 0): Promise<void> {
    const { maxBytes, held, pace } = this.#options;
    const before = this.bytes;
    const wanted = Math.max(MIN_GROWN_BYTES, 2 * before.length, this.length + maxBytesToCome);
    const size = Math.max(this.length + count, Math.min(wanted, maxBytes));
    await held.take(size - before.length);
    const grown = Buffer.allocUnsafeSlow(size);
    // Copies everything, because the writer may not have counted the newest bytes yet.
    await runPaced(copyInSteps(before, grown, 0), pace);
    this.bytes = grown;
    freeBytes(before);
  }

  /** Frees the content of a refused body. Nothing may be written or read after this. */
  release(): void {
    freeBytes(this.bytes);
    this.bytes = Buffer.alloc(0);
  }

  /** Returns the written bytes. */
  finish(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

/**
 * Pipes `body` through a zlib stream into `content`. Rejects with `errorOf` of a stream error, or with the
 * error of `add`, and releases `content` in both cases.
 */
export async function pump(
  stream: Transform,
  body: Uint8Array,
  content: UnpackedBytes,
  errorOf: (error: NodeJS.ErrnoException) => Error,
): Promise<void> {
  /** Part that is being added. */
  let added: Promise<void> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown) => {
        stream.destroy();
        reject(error);
      };
      stream.on('data', (part: Buffer) => {
        try {
          added = content.add(part);
          if (added === undefined) return;
          stream.pause();
          added.then(() => stream.resume(), fail);
        } catch (error) {
          fail(error);
        }
      });
      stream.on('error', (error: NodeJS.ErrnoException) => fail(errorOf(error)));
      stream.on('end', resolve);
      stream.end(body);
    });
    // A stream that is paused with its last part ends too.
    await added;
  } catch (error) {
    // The buffer may be written to until then.
    await added?.catch(() => undefined);
    content.release();
    throw error;
  }
}

/** Copies all of `from` to `to[at]`. */
export function* copyInSteps(from: Uint8Array, to: Buffer, at: number): Steps<void> {
  for (let done = 0; done < from.length; done += STEP_BYTES) {
    const size = Math.min(STEP_BYTES, from.length - done);
    copyBytes(from.subarray(done, done + size), to, at + done);
    yield;
  }
}
