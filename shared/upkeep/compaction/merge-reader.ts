/**
 * Reads the pages of one input in their order, several with one request, and asks for the next ones when the last of a
 * range is handed out: on an object store each request waits 30 ms, and a merge makes hundreds.
 *
 * What is in memory: the range of the page that is worked on, and the range that is asked for.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { freeBytes } from '../../base/model/free-bytes.ts';
import type { Footer, PageMeta } from '../../storage/chunk/format.ts';

/** A chunk to merge. */
export interface MergeInput {
  readonly footer: Omit<Footer, 'counts'>;
  readonly storedBytes: number;
  /** Bytes `start` to `end` (exclusive) of the object. */
  read(start: number, end: number): Promise<Buffer>;
}

export interface StoredPage {
  readonly page: PageMeta;
  /** The bytes of the page, columns and all. */
  readonly stored: Buffer;
}

interface PageRange {
  /** Places of its pages, `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly bytes: Promise<Buffer>;
}

export class PageReader {
  readonly #input: MergeInput;
  readonly #maxBytes: number;
  #current: PageRange | undefined;
  #following: PageRange | undefined;
  #next = 0;

  /** @param maxBytes of one read, unless a page alone is larger */
  constructor(input: MergeInput, maxBytes: number) {
    this.#input = input;
    this.#maxBytes = maxBytes;
  }

  /** Asks for the first range. */
  start(): void {
    if (this.#next === 0 && this.#input.footer.pages.length > 0) this.#following ??= this.#ask(0);
  }

  /**
   * Gives the range of the page before back to the machine if that was its last page: left to the collector, the ranges of a whole
   * merge would lie there. Only for callers that keep nothing of a page but copies.
   */
  async freeRead(): Promise<void> {
    if (this.#current?.to !== this.#next) return;
    freeBytes(await this.#current.bytes);
    this.#current = undefined;
  }

  /** The next page, or undefined behind the last. Throws what reading throws, and CorruptionError. */
  async nextPage(): Promise<StoredPage | undefined> {
    const { pages } = this.#input.footer;
    if (this.#next === pages.length) return undefined;
    const place = this.#next++;
    if (this.#current === undefined || place === this.#current.to) {
      this.#current = this.#following ?? this.#ask(place);
      this.#following = undefined;
    }
    const { to, start, bytes } = this.#current;
    const range = await bytes;
    if (place + 1 === to && to < pages.length) this.#following = this.#ask(to);
    const page = pages[place];
    const offset = page.offset - start;
    return { page, stored: range.subarray(offset, offset + page.storedBytes) };
  }

  #ask(from: number): PageRange {
    const { footer, storedBytes } = this.#input;
    const { pages } = footer;
    const start = pages[from].offset;
    let end = start + pages[from].storedBytes;
    let to = from + 1;
    for (; to < pages.length && pages[to].offset === end; to++) {
      const more = pages[to].storedBytes;
      if (end + more - start > this.#maxBytes) break;
      end += more;
    }
    const bytes =
      end <= storedBytes
        ? this.#input.read(start, end)
        : Promise.reject(
            new CorruptionError(
              `chunk ${footer.tenant}/${footer.id}: a page ends at ${end} of ${storedBytes} bytes`,
            ),
          );
    // Whoever comes for the page gets the error; before that it is nobody's.
    bytes.catch(() => undefined);
    return { from, to, start, bytes };
  }
}
