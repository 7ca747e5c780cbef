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

export class ZstdSyncEncoder {
  private readonly params: Readonly<Record<number, number>>;
  private context: ZstdHandle | undefined;
  private usable: boolean;
  private readonly maxBytes: number;
  private readonly scratch: Buffer;

  /** @param maxBytes larger blocks get a context of their own, and a buffer */
  constructor(params: Readonly<Record<number, number>>, maxBytes = MAX_SYNC_BYTES) {
    this.params = params;
    this.maxBytes = maxBytes;
    this.scratch = Buffer.allocUnsafeSlow(boundOf(maxBytes));
    this.context = this.open();
    this.usable = this.context !== undefined && this.passesTrial();
  }

  /** One frame that holds `raw`, in memory of its own. */
  pack(raw: Uint8Array): Buffer {
    if (this.usable && raw.length > 0 && raw.length <= this.maxBytes) {
      const packed = this.packWithHandle(raw);
      if (packed !== undefined) return Buffer.from(packed);
    }
    return zstdCompressSync(raw, { params: this.params });
  }

  /** The frame in the scratch buffer. */
  private packWithHandle(raw: Uint8Array): Buffer | undefined {
    const context = (this.context ??= this.open());
    if (context === undefined) return undefined;
    const { handle, state } = context;
    const room = boundOf(raw.length);
    state.fill(FAILED);
    handle.writeSync(constants.ZSTD_e_end, raw, 0, raw.length, this.scratch, 0, room);
    const [roomLeft, rawLeft] = state;
    if (rawLeft === 0 && roomLeft > 0 && roomLeft < room) return this.scratch.subarray(0, room - roomLeft);
    // Not used again: it may hold the rest of this frame.
    this.context = undefined;
    return undefined;
  }

  private open(): ZstdHandle | undefined {
    return handleOf(createZstdCompress({ params: this.params, chunkSize: 64 }));
  }

  private passesTrial(): boolean {
    const text = Buffer.from('a trial frame, '.repeat(20));
    try {
      return [text, text.subarray(0, 100), text].every(raw => {
        const frame = this.packWithHandle(raw);
        return frame !== undefined && zstdDecompressSync(Buffer.from(frame)).equals(raw);
      });
    } catch {
      return false;
    }
  }
}

/** What no frame of so many bytes exceeds, with room to spare (the bound of zstd.h is n + n / 256 + 64). */
function boundOf(bytes: number): number {
  return bytes + (bytes >> 8) + 512;
}
