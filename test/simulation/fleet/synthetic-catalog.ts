/**
 * Catalogs without pushes: a tenant whose days hold the given TB, merged into chunks that follow each other
 * in time. A chunk's pages hold a stream each over the whole time of the chunk.
 *
 *     day     | chunk 0 | chunk 1 | chunk 2 | ...        as many as the bytes make
 *     chunk   pages 0 to 49, 16 MiB each, page p of stream p
 *
 * If compaction divides the streams of so large a day into parts (shared/upkeep/compaction/window-parts.ts), chunks of all parts
 * share a time. The day has as many chunks as without parts, so each takes as many times longer. Each part has as many streams
 * as a chunk has pages.
 *
 *     part 4  | chunk 0 | chunk 4 | ...
 *     part 5  | chunk 1 | chunk 5 | ...
 *     part 6  | chunk 2 | chunk 6 | ...
 *     part 7  | chunk 3 | chunk 7 | ...
 */

import type { Stream } from '../../../shared/base/model/page.ts';
import { NS_OF_DAY, NS_OF_MINUTE, NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../../shared/storage/catalog/day-item.ts';
import type { DaySnapshot } from '../../../shared/storage/catalog/day-snapshot.ts';
import { ALL_STREAMS, partBits, partOfStream } from '../../../shared/storage/catalog/stream-part.ts';
import { type Footer, type PageMeta, SectionKind } from '../../../shared/storage/chunk/format.ts';
import { indexWindows } from '../../../shared/storage/index/windows.ts';
import { MERGE_SIZES } from '../../../shared/upkeep/compaction/merge-sizes.ts';
import { WindowParts } from '../../../shared/upkeep/compaction/window-parts.ts';
import { CHUNK, INDEX, type Question } from './figures.ts';

export const TENANT = 'fleet';
export const PAGES = Math.ceil(CHUNK.lineBytes / CHUNK.pageBytes);
const PAGE_ROWS = Math.floor(CHUNK.pageBytes / CHUNK.bytesPerLine);
const PAGE_STORED = CHUNK.pageBytes * CHUNK.storedShare;
export const FOOTER_BYTES = Math.ceil(CHUNK.lineBytes * CHUNK.footerShare);
const MINUTES_OF_DAY = 1440;

export class SyntheticCatalog {
  readonly chunksOfDay: number;
  /** Parts of the streams. Each chunk has the streams of one. */
  readonly parts: number;
  /** Times of a day that chunks of all parts share. The first one of the day may have fewer chunks than parts. */
  readonly #spans: number;
  readonly #spanNs: number;

  readonly #endDay: number;
  #indexesOfDay: readonly IndexRecord[] | undefined;

  /** @param endDay the first day that is empty */
  constructor(bytesPerDay: number, endDay: number) {
    this.#endDay = endDay;
    this.chunksOfDay = Math.max(1, Math.round(bytesPerDay / CHUNK.lineBytes));
    this.parts = partsOfDay(bytesPerDay);
    this.#spans = Math.ceil(this.chunksOfDay / this.parts);
    this.#spanNs = Math.floor(NS_OF_DAY / this.#spans);
  }

  /** Records that meet a range, Unix ns, both inclusive. */
  recordsOf(startNs: bigint, endNs: bigint): ChunkRecord[] {
    const records: ChunkRecord[] = [];
    for (let day = Number(startNs / NS_PER_DAY); day < this.#endDay; day++) {
      const dayStart = BigInt(day) * NS_PER_DAY;
      const from = Math.max(0, Number(startNs - dayStart));
      const to = Math.min(NS_OF_DAY - 1, Number(endNs - dayStart));
      if (to < 0) break;
      const last = Math.min(this.#spans - 1, Math.floor(to / this.#spanNs));
      for (let span = Math.floor(from / this.#spanNs); span <= last; span++) {
        for (let part = 0; part < this.parts; part++) {
          const missing = this.#spans * this.parts - this.chunksOfDay;
          const index = span * this.parts + part - missing;
          if (index >= 0) records.push(this.#record(day, index, span, part));
        }
      }
    }
    return records;
  }

  /** The days of a range with their records and indexes. */
  daysOf(startNs: bigint, endNs: bigint): DaySnapshot[] {
    const byDay = Map.groupBy(this.recordsOf(startNs, endNs), ({ day }) => day);
    const common = { version: 1, partitions: 4, indexes: this.indexes() };
    return [...byDay].map(([day, records]) => ({ ...common, day, records }));
  }

  /** Indexes of each day, as index sync divides them. */
  indexes(): readonly IndexRecord[] {
    this.#indexesOfDay ??= indexWindows(this.recordsOfDay(this.#endDay - 1), []).map(
      ({ fromMinute, streamPart, records }, i) => {
        const headBytes = records.length * INDEX.headBytesPerChunk;
        const storedBytes = headBytes + records.length * INDEX.countsBytesPerChunk;
        return { fromMinute, streamPart, id: `${i}`.padStart(32, '0'), storedBytes, headBytes };
      },
    );
    return this.#indexesOfDay;
  }

  recordsOfDay(day: number): ChunkRecord[] {
    const start = BigInt(day) * NS_PER_DAY;
    return this.recordsOf(start, start + NS_PER_DAY - 1n);
  }

  /** Number of chunks in a range, without creating them. */
  countOf(startNs: bigint, endNs: bigint): number {
    const days = Math.min(Number(endNs - startNs), NS_OF_DAY * this.#endDay) / NS_OF_DAY;
    return Math.ceil(this.chunksOfDay * days);
  }

  #record(day: number, index: number, span: number, part: number): ChunkRecord {
    const id = `${day.toString(16).padStart(16, '0')}${index.toString(16).padStart(16, '0')}`;
    return {
      ...chunkRecord(id, day),
      streamPart: this.parts === 1 ? undefined : this.parts + part,
      first: span * this.#spanNs,
      last: (span + 1) * this.#spanNs - 1,
    };
  }
}

function chunkRecord(id: string, day: number): ChunkRecord {
  return {
    id,
    origin: id,
    tenant: TENANT,
    day,
    level: 3,
    hasHashedKey: true,
    textIndex: { offset: PAGES * PAGE_STORED, storedBytes: 0, pages: PAGES },
    first: 0,
    last: 0,
    rows: PAGES * PAGE_ROWS,
    lineBytes: CHUNK.lineBytes,
    metadataBytes: 0,
    asOfMs: 0,
    storedBytes: PAGES * PAGE_STORED + FOOTER_BYTES,
    footerBytes: FOOTER_BYTES,
    pairs: undefined,
    inline: undefined,
    footer: undefined,
  };
}

/** Parts into which compaction divides the streams if pushes arrive evenly over the day. */
function partsOfDay(bytesPerDay: number): number {
  const ofMinutes = Array.from({ length: MINUTES_OF_DAY }, (_, minute) => ({
    ...chunkRecord('', 0),
    first: minute * NS_OF_MINUTE,
    last: minute * NS_OF_MINUTE,
    lineBytes: bytesPerDay / MINUTES_OF_DAY,
  }));
  return new WindowParts(ofMinutes, MERGE_SIZES).mostAt(NS_OF_DAY / 2);
}

const streamsByPart = new Map<number, readonly Stream[]>();

/** Streams of the chunks of a part, one for each page: the first ones whose hashes are in it. */
export function streamsOf({ streamPart = ALL_STREAMS }: Pick<ChunkRecord, 'streamPart'>): readonly Stream[] {
  const known = streamsByPart.get(streamPart);
  if (known !== undefined) return known;
  const streams: Stream[] = [];
  for (let i = 0; streams.length < PAGES; i++) {
    const value = `app-${`${i}`.padStart(2, '0')}`;
    const labels = [{ name: 'app', value }];
    if (partOfStream({ labels }, partBits(streamPart)) !== streamPart) continue;
    streams.push({ labels, text: `{app="${value}"}` });
  }
  streamsByPart.set(streamPart, streams);
  return streams;
}

export function footerOf(record: ChunkRecord): Footer {
  const { id, origin, day, level, rows, lineBytes, first, last } = record;
  const streams = streamsOf(record);
  const minutes = [minuteOf(last)];
  const ofStream = [
    {
      level: 0,
      minutes,
      entries: [PAGE_ROWS],
      lineBytes: [CHUNK.pageBytes],
      metadataBytes: [0],
    },
  ];
  const pages = streams.map((_, stream): PageMeta => {
    const run = {
      stream,
      firstRow: 0,
      rows: PAGE_ROWS,
      first,
      last,
      lineBytes: CHUNK.pageBytes,
      metadataBytes: 0,
    };
    return {
      offset: stream * PAGE_STORED,
      storedBytes: PAGE_STORED,
      rows: PAGE_ROWS,
      lineBytes: CHUNK.pageBytes,
      base: first,
      scale: 0,
      runs: [run],
      columns: [],
    };
  });
  const block = { offset: PAGES * PAGE_STORED, storedBytes: 0, rawBytes: 0, codec: 0, crc: 0 };
  return {
    version: 1,
    id,
    tenant: TENANT,
    day,
    level,
    createdMs: 0,
    inputs: [],
    origin,
    rows,
    lineBytes,
    metadataBytes: 0,
    first,
    last,
    streams,
    pages,
    levels: [''],
    counts: streams.map(() => ofStream),
    sections: [{ kind: SectionKind.filter, block }],
  };
}

/** The bucket `(m-1, m]` of a time of the day. Entries of a synthetic chunk are in that of its end. */
export function minuteOf(ns: number): number {
  return Math.ceil(ns / NS_OF_MINUTE);
}

/** Whether the text filter leaves a page: the same in every run, and different in each chunk. */
export function isLeft({ id }: Pick<ChunkRecord, 'id'>, page: number, { shareLeft }: Question): boolean {
  if (shareLeft >= 1) return true;
  let hash = Number.parseInt(id.slice(-8), 16) * 64 + page;
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000 < shareLeft;
}

/** Lines of a page that the question counts. */
export function linesOf(record: Pick<ChunkRecord, 'id'>, page: number, question: Question): number {
  if (!isLeft(record, page, question)) return 0;
  return question.oneIn === 0 ? 1 : Math.floor(PAGE_ROWS / question.oneIn);
}

/** Count that a scan of everything would return. */
export function plainCount(records: readonly ChunkRecord[], question: Question): number {
  let lines = 0;
  for (const record of records) {
    for (let page = 0; page < PAGES; page++) lines += linesOf(record, page, question);
  }
  return lines;
}
