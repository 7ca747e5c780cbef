/**
 * Reads footers and pages of chunks from records, objects and bounded caches. Streams are interned: the same
 * stream is the same object in every footer, so that later stages compare and cache by identity.
 */

import { LruCache } from '../../base/model/lru.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { tracedStore } from '../../base/ports/read-trace.ts';
import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import {
  decodeHeader,
  type FilterIndex,
  likelyLayout,
  maxHeaderBytes,
  rangeOfUnit,
  type UnitLayout,
} from '../../execution/text-index/filter-layout.ts';
import { unitsOf } from '../../execution/text-index/filter-reader.ts';
import type { PruningPredicate } from '../../execution/text-index/pruning-predicate.ts';
import { decodeSummaries, type PageSummary } from '../../execution/text-index/summary-codec.ts';
import { footerOfTail, nameOfChunk, readChunk, readFooter } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord, TextIndexPosition } from '../../storage/catalog/chunk-record.ts';
import type { FreshChunk } from '../../storage/catalog/fresh-chunks.ts';
import type { Footer, PageMeta, SectionMeta } from '../../storage/chunk/format.ts';
import type { PageWants } from '../../storage/chunk/reader.ts';
import { loadBlock } from '../../storage/codec/compression.ts';
import type { SoughtFilter } from '../../storage/columns/filtered-rows.ts';
import type { RowRange } from '../../storage/columns/parsed-column-cache.ts';
import { heldBytes } from './footer-weight.ts';
import type { PageCache } from './page-cache.ts';
import { type MoreRequest, PageReader, type PageRequest } from './page-reader.ts';
import { ReadAheadBudget } from './read-ahead-budget.ts';
import type { StreamSelector } from './selector.ts';
import type { QueryStatistics } from './statistics.ts';

/** Bytes of cached footers in decoded form: about 4,500 pushes, or merged chunks with 13 GB of lines. */
const CACHED_FOOTER_BYTES = 48 * 1024 * 1024;
/** Maximum interned streams. Beyond it, the oldest are evicted and only lose their identity. */
const INTERNED_STREAMS = 100_000;

/** Bytes of cached text index units. A unit has 8 to 16 KiB, and equal needles need the same units. */
const CACHED_FILTER_BYTES = 16 * 1024 * 1024;
/**
 * Bytes of cached page summaries, about 100 stored bytes per page. Decoded they are about six times as large.
 */
const CACHED_SUMMARY_BYTES = 2 * 1024 * 1024;
/** Decoded size of a text index directory, per page. */
const FILTER_INDEX_WEIGHT = 150;

/**
 * Bytes read together with a footer over a distant store if sections are needed. They include all sections of
 * a chunk with a few MB of lines, for 3 ms instead of 25 ms for another read.
 */
const TAIL_BYTES = 256 * 1024;
/** Bytes of cached tails, until their content is in its own cache: those of a month. */
const CACHED_TAIL_BYTES = 16 * 1024 * 1024;

/** Footers of a day from which on its text indexes are read first: those of 6 GB of lines. */
const MANY_FOOTER_BYTES = 8 * 1024 * 1024;

/** Bytes before a footer. */
interface ObjectTail {
  /** Offset in the object. */
  readonly start: number;
  readonly bytes: Buffer;
}

/** Text index of a chunk. */
export interface ChunkFilter {
  readonly index: FilterIndex;
  /** Reads units. Throws errors of the store. */
  units(wanted: readonly number[]): Promise<Map<number, Buffer>>;
}

export class ChunkSource {
  /** Read-ahead budget of all scans. */
  readonly readAhead: ReadAheadBudget;
  readonly scheduler: FairScheduler;
  /** See pruned-plan.ts. */
  readonly manyFooterBytes: number = MANY_FOOTER_BYTES;
  readonly #store: ObjectStore;
  /** The same store for reads of sections. */
  readonly #sections: ObjectStore;
  readonly #filters = new LruCache<string, FilterIndex>(CACHED_FILTER_BYTES / 4);
  readonly #summaries = new LruCache<string, readonly PageSummary[]>(CACHED_SUMMARY_BYTES);
  readonly #filterUnits = new LruCache<string, Buffer>(CACHED_FILTER_BYTES);
  readonly #tails = new LruCache<string, ObjectTail>(CACHED_TAIL_BYTES);
  readonly #footers = new LruCache<string, Footer>(CACHED_FOOTER_BYTES);
  readonly #streams = new LruCache<string, Stream>(INTERNED_STREAMS);
  readonly #reader: PageReader;
  /** Caches, for metrics. */
  readonly caches = {
    footers: this.#footers,
    text_filters: this.#filters,
    text_filter_units: this.#filterUnits,
    page_summaries: this.#summaries,
  };

  /**
   * @param cache default: every page is read again
   * @param scheduler fair scheduler of the thread
   */
  constructor(
    store: ObjectStore,
    cache?: PageCache,
    scheduler = new FairScheduler(),
    readAhead = new ReadAheadBudget(store.isDistant),
  ) {
    this.#store = ofKind(store, 'footers');
    this.#sections = ofKind(store, 'textFilters');
    this.scheduler = scheduler;
    this.readAhead = readAhead;
    this.#reader = new PageReader(ofKind(store, 'pages'), cache);
  }

  /** See ObjectStore. */
  get isDistant(): boolean {
    return this.#store.isDistant === true;
  }

  /** Whether the text index of a chunk is read together with its footer. */
  tailHasTextIndex({ storedBytes, footerBytes, textIndex }: ChunkRecord): boolean {
    return textIndex !== undefined && textIndex.offset >= storedBytes - footerBytes - TAIL_BYTES;
  }

  /** @param wantsSections whether sections of the chunk follow; a distant store then reads both at once */
  async footer(record: ChunkRecord, wantsSections = false): Promise<Footer> {
    // Names are random, but a cache that tenants share is keyed by tenant anyway.
    const key = `${record.tenant}/${record.id}`;
    const cached = this.#footers.get(key);
    if (cached !== undefined) return cached;
    const decoded =
      wantsSections && this.isDistant && record.inline === undefined && record.footer === undefined
        ? await this.#footerWithTail(key, record)
        : await readFooter(this.#store, record);
    return this.#cacheFooter(key, decoded);
  }

  async #footerWithTail(key: string, record: ChunkRecord): Promise<Footer> {
    const { storedBytes, footerBytes } = record;
    const footerStart = storedBytes - footerBytes;
    const start = Math.max(0, footerStart - TAIL_BYTES);
    const bytes = await readChunk(this.#store, record, start, storedBytes);
    const footer = footerOfTail(record, Buffer.from(bytes.subarray(footerStart - start)));
    if (footer.sections.length > 0) {
      this.#tails.set(key, { start, bytes: bytes.subarray(0, footerStart - start) }, bytes.length);
    }
    return footer;
  }

  /**
   * Returns the bytes of a section, from the tail that was read with the footer if it contains them. Throws
   * as readChunk.
   */
  async #section(
    record: ChunkRecord,
    start: number,
    end: number,
    { plan }: QueryStatistics,
  ): Promise<Buffer> {
    const tail = this.#tails.get(`${record.tenant}/${record.id}`);
    if (tail !== undefined && start >= tail.start && end <= tail.start + tail.bytes.length) {
      // A copy, so that a cached section does not retain the whole tail.
      return Buffer.from(tail.bytes.subarray(start - tail.start, end - tail.start));
    }
    plan.filterReads++;
    plan.filterBytes += end - start;
    return readChunk(this.#sections, record, start, end);
  }

  /**
   * Returns the text index of a chunk. Throws errors of the store, and CorruptionError if the directory of
   * the index is corrupt.
   *
   * @param position position of the index, from the footer or the record
   * @param predicate predicate that the units will be checked for
   */
  async filter(
    record: ChunkRecord,
    position: TextIndexPosition,
    predicate: PruningPredicate,
    statistics: QueryStatistics,
  ): Promise<ChunkFilter> {
    const key = `${record.tenant}/${record.id}`;
    const read = (offset: number, bytes: number): Promise<Buffer> =>
      this.#section(record, position.offset + offset, position.offset + offset + bytes, statistics);
    const unit = async (layout: UnitLayout, number: number): Promise<Buffer> => {
      const unitKey = `${key}/${number}`;
      const cached = this.#filterUnits.get(unitKey);
      if (cached !== undefined) return cached;
      const { offset, bytes } = rangeOfUnit(layout, number);
      const loaded = await read(offset, bytes);
      this.#filterUnits.set(unitKey, loaded, bytes);
      return loaded;
    };
    const units = async (layout: UnitLayout, wanted: readonly number[]): Promise<Map<number, Buffer>> =>
      new Map(await Promise.all(wanted.map(async number => [number, await unit(layout, number)] as const)));

    let index = this.#filters.get(key);
    if (index === undefined) {
      const header = read(0, Math.min(maxHeaderBytes(position.pages), position.storedBytes));
      const layout = this.isDistant ? likelyLayout(position.pages, position.storedBytes) : undefined;
      // Units are cached by number, so units of another layout must not be cached.
      const early = layout && units(layout, unitsOf(layout, predicate));
      early?.catch(() => undefined);
      index = decodeHeader(await header, position.pages);
      await early?.catch(() => undefined);
      const isLikely = layout?.units === index.units && layout.headerBytes === index.headerBytes;
      if (layout !== undefined && !isLikely) {
        for (const number of unitsOf(layout, predicate)) this.#filterUnits.delete(`${key}/${number}`);
      }
      this.#filters.set(key, index, FILTER_INDEX_WEIGHT * position.pages);
    }
    const known = index;
    return { index: known, units: wanted => units(known, wanted) };
  }

  /**
   * Returns the summaries of each page's field columns, or none if their version is unknown. Throws errors of
   * the store, and CorruptionError if the section is corrupt.
   */
  async pageSummaries(
    record: ChunkRecord,
    { pages }: Footer,
    { block }: SectionMeta,
    statistics: QueryStatistics,
  ): Promise<readonly PageSummary[]> {
    const key = `${record.tenant}/${record.id}`;
    const cached = this.#summaries.get(key);
    if (cached !== undefined) return cached;
    const stored = await this.#section(record, block.offset, block.offset + block.storedBytes, statistics);
    const decoded = decodeSummaries(
      loadBlock(stored, block, `summaries of ${nameOfChunk(record)}`),
      pages.length,
    );
    this.#summaries.set(key, decoded ?? [], block.storedBytes);
    return decoded ?? [];
  }

  /** Drops cached data of deleted chunks, which are most of the garbage of a steady load. @param chunks `tenant/id` */
  forgetChunks(chunks: ReadonlySet<string>): void {
    for (const chunk of chunks) {
      for (const cache of [this.#footers, this.#filters, this.#summaries, this.#tails]) cache.delete(chunk);
    }
    this.#reader.forgetChunks(chunks);
  }

  /** Caches a chunk that was just written, as far as the caches have space. Throws CorruptionError. */
  adopt({ record, object, lines }: FreshChunk): void {
    const startedMs = this.scheduler.nowMs();
    const { tenant, id, storedBytes, footerBytes } = record;
    const tail = object.subarray(storedBytes - footerBytes);
    const footer = this.#cacheFooter(`${tenant}/${id}`, footerOfTail(record, tail));
    this.#reader.adopt(record, footer, object, lines);
    this.scheduler.charge(tenant, startedMs);
  }

  #cacheFooter(key: string, decoded: Footer): Footer {
    const footer = { ...decoded, streams: decoded.streams.map(stream => this.#intern(stream)) };
    this.#footers.set(key, footer, heldBytes(footer));
    return footer;
  }

  #intern(stream: Stream): Stream {
    const known = this.#streams.get(stream.text);
    if (known !== undefined) return known;
    this.#streams.set(stream.text, stream);
    return stream;
  }

  /** Reads a page and counts what it read. Throws errors of the store, and CorruptionError. */
  page(
    record: ChunkRecord,
    footer: Footer,
    page: PageMeta,
    wants: PageWants,
    statistics: QueryStatistics,
  ): Promise<PageRows> {
    return this.#reader.pages([{ record, footer, page, wants }], statistics)[0];
  }

  /**
   * Whether it is known, without reading the page, that one of the line filters accepts no row of these runs. Lines that
   * are in memory are searched. Throws CorruptionError.
   */
  excludes(
    record: ChunkRecord,
    page: PageMeta,
    filters: readonly SoughtFilter[],
    runs: readonly RowRange[],
  ): boolean {
    return this.#reader.excludes(record, page, filters, runs);
  }

  /**
   * Works as `excludes` for all pages of a chunk, and counts them. Neither a footer nor a page is read: false if one of them
   * is not in memory, or no stream matches.
   */
  excludesChunk(
    record: ChunkRecord,
    filters: readonly SoughtFilter[],
    selector: StreamSelector,
    { plan }: QueryStatistics,
  ): boolean {
    const footer = this.#footers.get(`${record.tenant}/${record.id}`);
    if (footer === undefined) return false;
    const { pages, streams } = footer;
    const isWhole = streams.every(stream => selector.matches(stream));
    let bytes = 0;
    let sought = 0;
    let soughtBytes = 0;
    for (const page of pages) {
      const runs = isWhole ? page.runs : page.runs.filter(({ stream }) => selector.matches(streams[stream]));
      bytes += page.storedBytes;
      if (runs.length === 0) continue;
      if (!this.excludes(record, page, filters, runs)) return false;
      sought++;
      soughtBytes += page.storedBytes;
    }
    if (sought === 0) return false;
    plan.chunks++;
    plan.pages += pages.length;
    plan.pageBytes += bytes;
    plan.pagesByStreams += pages.length - sought;
    plan.bytesByStreams += bytes - soughtBytes;
    plan.pagesByText += sought;
    plan.bytesByText += soughtBytes;
    return true;
  }

  /** Reads several pages, in the order requested. Adjacent ones share a read. */
  pages(
    requests: readonly PageRequest[],
    statistics: QueryStatistics,
    isAhead?: boolean,
  ): Promise<PageRows>[] {
    return this.#reader.pages(requests, statistics, isAhead);
  }

  /** Extends pages that were read in part, in the order requested. Adjacent missing parts share a read. */
  moreOf(requests: readonly MoreRequest[], statistics: QueryStatistics): Promise<PageRows>[] {
    return this.#reader.moreOf(requests, statistics);
  }

  /** Returns the page of `rows`, which was read in part, with everything in `wants`. Counts what it read. */
  more(
    record: ChunkRecord,
    rows: PageRows,
    wants: PageWants,
    statistics: QueryStatistics,
  ): Promise<PageRows> {
    return this.#reader.more(record, rows, wants, statistics);
  }
}

/** Traces reads of a distant store for `explain`. */
function ofKind(store: ObjectStore, what: string): ObjectStore {
  return store.isDistant === true ? tracedStore(store, what) : store;
}
