/**
 * Reads pages of one input in a given order, neighbors in one request, and requests the next range when the last
 * page of a range is handed out. Each request to an object store takes 30 ms, and a merge makes hundreds.
 *
 * Two ranges are in memory: the one in use and the one that is requested.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { freeBytes } from '../../base/model/free-bytes.ts';
import type { CountsByStream, Footer, PageMeta } from '../../storage/chunk/format.ts';

/** A chunk to merge. */
export interface MergeInput {
  readonly footer: Omit<Footer, 'counts'>;
  /** Counts of the footer, if its pages may be copied. */
  readonly counts?: CountsByStream;
  readonly storedBytes: number;
  /**
   * Number of its derived data among those that the indexer of the output has. Undefined if its pages cannot
   * be copied.
   */
  readonly copySource?: number | undefined;
  /** Returns bytes `start` to `end` (exclusive) of the object. */
  read(start: number, end: number): Promise<Buffer>;
}

/** Throws CorruptionError if the pages have not as many rows as the chunk, or one has none. */
export function checkPageRows({ footer: { tenant, id, pages, rows } }: MergeInput): void {
  const found = pages.reduce((sum, page) => sum + page.rows, 0);
  if (found !== rows) throw new CorruptionError(`chunk ${tenant}/${id}: ${found} of ${rows} rows`);
  if (pages.some(page => page.rows === 0))
    throw new CorruptionError(`chunk ${tenant}/${id}: a page without rows`);
}

interface MergePage {
  readonly page: PageMeta;
  /** The bytes of the page with all columns. */
  readonly stored: Buffer;
}

interface PageRange {
  /** Its pages in the list, `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly bytes: Promise<Buffer>;
}

export class MergePageReader {
  readonly #input: MergeInput;
  readonly #pages: readonly PageMeta[];
  readonly #maxBytes: number;
  #current: PageRange | undefined;
  #following: PageRange | undefined;
  #next = 0;

  /**
   * @param pages pages of the input, in the order in which they are needed
   * @param maxBytes maximum of one read, unless a single page is larger
   */
  constructor(input: MergeInput, pages: readonly PageMeta[], maxBytes: number) {
    this.#input = input;
    this.#pages = pages;
    this.#maxBytes = maxBytes;
  }

  /** Requests the first range. */
  start(): void {
    if (this.#next === 0 && this.#pages.length > 0) this.#following ??= this.#request(0);
  }

  /**
   * Frees the range of the previous page if that was its last page. If left to the garbage collector, the
   * ranges of a whole merge would stay in memory. Only for callers that keep copies only.
   */
  async freeRead(): Promise<void> {
    if (this.#current?.to !== this.#next) return;
    freeBytes(await this.#current.bytes);
    this.#current = undefined;
  }

  /** Returns the next page, or undefined after the last. Throws what reading throws, and CorruptionError. */
  async nextPage(): Promise<MergePage | undefined> {
    const pages = this.#pages;
    if (this.#next === pages.length) return undefined;
    const index = this.#next++;
    if (this.#current === undefined || index === this.#current.to) {
      this.#current = this.#following ?? this.#request(index);
      this.#following = undefined;
    }
    const { to, start, bytes } = this.#current;
    const range = await bytes;
    if (index + 1 === to && to < pages.length) this.#following = this.#request(to);
    const page = pages[index];
    const offset = page.offset - start;
    return { page, stored: range.subarray(offset, offset + page.storedBytes) };
  }

  #request(from: number): PageRange {
    const { footer, storedBytes } = this.#input;
    const pages = this.#pages;
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
    // The caller that needs the page gets the error. Until then it is not unhandled.
    bytes.catch(() => undefined);
    return { from, to, start, bytes };
  }
}
