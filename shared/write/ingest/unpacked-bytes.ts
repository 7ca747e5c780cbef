/**
 * The content of a compressed body while it comes, piece by piece, in one buffer at the end. Every piece is counted before it is
 * kept, and the first byte over the limit ends it.
 *
 * Pieces are put together when all are there. Beyond a few megabytes they go into a buffer that doubles: memory that nobody has
 * written to yet costs nothing, and what is copied is copied in steps.
 */
import type { Transform } from 'node:stream';
import { TooLargeError } from '../../base/model/errors.ts';
import { freeBytes, freeWhole } from '../../base/model/free-bytes.ts';
import { type Pace, runPaced, type Steps } from '../../base/model/steps.ts';
import type { HeldBytes } from './push-budget.ts';

/** Put together at once: 1 ms. */
const MAX_JOINED_BYTES = 4 * 1024 * 1024;
/** Copied in a step, with the page faults of new memory. */
const STEP_BYTES = 1024 * 1024;
const MIN_GROWN_BYTES = 64 * 1024;
/**
 * Content up to this size may be as much smaller as it likes; beyond it a body that shrinks more than any log does is over the limit.
 * Logs reach 20 to 100, the same line again and again some hundred.
 */
const MIN_BOUNDED_BYTES = 32 * 1024 * 1024;
const MAX_RATIO = 256;

export interface UnpackOptions {
  /** Of the content. */
  readonly maxBytes: number;
  readonly held: HeldBytes;
  readonly pace: Pace;
}

/** The most that a body of `bytes` may unpack to, where the limits allow `maxBytes`. */
export function boundedByRatio(bytes: number, maxBytes: number): number {
  return Math.min(maxBytes, Math.max(MIN_BOUNDED_BYTES, MAX_RATIO * bytes));
}

/** A reader stops one byte past the limit and tells that size. */
export function overLimit(maxBytes: number, bytes = maxBytes + 1): TooLargeError {
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
   * @param prepaid bytes that were granted before: the first pieces up to them cost nothing more
   * @param ahead bytes of the next piece, which is there before anybody asks for it
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
   * Takes the next piece: undefined if it was taken at once; else resolves when it is, and no other may come before. Throws
   * TooLargeError, or rejects with NoRoomError.
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

  /** All of it. Nothing more may be added. */
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
      // The stream has left a buffer when it has filled it; one that it has not filled it may still write to.
      if (part.byteOffset + part.length === part.buffer.byteLength) freeWhole(part);
    }
    this.#parts = [];
  }

  /** Frees what came of a body that is refused. Nothing may be added or read any more. */
  release(): void {
    if (this.#joined !== undefined) freeBytes(this.#joined);
    this.#joined = undefined;
    this.#parts = [];
  }
}

/** Content that is written piece by piece into one buffer, which grows. */
export class GrowingBytes {
  bytes: Buffer = Buffer.alloc(0);
  /** Of what was written; who writes counts it. */
  length = 0;
  readonly #options: UnpackOptions;

  constructor(options: UnpackOptions) {
    this.#options = options;
  }

  /** Whether `count` more bytes can be written now. Throws TooLargeError where they are over the limit. */
  hasRoom(count: number): boolean {
    const needed = this.length + count;
    if (needed > this.#options.maxBytes) throw overLimit(this.#options.maxBytes);
    return needed <= this.bytes.length;
  }

  /** Makes room for `count` more bytes, and for more of those that may come: at most `most`. Rejects with NoRoomError. */
  async grow(count: number, most = 0): Promise<void> {
    const { maxBytes, held, pace } = this.#options;
    const before = this.bytes;
    const wanted = Math.max(MIN_GROWN_BYTES, 2 * before.length, this.length + most);
    const size = Math.max(this.length + count, Math.min(wanted, maxBytes));
    await held.take(size - before.length);
    const grown = Buffer.allocUnsafeSlow(size);
    // All of it: who writes may not have counted the newest bytes yet.
    await runPaced(copyInSteps(before, grown, 0), pace);
    this.bytes = grown;
    freeBytes(before);
  }

  /** Frees what came of a body that is refused. Nothing may be written or read any more. */
  release(): void {
    freeBytes(this.bytes);
    this.bytes = Buffer.alloc(0);
  }

  /** What was written. */
  finish(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

/**
 * Puts `body` through a stream of zlib, and what comes into `content`. Rejects with what `errorOf` makes of an error of the stream, and
 * with what `add` throws; `content` is released then.
 */
export async function pump(
  stream: Transform,
  body: Uint8Array,
  content: UnpackedBytes,
  errorOf: (error: NodeJS.ErrnoException) => Error,
): Promise<void> {
  /** The piece that is being taken. */
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
    // A stream that is paused with its last piece ends all the same.
    await added;
  } catch (error) {
    // It may be copied to until then.
    await added?.catch(() => undefined);
    content.release();
    throw error;
  }
}

/** Copies all of `from` to `to[at]`. */
export function* copyInSteps(from: Uint8Array, to: Buffer, at: number): Steps<void> {
  for (let done = 0; done < from.length; done += STEP_BYTES) {
    const size = Math.min(STEP_BYTES, from.length - done);
    to.set(from.subarray(done, done + size), at + done);
    yield;
  }
}
