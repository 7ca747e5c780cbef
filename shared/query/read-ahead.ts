/**
 * Reads the pages of a scan ahead of it, some at a time, so that what lies together is one read and the latency of reads is
 * hidden. The first reads are short, because a query with a limit may end with its first pages; each is twice the one before.
 * All scans of a source share one room: the more there are, the shorter the reads of each.
 */
import { giveBack } from '../chunk/reader.ts';
import type { PageRows } from '../model/page.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { PageRequest } from './page-reader.ts';
import type { QueryStatistics } from './statistics.ts';

/** Pages of the first reads, and of the largest: of pages without many bytes, whose columns alone are read. */
const FIRST_PAGES = 4;
const MAX_PAGES = 128;

export interface ReadAheadOptions {
  readonly source: ChunkSource;
  readonly statistics: QueryStatistics;
  /** How many pages there are. */
  readonly pages: number;
  /** The request of page `i`, asked in order as late as may be; undefined ends the scan there. */
  request(i: number): PageRequest | undefined;
}

export class ReadAhead {
  readonly #options: ReadAheadOptions;
  readonly #reads = new Map<number, { readonly rows: Promise<PageRows>; readonly bytes: number }>();
  /** Pages asked for so far. */
  #asked = 0;
  #turnPages = FIRST_PAGES;
  #isOver = false;

  constructor(options: ReadAheadOptions) {
    this.#options = options;
  }

  /** The rows of page `i`; called for 0, 1, 2 and so on. Throws what the source throws. */
  async next(i: number): Promise<PageRows> {
    // A turn before the last one is used up: the store works while its pages are scanned.
    while (!this.#isOver && this.#asked - i <= this.#turnPages >> 2) this.#readTurn();
    const { rows, bytes } = this.#reads.get(i)!;
    this.#reads.delete(i);
    try {
      return await rows;
    } finally {
      this.#options.source.room.heldBytes -= bytes;
    }
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
    const mostBytes = source.room.turnBytes;
    while (turn.length < this.#turnPages && bytes < mostBytes && !this.#isOver) {
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
      this.#reads.set(first + i, { rows, bytes: turn[i].page.storedBytes });
    }
    this.#turnPages = Math.min(MAX_PAGES, 2 * this.#turnPages);
  }
}
