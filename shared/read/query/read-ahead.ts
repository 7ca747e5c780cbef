/**
 * Reads the pages of a scan ahead of it in batches, so that adjacent pages share a read and latency is
 * hidden. The first batches are short, because a query with a limit may end with its first pages. Each is
 * twice the one before. All scans of a source share one budget: the more scans, the shorter their batches.
 *
 * Over a distant store, batches are bounded by bytes: what arrives in a few round trips. Scans that do not
 * end early use as much as the budget allows.
 */

import type { PageRows } from '../../base/model/page.ts';
import { type PageWants, releaseRows } from '../../storage/chunk/reader.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { MoreRequest, PageRequest } from './page-reader.ts';
import type { QueryStatistics } from './statistics.ts';

/**
 * Pages of the first and of the largest batch, for pages with few bytes, such as those of which only columns
 * are read.
 */
const FIRST_PAGES = 4;
const MAX_PAGES = 128;
/** The same for a batch that the scan does not wait for: 32 MiB of pages. */
const MAX_PAGES_AHEAD = 256;

/**
 * Stored bytes requested and not scanned over a distant store: initially, for a scan that may end early, and
 * at most.
 */
const FIRST_WINDOW_BYTES = 4 * 1024 * 1024;
/**
 * Stored bytes after which a scan has enough to do until a long read ends: 0.1 s of work at least. A shorter batch has
 * as many, so that the first reads share the network.
 */
const AHEAD_BYTES = 16 * 1024 * 1024;
const MAX_WINDOW_BYTES = 64 * 1024 * 1024;

interface ReadAheadOptions {
  readonly source: ChunkSource;
  readonly statistics: QueryStatistics;
  /** Number of pages. */
  readonly pages: number;
  /** Returns the request of page `i`. It is called in order, as late as possible. Undefined ends the scan. */
  request(i: number): PageRequest | undefined;
  /** Whether the scan may end before its last page. */
  readonly endsEarly: boolean;
}

interface RequestedPage {
  readonly rows: Promise<PageRows>;
  readonly bytes: number;
  readonly request: PageRequest;
}

export class ReadAhead {
  readonly #options: ReadAheadOptions;
  readonly #reads = new Map<number, RequestedPage>();
  /** Number of pages requested so far. */
  #requested = 0;
  #batchPages = FIRST_PAGES;
  #isOver = false;
  #windowBytes: number;
  /** Bytes requested and not scanned. */
  #heldBytes = 0;

  constructor(options: ReadAheadOptions) {
    this.#options = options;
    this.#windowBytes = options.endsEarly ? FIRST_WINDOW_BYTES : MAX_WINDOW_BYTES;
  }

  /** Starts to read before a caller waits. */
  begin(): void {
    while (!this.#isOver && this.#isDue(0)) this.#readBatch();
  }

  /** Returns the rows of page `i`. Call it for 0, 1, 2 and so on. Throws errors of the source. */
  async next(i: number): Promise<PageRows> {
    // Requested before the last batch is used up: the store works while its pages are scanned.
    while (!this.#isOver && this.#isDue(i)) this.#readBatch();
    const { rows, bytes } = this.#reads.get(i)!;
    this.#reads.delete(i);
    this.#heldBytes -= bytes;
    try {
      return await rows;
    } finally {
      this.#options.source.readAhead.heldBytes -= bytes;
    }
  }

  /**
   * Reads the missing parts of requested pages. `wantsOf` returns what page `i` needs, or undefined if it is
   * complete.
   */
  complete(wantsOf: (i: number) => PageWants | undefined): void {
    const { source, statistics } = this.#options;
    const indexes: number[] = [];
    const requests: MoreRequest[] = [];
    for (const [i, { rows, request }] of this.#reads) {
      const wants = wantsOf(i);
      if (wants === undefined) continue;
      indexes.push(i);
      requests.push({ record: request.record, rows, wants });
    }
    for (const [n, rows] of source.moreOf(requests, statistics).entries()) {
      rows.catch(() => undefined);
      this.#reads.set(indexes[n], { ...this.#reads.get(indexes[n])!, rows });
    }
  }

  #isDue(i: number): boolean {
    const { source } = this.#options;
    if (!source.isDistant) return this.#requested - i <= this.#batchPages >> 2;
    return this.#requested <= i || (this.#heldBytes < this.#windowBytes / 2 && !source.readAhead.isFull);
  }

  /** Drops unused requests. Call it however the scan ends. */
  end(): void {
    for (const { rows, bytes } of this.#reads.values()) {
      this.#options.source.readAhead.heldBytes -= bytes;
      rows.then(releaseRows, () => undefined);
    }
    this.#reads.clear();
    this.#isOver = true;
  }

  #readBatch(): void {
    const { source, statistics, pages, request } = this.#options;
    const batch: PageRequest[] = [];
    const first = this.#requested;
    let bytes = 0;
    const isAhead = this.#heldBytes >= AHEAD_BYTES;
    let maxPages = this.#batchPages;
    let maxBytes = source.readAhead.batchBytes;
    if (source.isDistant) {
      maxPages = isAhead ? MAX_PAGES_AHEAD : MAX_PAGES;
      const leftBytes = this.#windowBytes - this.#heldBytes;
      maxBytes = Math.min(maxBytes, leftBytes, isAhead ? Infinity : AHEAD_BYTES);
    }
    while (batch.length < maxPages && (bytes < maxBytes || batch.length === 0) && !this.#isOver) {
      const wanted = this.#requested < pages ? request(this.#requested) : undefined;
      if (wanted === undefined) this.#isOver = true;
      else {
        batch.push(wanted);
        bytes += wanted.page.storedBytes;
        this.#requested++;
      }
    }
    source.readAhead.heldBytes += bytes;
    for (const [i, rows] of source.pages(batch, statistics, isAhead).entries()) {
      // A scan that ends early abandons reads. Their failure then matters to no caller.
      rows.catch(() => undefined);
      this.#reads.set(first + i, { rows, bytes: batch[i].page.storedBytes, request: batch[i] });
    }
    this.#heldBytes += bytes;
    this.#windowBytes = Math.min(MAX_WINDOW_BYTES, 2 * this.#windowBytes);
    this.#batchPages = Math.min(MAX_PAGES, 2 * this.#batchPages);
  }
}
