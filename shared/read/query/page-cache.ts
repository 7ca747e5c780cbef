/**
 * Pages that queries come back to: their stored bytes, unpacked columns, and unpacked lines. Chunks never change, so a page is
 * what its place says (tenant, chunk, offset). Its checksums are verified when a column is unpacked, once.
 *
 *     maxBytes   | 3/4: lines, in memory that searches work on (LinePool) | 1/4: stored bytes and columns |
 *
 * A page is kept from its second use on, and takes the place of another only where that one was not used for longer than the
 * page's own two uses are apart. So a scan of everything leaves the cache as it was, and of a query that reads more than
 * the cache holds, most stays, where the oldest making room would leave nothing (each page would go just before its next use).
 * An export, which reads a page for several answers one behind the other, says when a page is used next.
 *
 * What a reader would get wrong: lines of a page may leave at any time between two turns of the event loop; the page then
 * unpacks its stored bytes again. Nothing is read from the store for it.
 */

import { SPACE_BYTES } from '../../base/kernels/line-memory.ts';
import { LinePool } from '../../base/kernels/line-pool.ts';
import type { Footer, PageMeta } from '../../storage/chunk/format.ts';
import { PageColumns, type PageKeeper } from '../../storage/chunk/page-columns.ts';

/** Of all bytes, what lines get: beside 1 MiB of lines a page has some 130 KiB of stored bytes and 60 to 150 KiB of columns. */
const LINE_SHARE = 3 / 4;
/** A page with more lines than this share of their memory would drive out too many others. */
const MAX_PAGE_SHARE = 1 / 8;
/** Pages used once that are remembered by name, 150 bytes each: 16 GiB of lines. */
const MAX_REMEMBERED = 16_384;
/** A page's columns grow while it is looked at: it is weighed again when so many others were used. */
const WEIGHED_LATER = 64;

/** Of a page that is new, until it is weighed: times and offsets. */
const BYTES_PER_ROW = 12;

interface Kept {
  readonly key: string;
  readonly columns: PageColumns;
  /** Bytes when it was weighed last. */
  weight: number;
  /** Uses of all pages until its last one. */
  lastUse: number;
  /** Uses of all pages between its last two. */
  interval: number;
  /** Uses of all pages until its lines were looked at last. */
  lineUse: number;
}

/** Figures since the start; bytes and pages are those of now. */
export interface PageCacheFigures {
  readonly hits: number;
  readonly misses: number;
  readonly pages: number;
  /** Stored bytes and columns. */
  readonly columnBytes: number;
  /** Unpacked lines. */
  readonly lineBytes: number;
}

export class PageCache implements PageKeeper {
  readonly #pool: LinePool;
  readonly #keepsFirst: boolean;
  readonly #maxColumnBytes: number;
  readonly #maxPageBytes: number;
  /** Ascending by last use. */
  readonly #kept = new Map<string, Kept>();
  readonly #byColumns = new Map<PageColumns, Kept>();
  /** Memory of lines by page, ascending by their last use: of some pages columns are used and no lines. */
  readonly #slots = new Map<Kept, Buffer>();
  /** Last use of pages that were used once, ascending. */
  readonly #remembered = new Map<string, number>();
  /** Used lately, to be weighed again. */
  readonly #unweighed: Kept[] = [];
  #uses = 0;
  #hits = 0;
  #columnBytes = 0;
  #lineBytes = 0;

  /**
   * @param maxBytes of all that is kept; memory for lines is taken from the machine as it is used
   * @param keepsFirst pages are kept from their first use on where there is room for nothing: reading them again would cost a
   * round trip
   */
  constructor(maxBytes: number, { keepsFirst = false }: { readonly keepsFirst?: boolean } = {}) {
    this.#keepsFirst = keepsFirst;
    this.#pool = new LinePool(Math.floor(maxBytes * LINE_SHARE));
    this.#maxColumnBytes = maxBytes - this.#pool.bytes;
    this.#maxPageBytes = Math.min(SPACE_BYTES, this.#pool.bytes * MAX_PAGE_SHARE);
  }

  get figures(): PageCacheFigures {
    return {
      hits: this.hits,
      misses: this.misses,
      pages: this.#kept.size,
      columnBytes: this.#columnBytes,
      lineBytes: this.#lineBytes,
    };
  }

  /**
   * Columns of a page: those kept, or new ones, which may be kept.
   *
   * @param chunk what names the chunk among those of all tenants; @param what names it in errors
   * @param nextUse uses of all pages until the next one of this page, if that is known: then it is kept from its first use on
   */
  use(chunk: string, footer: Footer, page: PageMeta, what: string, nextUse?: number): PageColumns {
    const key = `${chunk}/${page.offset}`;
    const now = ++this.#uses;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#hits++;
      this.#reuse(known, now);
      return known.columns;
    }
    const lastUse = this.#remembered.get(key);
    this.#remembered.delete(key);
    const isFirst = lastUse === undefined;
    // One that was never used before is the first to give way, and takes nobody's place.
    const interval = nextUse ?? (isFirst ? Infinity : now - lastUse);
    if ((!isFirst || nextUse !== undefined || this.#keepsFirst) && this.#hasRoomFor(page, interval)) {
      const columns = new PageColumns(footer, page, what, this);
      const weight = page.storedBytes + BYTES_PER_ROW * page.rows;
      this.#keep({ key, columns, weight, lastUse: now, interval, lineUse: now });
      return columns;
    }
    this.#remember(key, now);
    return new PageColumns(footer, page, what);
  }

  get hits(): number {
    return this.#hits;
  }

  get misses(): number {
    return this.#uses - this.#hits;
  }

  /** Drops all pages. Queries under way go on with theirs: their lines are unpacked again. */
  clear(): void {
    for (const page of [...this.#kept.values()]) this.#drop(page);
    this.#remembered.clear();
    this.#unweighed.length = 0;
    this.#pool.reset();
  }

  /** Drops the pages of chunks that are deleted. @param chunks as `use` names them */
  forgetChunks(chunks: ReadonlySet<string>): void {
    for (const page of [...this.#kept.values()]) {
      if (chunks.has(page.key.slice(0, page.key.lastIndexOf('/')))) this.#drop(page);
    }
  }

  slotFor(columns: PageColumns): Buffer | undefined {
    const page = this.#byColumns.get(columns);
    const { lineBytes } = columns.page;
    if (page === undefined || lineBytes > this.#maxPageBytes) return undefined;
    for (;;) {
      const slot = this.#pool.take(lineBytes);
      if (slot !== undefined) {
        this.#slots.set(page, slot);
        page.lineUse = this.#uses;
        this.#lineBytes += slot.length;
        return slot;
      }
      const oldest = firstOf(this.#slots.keys());
      if (oldest === undefined || this.#uses - oldest.lineUse <= page.interval) return undefined;
      this.#dropLines(oldest);
    }
  }

  usedLines(columns: PageColumns): void {
    const page = this.#byColumns.get(columns);
    const slot = page && this.#slots.get(page);
    if (page === undefined || slot === undefined || page.lineUse === this.#uses) return;
    page.lineUse = this.#uses;
    this.#slots.delete(page);
    this.#slots.set(page, slot);
  }

  forget(columns: PageColumns): void {
    const page = this.#byColumns.get(columns);
    if (page !== undefined) this.#drop(page);
  }

  #reuse(page: Kept, now: number): void {
    page.interval = now - page.lastUse;
    page.lastUse = now;
    this.#kept.delete(page.key);
    this.#kept.set(page.key, page);
    this.#weighLater(page);
  }

  #keep(page: Kept): void {
    this.#kept.set(page.key, page);
    this.#byColumns.set(page.columns, page);
    this.#columnBytes += page.weight;
    this.#shrink();
    this.#weighLater(page);
  }

  #weighLater(page: Kept): void {
    this.#unweighed.push(page);
    if (this.#unweighed.length > WEIGHED_LATER) this.#weigh(this.#unweighed.shift()!);
  }

  #weigh(page: Kept): void {
    if (this.#kept.get(page.key) !== page) return;
    const weight = page.columns.heldBytes;
    this.#columnBytes += weight - page.weight;
    page.weight = weight;
    this.#shrink();
  }

  #shrink(): void {
    while (this.#columnBytes > this.#maxColumnBytes) this.#drop(firstOf(this.#kept.values())!);
  }

  #hasRoomFor({ storedBytes }: PageMeta, interval: number): boolean {
    if (this.#columnBytes + storedBytes <= this.#maxColumnBytes) return true;
    const oldest = firstOf(this.#kept.values());
    return oldest !== undefined && this.#mayGo(oldest, interval);
  }

  #mayGo({ lastUse }: Kept, interval: number): boolean {
    return this.#uses - lastUse > interval;
  }

  #drop(page: Kept): void {
    this.#dropLines(page);
    this.#kept.delete(page.key);
    this.#byColumns.delete(page.columns);
    this.#columnBytes -= page.weight;
    // It may come back: so it was used once.
    this.#remember(page.key, page.lastUse);
  }

  #remember(key: string, lastUse: number): void {
    this.#remembered.set(key, lastUse);
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(firstOf(this.#remembered.keys())!);
  }

  #dropLines(page: Kept): void {
    const slot = this.#slots.get(page);
    if (slot === undefined) return;
    this.#slots.delete(page);
    page.columns.lineSlot = undefined;
    this.#lineBytes -= slot.length;
    this.#pool.give(slot);
  }
}

function firstOf<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}
