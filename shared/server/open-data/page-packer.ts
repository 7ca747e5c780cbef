/**
 * Compresses the pages of a file in the thread pool, while the thread builds the next ones, and writes them in order.
 *
 *     built | copied, and compressed in any order: up to MAX_HELD_BYTES | written in order
 */
import { constants } from 'node:zlib';
import { BufferPool } from '../../base/model/buffer-pool.ts';
import { ZstdEncoder } from '../../storage/codec/zstd-encoder.ts';
import { ZstdSyncEncoder } from '../../storage/codec/zstd-sync-encoder.ts';

/** Bytes of pages that are not written yet. Two processors compress this much in 15 ms. */
export const MAX_HELD_BYTES = 8 * 1024 * 1024;

/**
 * Larger pages are compressed in the thread pool: those of lines and of times, most of the bytes, because the main thread is the busiest
 * one. Pages of indexes are smaller, and the way to the pool costs more than it saves for them: with 64 KiB, the command takes 5 to 10%
 * more CPU time.
 */
const MAX_SMALL_BYTES = 256 * 1024;
/** Larger than a frame of 1 MiB of noise. Pages are larger by up to one line. */
const OUTPUT_BYTES = 1280 * 1024;

/**
 * A small hash table fits in the processor's first cache: lines take 7% less CPU time than with 2^14 slots, and identifiers 20%. Lines
 * are 2.5% larger.
 */
const COMPRESSION = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_hashLog]: 13 };

interface Encoders {
  readonly small: ZstdSyncEncoder;
  readonly large: ZstdEncoder;
  /** Copies of pages that are being compressed, and large pages that wait to be written. */
  readonly copies: BufferPool;
}

let encoders: Encoders | undefined;

function encodersOfThread(): Encoders {
  if (encoders !== undefined) return encoders;
  const copies = new BufferPool(2 * MAX_HELD_BYTES);
  encoders = {
    small: new ZstdSyncEncoder(COMPRESSION, MAX_SMALL_BYTES),
    large: new ZstdEncoder(COMPRESSION, { outputBytes: OUTPUT_BYTES, frames: copies }),
    copies,
  };
  return encoders;
}

interface HeldPage {
  readonly bytes: number;
  readonly written: Promise<void>;
}

export class PagePacker {
  readonly #compress: (page: Uint8Array) => Promise<Buffer>;
  readonly #held: HeldPage[] = [];
  #heldBytes = 0;
  #last = Promise.resolve();

  /** @param compress copies the page before it returns */
  constructor(compress = compressed) {
    this.#compress = compress;
  }

  /**
   * Copies a page, and calls `write` with the compressed one after all that was added before, to be copied there. Resolves when the next
   * page may be added. Rejects if an earlier page failed.
   */
  async pack(page: Uint8Array, write: (packed: Uint8Array) => void): Promise<void> {
    const bytes = page.length;
    const written = Promise.all([this.#compress(page), this.#last]).then(([packed]) => {
      write(packed);
      encoders?.copies.give(packed);
    });
    this.#last = written;
    // Thrown to the caller that awaits it later.
    written.catch(() => undefined);
    this.#held.push({ bytes, written });
    this.#heldBytes += bytes;
    while (this.#heldBytes > MAX_HELD_BYTES) await this.#oldest();
  }

  /** Calls `act` after all pages that were added before are written. */
  inOrder(act: () => void): void {
    this.#last = this.#last.then(act);
    this.#last.catch(() => undefined);
  }

  /** Resolves when everything is written. */
  async end(): Promise<void> {
    this.#held.length = 0;
    this.#heldBytes = 0;
    await this.#last;
  }

  async #oldest(): Promise<void> {
    const { bytes, written } = this.#held.shift()!;
    this.#heldBytes -= bytes;
    await written;
  }
}

async function compressed(page: Uint8Array): Promise<Buffer> {
  if (page.length === 0) return Buffer.alloc(0);
  const { small, large, copies } = encodersOfThread();
  if (page.length <= MAX_SMALL_BYTES) return small.pack(page);
  const copy = copies.take(page.length);
  copy.set(page);
  const packed = await large.pack(copy);
  copies.give(copy);
  return packed;
}
