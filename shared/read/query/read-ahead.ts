/**
 * Reads the pages of a scan ahead of it, some at a time, so that what lies together is one read and the latency of reads is
 * hidden. The first reads are short, because a query with a limit may end with its first pages; each is twice the one before.
 * All scans of a source share one room: the more there are, the shorter the reads of each.
 *
 * Over a distant store bytes are asked for rather than pages: as many as arrive in some round trips, and of scans that do not
 * end early as many as there is room for.
 */

import type { PageRows } from '../../base/model/page.ts';
import { giveBack, type PageWants } from '../../storage/chunk/reader.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { MoreRequest, PageRequest } from './page-reader.ts';
import type { QueryStatistics } from './statistics.ts';

/** Pages of the first reads, and of the largest: of pages without many bytes, whose columns alone are read. */
const FIRST_PAGES = 4;
const MAX_PAGES = 128;

/** Over a distant store, stored bytes that are asked for and not looked at: of a scan that may end with its first pages, and at most. */
const FIRST_WINDOW_BYTES = 4 * 1024 * 1024;
const MAX_WINDOW_BYTES = 64 * 1024 * 1024;

export interface ReadAheadOptions {
  readonly source: ChunkSource;
  readonly statistics: QueryStatistics;
  /** How many pages there are. */
  readonly pages: number;
  /** The request of page `i`, asked in order as late as may be; undefined ends the scan there. */
  request(i: number): PageRequest | undefined;
  /** The scan may end before its last page. */
  readonly endsEarly: boolean;
}

interface Asked {
  readonly rows: Promise<PageRows>;
  readonly bytes: number;
  readonly request: PageRequest;
}

export class ReadAhead {
  readonly #options: ReadAheadOptions;
  readonly #reads = new Map<number, Asked>();
  /** Pages asked for so far. */
  #asked = 0;
  #turnPages = FIRST_PAGES;
  #isOver = false;
  #windowBytes: number;
  /** Asked for and not looked at. */
  #heldBytes = 0;

  constructor(options: ReadAheadOptions) {
    this.#options = options;
    this.#windowBytes = options.endsEarly ? FIRST_WINDOW_BYTES : MAX_WINDOW_BYTES;
  }

  /** Begins to read before anybody waits. */
  begin(): void {
    while (!this.#isOver && this.#isDue(0)) this.#readTurn();
  }

  /** The rows of page `i`; called for 0, 1, 2 and so on. Throws what the source throws. */
  async next(i: number): Promise<PageRows> {
    // A turn before the last one is used up: the store works while its pages are scanned.
    while (!this.#isOver && this.#isDue(i)) this.#readTurn();
    const { rows, bytes } = this.#reads.get(i)!;
    this.#reads.delete(i);
    this.#heldBytes -= bytes;
    try {
      return await rows;
    } finally {
      this.#options.source.room.heldBytes -= bytes;
    }
  }

  /** Reads what pages that were asked for lack: `wantsOf` tells what is wanted of page `i`, undefined where it has all. */
  complete(wantsOf: (i: number) => PageWants | undefined): void {
    const { source, statistics } = this.#options;
    const places: number[] = [];
    const requests: MoreRequest[] = [];
    for (const [i, { rows, request }] of this.#reads) {
      const wants = wantsOf(i);
      if (wants === undefined) continue;
      places.push(i);
      requests.push({ record: request.record, rows, wants });
    }
    for (const [n, rows] of source.moreOf(requests, statistics).entries()) {
      rows.catch(() => undefined);
      this.#reads.set(places[n], { ...this.#reads.get(places[n])!, rows });
    }
  }

  #isDue(i: number): boolean {
    const { source } = this.#options;
    if (!source.isDistant) return this.#asked - i <= this.#turnPages >> 2;
    return this.#asked <= i || (this.#heldBytes < this.#windowBytes / 2 && !source.room.isFull);
  }

  /** Gives up what was asked for and not used. To be called however the scan ends. */
  end(): void {
    for (const { rows, bytes } of this.#reads.values()) {
      this.#options.source.room.heldBytes -= bytes;
      rows.then(giveBack, () => undefined);
    }
    this.#reads.clear();
    this.#isOver = true;
  }

  #readTurn(): void {
    const { source, statistics, pages, request } = this.#options;
    const turn: PageRequest[] = [];
    const first = this.#asked;
    let bytes = 0;
    const mostPages = source.isDistant ? MAX_PAGES : this.#turnPages;
    const mostBytes = source.isDistant
      ? Math.min(source.room.turnBytes, this.#windowBytes - this.#heldBytes)
      : source.room.turnBytes;
    while (turn.length < mostPages && (bytes < mostBytes || turn.length === 0) && !this.#isOver) {
      const wanted = this.#asked < pages ? request(this.#asked) : undefined;
      if (wanted === undefined) this.#isOver = true;
      else {
        turn.push(wanted);
        bytes += wanted.page.storedBytes;
        this.#asked++;
      }
    }
    source.room.heldBytes += bytes;
    for (const [i, rows] of source.pages(turn, statistics).entries()) {
      // A scan that ends early leaves reads behind; their failure then concerns nobody.
      rows.catch(() => undefined);
      this.#reads.set(first + i, { rows, bytes: turn[i].page.storedBytes, request: turn[i] });
    }
    this.#heldBytes += bytes;
    this.#windowBytes = Math.min(MAX_WINDOW_BYTES, 2 * this.#windowBytes);
    this.#turnPages = Math.min(MAX_PAGES, 2 * this.#turnPages);
  }
}
