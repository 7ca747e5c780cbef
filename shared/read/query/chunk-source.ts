/**
 * Footers and pages of chunks, from records, objects and bounded caches. Streams are interned: the same stream is the same
 * object in every footer, so that later stages compare and remember by identity.
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
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Footer, PageMeta, SectionMeta } from '../../storage/chunk/format.ts';
import type { PageWants } from '../../storage/chunk/reader.ts';
import { loadBlock } from '../../storage/codec/compression.ts';
import { heldBytes } from './footer-weight.ts';
import type { PageCache } from './page-cache.ts';
import { type MoreRequest, PageReader, type PageRequest } from './page-reader.ts';
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

/**
 * What is read along with a footer over a distant store where sections are wanted: all sections of a chunk of some MB of lines,
 * for 3 ms where another read takes 25.
 */
const TAIL_BYTES = 256 * 1024;
/** Such tails, until what they hold is in its own cache: those of a month. */
const CACHED_TAIL_BYTES = 16 * 1024 * 1024;

/** What lies before a footer, up to it. */
interface Tail {
  /** From the start of the object. */
  readonly start: number;
  readonly bytes: Buffer;
}

/** The text filter of a chunk. */
export interface ChunkFilter {
  readonly index: FilterIndex;
  /** Reads units. Throws what the store throws. */
  units(wanted: readonly number[]): Promise<Map<number, Buffer>>;
}

export class ChunkSource {
  /** Of all scans. */
  readonly room: ReadAheadRoom;
  readonly scheduler: FairScheduler;
  readonly #store: ObjectStore;
  /** The same store for reads of sections. */
  readonly #sections: ObjectStore;
  readonly #filters = new LruCache<string, FilterIndex>(CACHED_FILTER_BYTES / 4);
  readonly #summaries = new LruCache<string, readonly PageSummary[]>(CACHED_SUMMARY_BYTES);
  readonly #filterUnits = new LruCache<string, Buffer>(CACHED_FILTER_BYTES);
  readonly #tails = new LruCache<string, Tail>(CACHED_TAIL_BYTES);
  readonly #footers = new LruCache<string, Footer>(CACHED_FOOTER_BYTES);
  readonly #streams = new LruCache<string, Stream>(INTERNED_STREAMS);
  readonly #reader: PageReader;
  /** For metrics. */
  readonly caches = {
    footers: this.#footers,
    text_filters: this.#filters,
    text_filter_units: this.#filterUnits,
    page_summaries: this.#summaries,
  };

  /** @param cache without it every page is read again; @param scheduler of the thread */
  constructor(store: ObjectStore, cache?: PageCache, scheduler = new FairScheduler()) {
    this.#store = ofKind(store, 'footers');
    this.#sections = ofKind(store, 'textFilters');
    this.scheduler = scheduler;
    this.room = new ReadAheadRoom(store.isDistant);
    this.#reader = new PageReader(ofKind(store, 'pages'), cache);
  }

  /** See ObjectStore. */
  get isDistant(): boolean {
    return this.#store.isDistant === true;
  }

  /** @param wantsSections sections of the chunk will be asked for: a distant store is asked for both at once */
  async footer(record: ChunkRecord, wantsSections = false): Promise<Footer> {
    // Names are random, but a cache shared by tenants is keyed by tenant all the same.
    const key = `${record.tenant}/${record.id}`;
    const cached = this.#footers.get(key);
    if (cached !== undefined) return cached;
    const decoded =
      wantsSections && this.isDistant && record.inline === undefined && record.footer === undefined
        ? await this.#footerWithTail(key, record)
        : await readFooter(this.#store, record);
    const footer = { ...decoded, streams: decoded.streams.map(stream => this.#intern(stream)) };
    this.#footers.set(key, footer, heldBytes(footer));
    return footer;
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

  /** Bytes of a section, from the tail that was read with the footer where they lie in it. Throws as readChunk does. */
  async #section(
    record: ChunkRecord,
    start: number,
    end: number,
    { plan }: QueryStatistics,
  ): Promise<Buffer> {
    const tail = this.#tails.get(`${record.tenant}/${record.id}`);
    if (tail !== undefined && start >= tail.start && end <= tail.start + tail.bytes.length) {
      // A copy: what is kept of it must not keep the whole tail.
      return Buffer.from(tail.bytes.subarray(start - tail.start, end - tail.start));
    }
    plan.filterReads++;
    plan.filterBytes += end - start;
    return readChunk(this.#sections, record, start, end);
  }

  /**
   * Throws what the store throws, and CorruptionError where the filter's index is broken.
   * @param requirement what the units will be asked for
   */
  async filter(
    record: ChunkRecord,
    { pages }: Footer,
    { place }: SectionMeta,
    requirement: PruningPredicate,
    statistics: QueryStatistics,
  ): Promise<ChunkFilter> {
    const key = `${record.tenant}/${record.id}`;
    const read = (offset: number, bytes: number): Promise<Buffer> =>
      this.#section(record, place.offset + offset, place.offset + offset + bytes, statistics);
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
      const header = read(0, Math.min(maxHeaderBytes(pages.length), place.storedBytes));
      const layout = this.isDistant ? likelyLayout(pages.length, place.storedBytes) : undefined;
      // Units go by their numbers in the cache: those of another layout must not get there.
      const early = layout && units(layout, unitsOf(layout, requirement));
      early?.catch(() => undefined);
      index = decodeHeader(await header, pages.length);
      await early?.catch(() => undefined);
      const isLikely = layout?.units === index.units && layout.headerBytes === index.headerBytes;
      if (layout !== undefined && !isLikely) {
        for (const number of unitsOf(layout, requirement)) this.#filterUnits.delete(`${key}/${number}`);
      }
      this.#filters.set(key, index, FILTER_INDEX_WEIGHT * pages.length);
    }
    const known = index;
    return { index: known, units: wanted => units(known, wanted) };
  }

  /**
   * What the promoted columns of each page hold in short; none of a version that is not known. Throws what the store throws,
   * and CorruptionError where the section is broken.
   */
  async pageSummaries(
    record: ChunkRecord,
    { pages }: Footer,
    { place }: SectionMeta,
    statistics: QueryStatistics,
  ): Promise<readonly PageSummary[]> {
    const key = `${record.tenant}/${record.id}`;
    const cached = this.#summaries.get(key);
    if (cached !== undefined) return cached;
    const stored = await this.#section(record, place.offset, place.offset + place.storedBytes, statistics);
    const decoded = decodeSummaries(
      loadBlock(stored, place, `summaries of ${nameOfChunk(record)}`),
      pages.length,
    );
    this.#summaries.set(key, decoded ?? [], place.storedBytes);
    return decoded ?? [];
  }

  /** Drops what is cached of deleted chunks, which are most of what a steady load leaves behind. @param chunks `tenant/id` */
  forgetChunks(chunks: ReadonlySet<string>): void {
    for (const chunk of chunks) {
      for (const cache of [this.#footers, this.#filters, this.#summaries, this.#tails]) cache.delete(chunk);
    }
    this.#reader.forgetChunks(chunks);
  }

  #intern(stream: Stream): Stream {
    const known = this.#streams.get(stream.text);
    if (known !== undefined) return known;
    this.#streams.set(stream.text, stream);
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
    return this.#reader.pages([{ record, footer, page, wants }], statistics)[0];
  }

  /** The same of some pages, in the order asked for; those that lie together are read together. */
  pages(requests: readonly PageRequest[], statistics: QueryStatistics): Promise<PageRows>[] {
    return this.#reader.pages(requests, statistics);
  }

  /** Pages that were read for less, in the order asked for; what they lack and lies together is read together. */
  moreOf(requests: readonly MoreRequest[], statistics: QueryStatistics): Promise<PageRows>[] {
    return this.#reader.moreOf(requests, statistics);
  }

  /** The page of `rows`, which was read for less, with all that is wanted now; counts what it read. */
  more(
    record: ChunkRecord,
    rows: PageRows,
    wants: PageWants,
    statistics: QueryStatistics,
  ): Promise<PageRows> {
    return this.#reader.more(record, rows, wants, statistics);
  }
}

/** Reads of a distant store are noted for `explain`. */
function ofKind(store: ObjectStore, what: string): ObjectStore {
  return store.isDistant === true ? tracedStore(store, what) : store;
}
