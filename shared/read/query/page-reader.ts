/**
 * Reads pages of chunks: what the cache has not, and those that lie together in one read, which hides what a read costs (a
 * request of S3 above all). What a reader would get wrong: a read that fails fails all its pages.
 */

import type { PageRows } from '../../base/model/page.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { nameOfChunk, readChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Footer, PageMeta } from '../../storage/chunk/format.ts';
import { PageColumns } from '../../storage/chunk/page-columns.ts';
import { columnsOf, missingStretch, type PageWants, rowsOf } from '../../storage/chunk/reader.ts';
import { ReadBytes } from '../../storage/codec/read-bytes.ts';
import type { PageCache } from './page-cache.ts';
import type { QueryStatistics } from './statistics.ts';

/** A read of many pages: 80 or so, and what a request of S3 brings in 0.1 s. */
const MAX_READ_BYTES = 8 * 1024 * 1024;
/** What lies between two pages and is read all the same: less than a read of its own costs, here and on S3. */
const MAX_GAP_BYTES = 64 * 1024;

export interface PageRequest {
  readonly record: ChunkRecord;
  readonly footer: Footer;
  readonly page: PageMeta;
  readonly wants: PageWants;
  /** Pages that are used until this one is used again, if that is known. */
  readonly nextUse?: number | undefined;
}

/** Over a distant store: longer reads, one after the other on a connection, take longer than a round trip. */
const DISTANT_READ_BYTES = 2 * 1024 * 1024;
/** Over a distant store, 1.5 ms; a request costs as much as 2 ms of a function. */
const DISTANT_GAP_BYTES = 128 * 1024;

/** A page that was read for less. */
export interface MoreRequest {
  readonly record: ChunkRecord;
  readonly rows: Promise<PageRows>;
  readonly wants: PageWants;
}

/** What a request lacks: columns that fill when `start` to `end` of the chunk is read. */
interface Missing {
  /** Of the request. */
  readonly place: number;
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

  /** The rows of pages, in the order asked for. */
  pages(requests: readonly PageRequest[], statistics: QueryStatistics): Promise<PageRows>[] {
    const found: Promise<PageRows>[] = [];
    const missing: Missing[] = [];
    for (const [place, { record, footer, page, wants, nextUse }] of requests.entries()) {
      statistics.pagesRead++;
      const what = nameOfChunk(record);
      const chunk = `${record.tenant}/${record.id}`;
      const columns =
        this.#cache?.use(chunk, footer, page, what, nextUse) ?? new PageColumns(footer, page, what);
      const { start, end } = missingStretch(columns, wants);
      if (start < end)
        missing.push({ place, record, columns, start: page.offset + start, end: page.offset + end });
      else found[place] = Promise.resolve(rowsOf(columns, wants));
    }
    for (const group of this.#groupsOf(missing)) {
      const filled = this.#fill(group, statistics);
      for (const { place, columns } of group) {
        found[place] = filled.then(() => rowsOf(columns, requests[place].wants));
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
    // The bytes of a record are the record's.
    const lent = record.inline === undefined ? new ReadBytes(stored) : undefined;
    for (const { columns, start, end } of group) {
      columns.add(start - columns.page.offset, stored.subarray(start - from, end - from), lent);
    }
    lent?.freeUnheld();
  }

  #groupsOf(missing: readonly Missing[]): Missing[][] {
    const isDistant = this.#store.isDistant === true;
    return groupsOf(missing, {
      maxGapBytes: isDistant ? DISTANT_GAP_BYTES : MAX_GAP_BYTES,
      maxReadBytes: isDistant ? DISTANT_READ_BYTES : MAX_READ_BYTES,
    });
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
    const missing = requests.flatMap(({ record, wants }, place): Missing[] => {
      const columns = columnsOf(pages[place]);
      const { start, end } = missingStretch(columns, wants);
      const { offset } = columns.page;
      return start < end ? [{ place, record, columns, start: offset + start, end: offset + end }] : [];
    });
    await Promise.all(this.#groupsOf(missing).map(group => this.#fill(group, statistics)));
  }

  /** The page of `rows`, which was read for less, with all that is wanted now. */
  async more(
    record: ChunkRecord,
    rows: PageRows,
    wants: PageWants,
    statistics: QueryStatistics,
  ): Promise<PageRows> {
    const columns = columnsOf(rows);
    const { start, end } = missingStretch(columns, wants);
    const { offset } = columns.page;
    const read = { place: 0, record, columns, start: offset + start, end: offset + end };
    if (start < end) await this.#fill([read], statistics);
    return rowsOf(columns, wants);
  }
}

/** By chunk and place, as far as they lie together. */
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
