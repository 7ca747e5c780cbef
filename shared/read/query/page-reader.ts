/**
 * Reads pages of chunks that are not cached. Adjacent pages share a read, which hides the cost of a read
 * (above all of an S3 request).
 *
 * Pitfall: if a read fails, all its pages fail.
 */

import type { PageRows } from '../../base/model/page.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { nameOfChunk, readChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Footer, PageMeta } from '../../storage/chunk/format.ts';
import { PageColumns } from '../../storage/chunk/page-columns.ts';
import { columnsOf, missingRange, type PageWants, rowsOf } from '../../storage/chunk/reader.ts';
import { ReadBytes } from '../../storage/codec/read-bytes.ts';
import type { SoughtFilter } from '../../storage/columns/filtered-rows.ts';
import type { RowRange } from '../../storage/columns/parsed-column-cache.ts';
import type { PageCache } from './page-cache.ts';
import { LARGEST_BATCH_BYTES } from './read-ahead-budget.ts';
import type { QueryStatistics } from './statistics.ts';

/** Maximum size of a read of files: about 80 pages. */
const MAX_READ_BYTES = 8 * 1024 * 1024;
/**
 * Maximum gap between two pages that is read as well. It costs less than a separate read, on files and on S3.
 */
const MAX_GAP_BYTES = 64 * 1024;

export interface PageRequest {
  readonly record: ChunkRecord;
  readonly footer: Footer;
  readonly page: PageMeta;
  readonly wants: PageWants;
  /** Pages that are used until this one is used again, if that is known. */
  readonly nextUse?: number | undefined;
}

/**
 * Maximum size of a read over a distant store, for the first pages of a scan: a longer one on a single
 * connection takes longer than a round trip. Four of them are a batch (read-ahead.ts) with the page that fills it.
 */
const DISTANT_READ_BYTES = 4.5 * 1024 * 1024;
/**
 * The same for later reads, 0.4 s on one connection: a batch with the page that fills it. The scan does not wait for
 * them, and a request costs as much as 17 ms of a function with one processor.
 */
const DISTANT_AHEAD_READ_BYTES = LARGEST_BATCH_BYTES + 2 * 1024 * 1024;
/** Maximum gap over a distant store, 1.5 ms. */
const DISTANT_GAP_BYTES = 128 * 1024;

/** A page that was read in part. */
export interface MoreRequest {
  readonly record: ChunkRecord;
  readonly rows: Promise<PageRows>;
  readonly wants: PageWants;
}

/** Missing part of a request: columns that are filled when `start` to `end` of the chunk are read. */
interface Missing {
  /** Index of the request. */
  readonly index: number;
  readonly record: ChunkRecord;
  readonly columns: PageColumns;
  readonly start: number;
  readonly end: number;
}

export class PageReader {
  readonly #store: ObjectStore;
  readonly #cache: PageCache | undefined;

  constructor(store: ObjectStore, cache: PageCache | undefined) {
    this.#store = store;
    this.#cache = cache;
  }

  /** See PageCache. */
  forgetChunks(chunks: ReadonlySet<string>): void {
    this.#cache?.forgetChunks(chunks);
  }

  /**
   * Caches the pages of a chunk that was just written, as far as there is space.
   *
   * @param lines Lines of all pages
   */
  adopt(record: ChunkRecord, footer: Footer, object: Buffer, lines: Buffer): void {
    if (this.#cache === undefined) return;
    const chunk = `${record.tenant}/${record.id}`;
    let at = 0;
    for (const page of footer.pages) {
      const stored = object.subarray(page.offset, page.offset + page.storedBytes);
      this.#cache.adopt(chunk, footer, page, nameOfChunk(record), {
        stored,
        lines: lines.subarray(at, at + page.lineBytes),
      });
      at += page.lineBytes;
    }
  }

  /** See PageCache. */
  excludes(
    { tenant, id }: ChunkRecord,
    page: PageMeta,
    filters: readonly SoughtFilter[],
    runs: readonly RowRange[],
  ): boolean {
    return this.#cache?.excludes(`${tenant}/${id}`, page, filters, runs) === true;
  }

  /**
   * Returns the rows of pages, in the order requested.
   *
   * @param isAhead whether the scan has much to do before it needs them
   */
  pages(requests: readonly PageRequest[], statistics: QueryStatistics, isAhead = false): Promise<PageRows>[] {
    const found: Promise<PageRows>[] = [];
    const missing: Missing[] = [];
    for (const [index, { record, footer, page, wants, nextUse }] of requests.entries()) {
      statistics.pagesRead++;
      const what = nameOfChunk(record);
      const chunk = `${record.tenant}/${record.id}`;
      const use = record.level === 0 ? { nextUse, keepsFirst: true } : { nextUse };
      const columns = this.#cache?.use(chunk, footer, page, what, use) ?? new PageColumns(footer, page, what);
      const { start, end } = missingRange(columns, wants);
      if (start < end)
        missing.push({ index, record, columns, start: page.offset + start, end: page.offset + end });
      else found[index] = Promise.resolve(rowsOf(columns, wants));
    }
    for (const group of this.#groupsOf(missing, isAhead)) {
      const filled = this.#fill(group, statistics);
      for (const { index, columns } of group) {
        found[index] = filled.then(() => rowsOf(columns, requests[index].wants));
      }
    }
    return found;
  }

  async #fill(group: readonly Missing[], statistics: QueryStatistics): Promise<void> {
    const [{ record, start: from }] = group;
    const to = group[group.length - 1].end;
    const started = process.hrtime.bigint();
    const stored = await readChunk(this.#store, record, from, to);
    statistics.downloadNs += Number(process.hrtime.bigint() - started);
    statistics.compressedBytes += to - from;
    // The bytes of a record belong to the record.
    const lent = record.inline === undefined ? new ReadBytes(stored) : undefined;
    for (const { columns, start, end } of group) {
      columns.add(start - columns.page.offset, stored.subarray(start - from, end - from), lent);
    }
    lent?.freeUnheld();
  }

  #groupsOf(missing: readonly Missing[], isAhead = false): Missing[][] {
    if (this.#store.isDistant !== true) {
      return groupsOf(missing, { maxGapBytes: MAX_GAP_BYTES, maxReadBytes: MAX_READ_BYTES });
    }
    const maxReadBytes = isAhead ? DISTANT_AHEAD_READ_BYTES : DISTANT_READ_BYTES;
    return groupsOf(missing, { maxGapBytes: DISTANT_GAP_BYTES, maxReadBytes });
  }

  /** See ChunkSource. */
  moreOf(requests: readonly MoreRequest[], statistics: QueryStatistics): Promise<PageRows>[] {
    const filled = this.#fillAll(requests, statistics);
    filled.catch(() => undefined);
    return requests.map(async ({ rows, wants }) => {
      const columns = columnsOf(await rows);
      await filled;
      return rowsOf(columns, wants);
    });
  }

  async #fillAll(requests: readonly MoreRequest[], statistics: QueryStatistics): Promise<void> {
    const pages = await Promise.all(requests.map(({ rows }) => rows));
    const missing = requests.flatMap(({ record, wants }, index): Missing[] => {
      const columns = columnsOf(pages[index]);
      const { start, end } = missingRange(columns, wants);
      const { offset } = columns.page;
      return start < end ? [{ index, record, columns, start: offset + start, end: offset + end }] : [];
    });
    await Promise.all(this.#groupsOf(missing).map(group => this.#fill(group, statistics)));
  }

  /** Returns the page of `rows`, which was read in part, with everything in `wants`. */
  async more(
    record: ChunkRecord,
    rows: PageRows,
    wants: PageWants,
    statistics: QueryStatistics,
  ): Promise<PageRows> {
    const columns = columnsOf(rows);
    const { start, end } = missingRange(columns, wants);
    const { offset } = columns.page;
    const read = { index: 0, record, columns, start: offset + start, end: offset + end };
    if (start < end) await this.#fill([read], statistics);
    return rowsOf(columns, wants);
  }
}

/** Groups by chunk and position, as far as they are adjacent. */
function groupsOf(
  missing: readonly Missing[],
  { maxGapBytes, maxReadBytes }: { readonly maxGapBytes: number; readonly maxReadBytes: number },
): Missing[][] {
  const byChunk = Map.groupBy(missing, ({ record }) => record.id);
  const groups: Missing[][] = [];
  for (const ofChunk of byChunk.values()) {
    let group: Missing[] = [];
    for (const next of ofChunk.sort((a, b) => a.start - b.start)) {
      const last = group[group.length - 1];
      const joins =
        last !== undefined &&
        next.start - last.end <= maxGapBytes &&
        next.end - group[0].start <= maxReadBytes;
      if (!joins) {
        group = [];
        groups.push(group);
      }
      group.push(next);
    }
  }
  return groups;
}
