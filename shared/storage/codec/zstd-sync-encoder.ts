/**
 * Compresses small zstd frames synchronously, with a reused context and buffer. The public one-shot call
 * creates a context for each block. That costs more than compressing it, and V8 counts the memory and runs
 * collections.
 *
 * A frame ends with a write that holds the rest of it and leaves free output; the next write begins the next
 * frame. See zstd-handle.ts for the undocumented parts.
 */
import { constants, createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { copyOfStoredBytes, takeStoredBytes } from '../../base/model/stored-bytes.ts';
import { ADDED_BYTES, contentSize, UNDECLARED, withContentSize } from './zstd-frame.ts';
import { FAILED, handleOf, type ZstdHandle } from './zstd-handle.ts';

/**
 * Maximum block size. Larger blocks are compressed in the thread pool, unless the thread must not use it.
 */
export const MAX_SYNC_BYTES = 64 * 1024;

type OpenHandle = (params: Readonly<Record<number, number>>) => ZstdHandle | undefined;

export class ZstdSyncEncoder {
  readonly #params: Readonly<Record<number, number>>;
  #context: ZstdHandle | undefined;
  #usable: boolean;
  readonly #maxBytes: number;
  readonly #openHandle: OpenHandle;
  readonly #scratch: Buffer;

  /**
   * @param maxBytes Maximum size for the reused buffer; larger blocks get a separate context and buffer
   * @param openHandle Returns undefined on a runtime whose handle differs
   */
  constructor(
    params: Readonly<Record<number, number>>,
    maxBytes = MAX_SYNC_BYTES,
    openHandle: OpenHandle = open,
  ) {
    this.#params = params;
    this.#maxBytes = maxBytes;
    this.#openHandle = openHandle;
    this.#scratch = Buffer.allocUnsafeSlow(boundOf(maxBytes));
    this.#context = openHandle(params);
    this.#usable = this.#context !== undefined && this.#passesTrial();
  }

  /** Whether small blocks use the handle, or the more expensive public call. */
  get usesHandle(): boolean {
    return this.#usable;
  }

  /**
   * Compresses `raw` into one frame, in separate memory.
   * @param ends Ascending offsets at which the statistics of the bytes change, if any: a block of the frame ends there
   */
  pack(raw: Uint8Array, ends: readonly number[] = []): Buffer {
    const packed = this.#packIfSmall(raw, ends);
    if (packed === undefined) return zstdCompressSync(raw, { params: this.#params });
    // A frame whose size was not known at its start does not contain it.
    if (ends.length === 0 || contentSize(packed) !== UNDECLARED) return copyOfStoredBytes(packed);
    const declared = takeStoredBytes(packed.length + ADDED_BYTES);
    withContentSize(packed, raw.length, declared);
    return declared;
  }

  /** The same, for a frame that is copied at once. Pitfall: the next call overwrites it. */
  packToCopy(raw: Uint8Array): Buffer {
    return this.#packIfSmall(raw) ?? zstdCompressSync(raw, { params: this.#params });
  }

  #packIfSmall(raw: Uint8Array, ends: readonly number[] = []): Buffer | undefined {
    return this.#usable && raw.length > 0 && raw.length <= this.#maxBytes
      ? this.#packWithHandle(raw, ends)
      : undefined;
  }

  /** Compresses into the scratch buffer. */
  #packWithHandle(raw: Uint8Array, ends: readonly number[]): Buffer | undefined {
    const context = (this.#context ??= this.#openHandle(this.#params));
    if (context === undefined) return undefined;
    const { handle, state } = context;
    const bound = boundOf(raw.length);
    let at = 0;
    let out = 0;
    const write = (mode: number, end: number): boolean => {
      state.fill(FAILED);
      handle.writeSync(mode, raw, at, end - at, this.#scratch, out, bound - out);
      const [freeBytes, rawLeft] = state;
      if (rawLeft !== 0 || freeBytes === 0 || freeBytes >= bound - out) return false;
      at = end;
      out = bound - freeBytes;
      return true;
    };
    const isWhole = ends.every(end => write(constants.ZSTD_e_flush, end));
    if (isWhole && write(constants.ZSTD_e_end, raw.length)) return this.#scratch.subarray(0, out);
    // Drop the context: it may contain the rest of this frame.
    this.#context = undefined;
    return undefined;
  }

  #passesTrial(): boolean {
    const text = Buffer.from('a trial frame, '.repeat(20));
    try {
      return [text, text.subarray(0, 100), text].every(raw => {
        const frame = this.#packWithHandle(raw, []);
        return frame !== undefined && zstdDecompressSync(Buffer.from(frame)).equals(raw);
      });
    } catch {
      return false;
    }
  }
}

function open(params: Readonly<Record<number, number>>): ZstdHandle | undefined {
  return handleOf(createZstdCompress({ params, chunkSize: 64 }));
}

/** Returns an upper bound of the frame size, with a margin (the bound of zstd.h is n + n / 256 + 64). */
function boundOf(bytes: number): number {
  return bytes + (bytes >> 8) + 512;
}
