/**
 * The bytes of one read, which the pages in it look at. They are given back to the machine as soon as the last page is through:
 * left to the collector they pile up beside a small heap, 64 MB and more of them, before V8 looks for them.
 *
 * What a reader would get wrong: who still looks at them afterwards finds no bytes at all. So pages keep copies of all but their
 * lines, which are most.
 */
import { freeBytes } from '../../base/model/free-bytes.ts';

export class ReadBytes {
  readonly #bytes: Buffer;
  #holders = 0;

  /** @param bytes of nobody else */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  hold(): void {
    this.#holders++;
  }

  release(): void {
    this.#holders--;
    this.freeUnheld();
  }

  /** To be called when all who hold them have said so. */
  freeUnheld(): void {
    if (this.#holders === 0) freeBytes(this.#bytes);
  }
}
