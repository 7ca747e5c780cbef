/**
 * Packs small zstd frames at once, with a context and a buffer that are used again. The public one-shot call makes a
 * context for each block, which costs more than packing it, and reports it to V8, which then collects.
 *
 * A frame ends with the write that holds all of it and leaves room in the output, and the next write begins the next
 * frame. Frames carry no content size: the place of a block does. See zstd-handle.ts for what is not documented here.
 */
import { constants, createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { FAILED, handleOf, type ZstdHandle } from './zstd-handle.ts';

/** Blocks up to this size; larger ones are packed in the thread pool, unless the thread is to do all by itself. */
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
   * @param maxBytes larger blocks get a context of their own, and a buffer
   * @param openHandle returns undefined on a runtime whose handle differs
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

  /** Whether small blocks go through the handle, or through the public call that costs more. */
  get usesHandle(): boolean {
    return this.#usable;
  }

  /** One frame that holds `raw`, in memory of its own. */
  pack(raw: Uint8Array): Buffer {
    if (this.#usable && raw.length > 0 && raw.length <= this.#maxBytes) {
      const packed = this.#packWithHandle(raw);
      if (packed !== undefined) return Buffer.from(packed);
    }
    return zstdCompressSync(raw, { params: this.#params });
  }

  /** The frame in the scratch buffer. */
  #packWithHandle(raw: Uint8Array): Buffer | undefined {
    const context = (this.#context ??= this.#openHandle(this.#params));
    if (context === undefined) return undefined;
    const { handle, state } = context;
    const room = boundOf(raw.length);
    state.fill(FAILED);
    handle.writeSync(constants.ZSTD_e_end, raw, 0, raw.length, this.#scratch, 0, room);
    const [roomLeft, rawLeft] = state;
    if (rawLeft === 0 && roomLeft > 0 && roomLeft < room) return this.#scratch.subarray(0, room - roomLeft);
    // Not used again: it may hold the rest of this frame.
    this.#context = undefined;
    return undefined;
  }

  #passesTrial(): boolean {
    const text = Buffer.from('a trial frame, '.repeat(20));
    try {
      return [text, text.subarray(0, 100), text].every(raw => {
        const frame = this.#packWithHandle(raw);
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

/** What no frame of so many bytes exceeds, with room to spare (the bound of zstd.h is n + n / 256 + 64). */
function boundOf(bytes: number): number {
  return bytes + (bytes >> 8) + 512;
}
