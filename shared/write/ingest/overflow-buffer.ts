/**
 * Collects bytes that decoding creates and that do not fit in place in the body. They are appended to the
 * body once at the end, so that a thousand of them do not copy the body a thousand times.
 */
import { freeLarge } from '../../base/model/free-bytes.ts';
import type { Steps } from '../../base/model/steps.ts';
import { MAX_MADE_BYTES, tooMany } from './bounds.ts';
import type { PushColumns } from './push-columns.ts';

export class OverflowBuffer {
  readonly #base: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @param base length of the body, which is the offset of the first byte of the overflow */
  constructor(base: number) {
    this.#base = base;
  }

  /** Offset of the next byte of the overflow. */
  get end(): number {
    return this.#base + this.#length;
  }

  push(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  /** Adds `from[start, end)`. */
  pushRange(from: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    this.#bytes.set(from.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  /** Returns the text of a range, given by its offsets. */
  text(start: number, end: number): string {
    return this.#bytes.utf8Slice(start - this.#base, end - this.#base);
  }

  /** Appends its bytes to the body. */
  *appendTo(columns: PushColumns): Steps<void> {
    if (this.#length === 0) return;
    yield* columns.append(this.#bytes.subarray(0, this.#length));
    freeLarge(this.#bytes);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    if (this.#length + count > MAX_MADE_BYTES) throw tooMany('bytes created by decoding', MAX_MADE_BYTES);
    const grown = Buffer.allocUnsafe(Math.max(256, 2 * this.#bytes.length, this.#length + count));
    this.#bytes.copy(grown, 0, 0, this.#length);
    freeLarge(this.#bytes);
    this.#bytes = grown;
  }
}
