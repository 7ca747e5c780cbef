/**
 * Footers and pages of chunks, from records, objects and bounded caches. Streams are interned: the same stream is the same
 * object in every footer, so that later stages compare and remember by identity.
 */
import { nameOfChunk, readChunk, readFooter } from '../catalog/chunk-object.ts';
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import { loadBlock } from '../chunk/compression.ts';
import type { Footer, PageMeta, SectionMeta } from '../chunk/format.ts';
import type { PageWants } from '../chunk/reader.ts';
import { decodeHeader, type FilterIndex, maxHeaderBytes, rangeOfUnit } from '../filter/filter-layout.ts';
import { decodeSummaries, type PageSummary } from '../filter/summary-codec.ts';
import { LruCache } from '../model/lru.ts';
import type { PageRows, Stream } from '../model/page.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { FairScheduler } from '../scheduling/fair-scheduler.ts';
import { heldBytes } from './footer-weight.ts';
import type { PageCache } from './page-cache.ts';
import { PageReader, type PageRequest } from './page-reader.ts';
import { ReadAheadRoom } from './read-ahead-room.ts';
import type { QueryStatistics } from './statistics.ts';

/** Of the footers kept, as they lie in memory: of some 4,500 pushes, or of merged chunks with 13 GB of lines. */
const CACHED_FOOTER_BYTES = 48 * 1024 * 1024;
/** Streams known by text at once; beyond, the oldest are forgotten and merely lose their identity. */
const INTERNED_STREAMS = 100_000;

/** Of text filters: units are 8 to 16 KiB, and the same needles need the same ones. */
const CACHED_FILTER_BYTES = 16 * 1024 * 1024;
/** Of page summaries, which take some 100 bytes a page; decoded about six times as much. */
const CACHED_SUMMARY_BYTES = 2 * 1024 * 1024;
/** Decoded, a page of a filter's index. */
const FILTER_INDEX_WEIGHT = 150;

/** The text filter of a chunk. */
export interface ChunkFilter {
  readonly index: FilterIndex;
  /** Reads units. Throws what the store throws. */
  units(wanted: readonly number[]): Promise<Map<number, Buffer>>;
}

export class ChunkSource {
  /** Of all scans. */
  readonly room = new ReadAheadRoom();
  readonly scheduler: FairScheduler;
  private readonly store: ObjectStore;
  private readonly filters = new LruCache<string, FilterIndex>(CACHED_FILTER_BYTES / 4);
  private readonly summaries = new LruCache<string, readonly PageSummary[]>(CACHED_SUMMARY_BYTES);
  private readonly filterUnits = new LruCache<string, Buffer>(CACHED_FILTER_BYTES);
  private readonly footers = new LruCache<string, Footer>(CACHED_FOOTER_BYTES);
  private readonly streams = new LruCache<string, Stream>(INTERNED_STREAMS);
  private readonly reader: PageReader;
  /** For metrics. */
  readonly caches = {
    footers: this.footers,
    text_filters: this.filters,
    text_filter_units: this.filterUnits,
    page_summaries: this.summaries,
  };

  /** @param cache without it every page is read again; @param scheduler of the thread */
  constructor(store: ObjectStore, cache?: PageCache, scheduler = new FairScheduler()) {
    this.store = store;
    this.scheduler = scheduler;
    this.reader = new PageReader(store, cache);
  }

  /** See ObjectStore. */
  get isDistant(): boolean {
    return this.store.isDistant === true;
  }

  async footer(record: ChunkRecord): Promise<Footer> {
    // Names are random, but a cache shared by tenants is keyed by tenant all the same.
    const key = `${record.tenant}/${record.id}`;
    const cached = this.footers.get(key);
    if (cached !== undefined) return cached;
    const decoded = await readFooter(this.store, record);
    const footer = { ...decoded, streams: decoded.streams.map(stream => this.intern(stream)) };
    this.footers.set(key, footer, heldBytes(footer));
    return footer;
  }

  /** Throws what the store throws, and CorruptionError where the filter's index is broken. */
  async filter(
    record: ChunkRecord,
    { pages }: Footer,
    { place }: SectionMeta,
    { plan }: QueryStatistics,
  ): Promise<ChunkFilter> {
    const key = `${record.tenant}/${record.id}`;
    const read = async (offset: number, bytes: number): Promise<Buffer> => {
      plan.filterReads++;
      plan.filterBytes += bytes;
      return readChunk(this.store, record, place.offset + offset, place.offset + offset + bytes);
    };
    let index = this.filters.get(key);
    if (index === undefined) {
      const header = await read(0, Math.min(maxHeaderBytes(pages.length), place.storedBytes));
      index = decodeHeader(header, pages.length);
      this.filters.set(key, index, FILTER_INDEX_WEIGHT * pages.length);
    }
    const known = index;
    const unit = async (number: number): Promise<Buffer> => {
      const unitKey = `${key}/${number}`;
      const cached = this.filterUnits.get(unitKey);
      if (cached !== undefined) return cached;
      const { offset, bytes } = rangeOfUnit(known, number);
      const loaded = await read(offset, bytes);
      this.filterUnits.set(unitKey, loaded, bytes);
      return loaded;
    };
    return {
      index: known,
      units: async wanted =>
        new Map(await Promise.all(wanted.map(async number => [number, await unit(number)] as const))),
    };
  }

  /**
   * What the promoted columns of each page hold in short; none of a version that is not known. Throws what the store throws,
   * and CorruptionError where the section is broken.
   */
  async pageSummaries(
    record: ChunkRecord,
    { pages }: Footer,
    { place }: SectionMeta,
    { plan }: QueryStatistics,
  ): Promise<readonly PageSummary[]> {
    const key = `${record.tenant}/${record.id}`;
    const cached = this.summaries.get(key);
    if (cached !== undefined) return cached;
    plan.filterReads++;
    plan.filterBytes += place.storedBytes;
    const stored = await readChunk(this.store, record, place.offset, place.offset + place.storedBytes);
    const decoded = decodeSummaries(
      loadBlock(stored, place, `summaries of ${nameOfChunk(record)}`),
      pages.length,
    );
    this.summaries.set(key, decoded ?? [], place.storedBytes);
    return decoded ?? [];
  }

  private intern(stream: Stream): Stream {
    const known = this.streams.get(stream.text);
    if (known !== undefined) return known;
    this.streams.set(stream.text, stream);
    return stream;
  }

  /** Reads a page; counts what it read. Throws what the store throws, and CorruptionError. */
  page(
    record: ChunkRecord,
    footer: Footer,
    page: PageMeta,
    wants: PageWants,
    statistics: QueryStatistics,
  ): Promise<PageRows> {
    return this.reader.pages([{ record, footer, page, wants }], statistics)[0];
  }

  /** The same of some pages, in the order asked for; those that lie together are read together. */
  pages(requests: readonly PageRequest[], statistics: QueryStatistics): Promise<PageRows>[] {
    return this.reader.pages(requests, statistics);
  }

  /** The page of `rows`, which was read for less, with all that is wanted now; counts what it read. */
  more(
    record: ChunkRecord,
    rows: PageRows,
    wants: PageWants,
    statistics: QueryStatistics,
  ): Promise<PageRows> {
    return this.reader.more(record, rows, wants, statistics);
  }
}
