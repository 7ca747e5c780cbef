/**
 * Bytes of one read, shared by the pages in it. They are freed when the last page is done. Left to the
 * garbage collector, 64 MB and more would accumulate next to a small heap before V8 runs a collection.
 *
 * Pitfall: code that uses the bytes afterward sees an empty buffer. Pages therefore copy everything except
 * their lines, which are the largest part. A cached page takes over the bytes of a read for itself alone.
 */
import { freeBytes } from '../../base/model/free-bytes.ts';

export class ReadBytes {
  readonly #bytes: Buffer;
  #holders = 0;

  /** @param bytes Bytes that no other code uses */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether a part of the bytes is all of them. */
  isAll(part: Buffer): boolean {
    return part.length === this.#bytes.length;
  }

  /** Keeps the bytes until `release`, or without it until the garbage collector frees them. */
  hold(): void {
    this.#holders++;
  }

  release(): void {
    this.#holders--;
    this.freeUnheld();
  }

  /** Frees the bytes if no page holds them. Call it after all holders have registered. */
  freeUnheld(): void {
    if (this.#holders === 0) freeBytes(this.#bytes);
  }
}
