/**
 * Caches pages that queries read repeatedly: their stored bytes, unpacked columns, and unpacked lines. Chunks
 * never change, so tenant, chunk and offset identify a page's content. Its checksums are verified once, when
 * a column is unpacked.
 *
 *     maxBytes   | 3/4: lines, in memory that searches work on (LinePool) | 1/4: stored bytes and columns |
 *
 * A page is cached from its second use on, and a page of a push from its first use while there is free
 * memory: dashboards read new lines every few seconds until they are merged. A page evicts another page only
 * if that page was unused for longer than the interval between its own two uses. So a scan of everything does
 * not change the cache. If a query reads more than fits, most of the cache stays. Evicting the oldest page
 * would leave nothing, because each page would be evicted just before its next use. An export, which reads a
 * page for several responses in sequence, passes the next use of a page.
 *
 * Pitfall: lines of a page may be evicted between any two turns of the event loop. The page then unpacks its
 * stored bytes again, without a read from the store.
 */

import { SPACE_BYTES } from '../../base/kernels/line-memory.ts';
import { LinePool } from '../../base/kernels/line-pool.ts';
import { copyBytes } from '../../base/model/copy-bytes.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Footer, PageMeta } from '../../storage/chunk/format.ts';
import { PageColumns } from '../../storage/chunk/page-columns.ts';
import type { PageKeeper } from '../../storage/chunk/page-keeper.ts';
import { ReadBytes } from '../../storage/codec/read-bytes.ts';
import type { SoughtFilter } from '../../storage/columns/filtered-rows.ts';
import type { RowRange } from '../../storage/columns/parsed-column-cache.ts';

/**
 * Share of all bytes for lines: for 1 MiB of lines, a page has about 100 KiB of stored bytes and 50 KiB of
 * columns.
 */
const LINE_SHARE = 3 / 4;
/** A page with more lines than this share of their memory would evict too many others. */
const MAX_PAGE_SHARE = 1 / 8;
/** Maximum names of pages that were used once, 150 bytes each: 16 GiB of lines. */
const MAX_REMEMBERED = 16_384;
/**
 * Number of uses of other pages after which a page is weighed again. Its columns grow while it is scanned.
 */
const WEIGHED_LATER = 64;

/** Maximum sets of names for which queries parse lines repeatedly: the panels of some dashboards. */
const MAX_LEARNED = 100;

/** Size of a new page until it is weighed: times and offsets. */
const BYTES_PER_ROW = 12;

interface PageUse {
  /** Number of uses of all pages until the next use of this one, if known: it is then cached at once. */
  readonly nextUse?: number | undefined;
  /** Whether the page is cached from its first use on while there is free memory. */
  readonly keepsFirst?: boolean;
}

interface CachedPage {
  readonly key: string;
  readonly columns: PageColumns;
  /** Bytes when it was last weighed. */
  weight: number;
  /** Number of uses of all pages until its last one. */
  lastUse: number;
  /** Number of uses of all pages between its last two. */
  interval: number;
  /** Number of uses of all pages until its lines were last read. */
  lineUse: number;
}

/** Figures since the start. Bytes and pages are current values. */
interface PageCacheFigures {
  readonly hits: number;
  readonly misses: number;
  readonly pages: number;
  /** Pages whose lines were handed over. */
  readonly adopted: number;
  /** Pages whose lines were unpacked. A page counts each time. */
  readonly unpacked: number;
  /** Stored bytes and columns. */
  readonly columnBytes: number;
  /** Unpacked lines. */
  readonly lineBytes: number;
  /** Bytes of the memory for lines that were written, until it is released. */
  readonly touchedLineBytes: number;
}

export class PageCache implements PageKeeper<PageColumns> {
  readonly #pool: LinePool;
  readonly #keepsFirst: boolean;
  readonly #maxColumnBytes: number;
  readonly #maxPageBytes: number;
  /** Ascending by last use. */
  readonly #cached = new Map<string, CachedPage>();
  readonly #byColumns = new Map<PageColumns, CachedPage>();
  /** Memory of lines by page, ascending by their last use. For some pages only columns are used. */
  readonly #slots = new Map<CachedPage, Buffer>();
  /** Last use of pages that were used once, ascending. */
  readonly #remembered = new Map<string, number>();
  /** Recently used pages that must be weighed again. */
  readonly #unweighed: CachedPage[] = [];
  readonly #learned = new LruCache<string, true>(MAX_LEARNED);
  #uses = 0;
  #hits = 0;
  #adopted = 0;
  #unpacked = 0;
  #columnBytes = 0;
  #lineBytes = 0;

  /**
   * @param maxBytes of all cached data; memory for lines is allocated from the system as it is used
   * @param keepsFirst caches every page from its first use on while there is free memory, to save a round trip
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
      pages: this.#cached.size,
      adopted: this.#adopted,
      unpacked: this.#unpacked,
      columnBytes: this.#columnBytes,
      lineBytes: this.#lineBytes,
      touchedLineBytes: this.#pool.touchedBytes,
    };
  }

  /**
   * Returns the columns of a page, cached or new. New ones may be cached.
   *
   * @param chunk identifies the chunk among those of all tenants
   * @param what names it in errors
   */
  use(
    chunk: string,
    footer: Footer,
    page: PageMeta,
    what: string,
    { nextUse, keepsFirst = this.#keepsFirst }: PageUse = {},
  ): PageColumns {
    const key = `${chunk}/${page.offset}`;
    const now = ++this.#uses;
    const known = this.#cached.get(key);
    if (known !== undefined) {
      this.#hits++;
      this.#reuse(known, now);
      return known.columns;
    }
    const lastUse = this.#remembered.get(key);
    this.#remembered.delete(key);
    const isFirst = lastUse === undefined;
    // A page that was not used before is evicted first, and evicts no other.
    const interval = nextUse ?? (isFirst ? Infinity : now - lastUse);
    if ((!isFirst || nextUse !== undefined || keepsFirst) && this.#fits(page, interval)) {
      const columns = new PageColumns(footer, page, what, this);
      const weight = page.storedBytes + BYTES_PER_ROW * page.rows;
      this.#keep({ key, columns, weight, lastUse: now, interval, lineUse: now });
      return columns;
    }
    this.#remember(key, now);
    return new PageColumns(footer, page, what);
  }

  /**
   * Caches a page that was just written. It only evicts pages that were unused while as many pages were used as are
   * cached: dashboards that query new lines will use it sooner. Its bytes are copied, and its times and offsets decoded,
   * because every query needs them.
   *
   * @param lines Its lines, unpacked
   */
  adopt(
    chunk: string,
    footer: Footer,
    page: PageMeta,
    what: string,
    { stored, lines }: { readonly stored: Buffer; readonly lines: Buffer },
  ): void {
    const key = `${chunk}/${page.offset}`;
    const interval = this.#cached.size;
    if (this.#cached.has(key) || !this.#fits(page, interval)) return;
    const columns = new PageColumns(footer, page, what, this);
    const own = Buffer.allocUnsafeSlow(stored.length);
    copyBytes(stored, own, 0);
    columns.add(0, own, new ReadBytes(own));
    const weight = page.storedBytes + BYTES_PER_ROW * page.rows;
    const now = this.#uses;
    this.#remembered.delete(key);
    this.#keep({ key, columns, weight, lastUse: now, interval, lineUse: now });
    const slot = this.#takeSlot(columns);
    if (slot === undefined) return;
    copyBytes(lines, slot, 0);
    columns.lineSlot = slot;
    columns.decodeRows();
    this.#adopted++;
  }

  /**
   * Whether one of the line filters accepts no row of these runs, as far as the cached page shows. That is a use of
   * the page. Throws CorruptionError.
   */
  excludes(
    chunk: string,
    { offset }: PageMeta,
    filters: readonly SoughtFilter[],
    runs: readonly RowRange[],
  ): boolean {
    const page = this.#cached.get(`${chunk}/${offset}`);
    if (page === undefined) return false;
    const { columns } = page;
    const bytes = columns.filterBytes;
    const isKnown = filters.some(filter => columns.knowsExcluded(filter, runs));
    if (!isKnown) {
      if (!filters.some(filter => columns.searchExcludes(filter, runs))) return false;
      this.#useLines(page);
    }
    this.#hits++;
    this.#touch(page, ++this.#uses);
    // A search changes nothing else that the page holds.
    this.#addWeight(page, columns.filterBytes - bytes);
    return true;
  }

  get hits(): number {
    return this.#hits;
  }

  get misses(): number {
    return this.#uses - this.#hits;
  }

  /** Drops all pages. Running queries continue with theirs: their lines are unpacked again. */
  clear(): void {
    for (const page of [...this.#cached.values()]) this.#drop(page);
    this.#remembered.clear();
    this.#learned.clear();
    this.#unweighed.length = 0;
    this.#pool.reset();
  }

  /** Drops the pages of deleted chunks. @param chunks as `use` identifies them */
  forgetChunks(chunks: ReadonlySet<string>): void {
    for (const page of [...this.#cached.values()]) {
      if (chunks.has(page.key.slice(0, page.key.lastIndexOf('/')))) this.#drop(page);
    }
  }

  /**
   * Releases line memory that is mostly unused and that no lines took since the last call. Lines that are left in it are
   * unpacked again. See LinePool.
   */
  releaseUnused(): ReturnType<LinePool['releaseUnused']> {
    return this.#pool.releaseUnused(buffers => {
      for (const [page, { buffer }] of [...this.#slots]) if (buffers.has(buffer)) this.#dropLines(page);
    });
  }

  slotFor(columns: PageColumns): Buffer | undefined {
    const slot = this.#takeSlot(columns);
    if (slot !== undefined) this.#unpacked++;
    return slot;
  }

  #takeSlot(columns: PageColumns): Buffer | undefined {
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
    if (page !== undefined) this.#useLines(page);
  }

  #useLines(page: CachedPage): void {
    const slot = this.#slots.get(page);
    if (slot === undefined || page.lineUse === this.#uses) return;
    page.lineUse = this.#uses;
    this.#slots.delete(page);
    this.#slots.set(page, slot);
  }

  noteLearned(names: string): void {
    this.#learned.set(names, true, 1);
  }

  hasLearned(names: string): boolean {
    return this.#learned.get(names) === true;
  }

  forget(columns: PageColumns): void {
    const page = this.#byColumns.get(columns);
    if (page !== undefined) this.#drop(page);
  }

  #reuse(page: CachedPage, now: number): void {
    this.#touch(page, now);
    this.#weighLater(page);
  }

  /** Notes a use of a page that does not change what it holds. */
  #touch(page: CachedPage, now: number): void {
    page.interval = now - page.lastUse;
    page.lastUse = now;
    this.#cached.delete(page.key);
    this.#cached.set(page.key, page);
  }

  #keep(page: CachedPage): void {
    this.#cached.set(page.key, page);
    this.#byColumns.set(page.columns, page);
    this.#columnBytes += page.weight;
    this.#shrink();
    this.#weighLater(page);
  }

  #weighLater(page: CachedPage): void {
    this.#unweighed.push(page);
    if (this.#unweighed.length > WEIGHED_LATER) this.#weigh(this.#unweighed.shift()!);
  }

  #weigh(page: CachedPage): void {
    if (this.#cached.get(page.key) !== page) return;
    this.#addWeight(page, page.columns.heldBytes - page.weight);
  }

  #addWeight(page: CachedPage, bytes: number): void {
    this.#columnBytes += bytes;
    page.weight += bytes;
    this.#shrink();
  }

  #shrink(): void {
    while (this.#columnBytes > this.#maxColumnBytes) this.#drop(firstOf(this.#cached.values())!);
  }

  #fits({ storedBytes }: PageMeta, interval: number): boolean {
    if (this.#columnBytes + storedBytes <= this.#maxColumnBytes) return true;
    const oldest = firstOf(this.#cached.values());
    return oldest !== undefined && this.#mayGo(oldest, interval);
  }

  #mayGo({ lastUse }: CachedPage, interval: number): boolean {
    return this.#uses - lastUse > interval;
  }

  #drop(page: CachedPage): void {
    this.#dropLines(page);
    this.#cached.delete(page.key);
    this.#byColumns.delete(page.columns);
    this.#columnBytes -= page.weight;
    // It may be used again, so it counts as used once.
    this.#remember(page.key, page.lastUse);
  }

  #remember(key: string, lastUse: number): void {
    this.#remembered.set(key, lastUse);
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(firstOf(this.#remembered.keys())!);
  }

  #dropLines(page: CachedPage): void {
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
