/**
 * An index object as readers use it: streams, and of each covered chunk its summary and its streams from memory; its
 * counts are read when they are asked for.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import { type BlockPlace, loadBlock, type StoredBlock } from '../codec/compression.ts';
import { decodeCounts } from './counts-block.ts';
import { type Directory, decodeDirectory, type IndexedChunk, readTrailer } from './directory.ts';
import { type ChunkCounts, type ChunkPresence, type ChunkSummary, INDEX_TRAILER_BYTES } from './format.ts';
import { readPresence } from './presence.ts';
import { groupExtents, type IndexSource, readRange } from './source.ts';
import { decodeStreams } from './stream-list.ts';

/** Read first where nobody knows how large the head is. */
const GUESSED_HEAD_BYTES = 64 * 1024;
/** Labels as objects and canonical text take about so many times their stored raw bytes. */
const STREAM_WEIGHT = 6;
/** A chunk of the directory, decoded. */
const CHUNK_WEIGHT_BYTES = 500;

export interface IndexHeadWants {
  readonly tenant: string;
  readonly day: number;
  /** As the catalog has it: then one read is enough. */
  readonly headBytes?: number;
}

/** Bytes at the end of a whole index object that a reader asks for first. Throws CorruptionError. */
export function headBytesOf(object: Buffer): number {
  return readTrailer(object, object.length, 'index').headBytes;
}

/** Reads the head. Throws what the source throws, and CorruptionError; so where it is another tenant's or day's index. */
export async function readIndexHead(
  source: IndexSource,
  { tenant, day, headBytes = GUESSED_HEAD_BYTES }: IndexHeadWants,
): Promise<DayIndex> {
  const what = `index of ${tenant} day ${day}`;
  const size = source.bytes;
  const guess = Math.min(size, Math.max(headBytes, INDEX_TRAILER_BYTES));
  let head = await readRange(source, size - guess, size, what);
  const trailer = readTrailer(head, size, what);
  if (trailer.headBytes > head.length) {
    const rest = await readRange(source, size - trailer.headBytes, size - head.length, what);
    head = Buffer.concat([rest, head]);
  } else head = head.subarray(head.length - trailer.headBytes);
  const directoryEnd = head.length - INDEX_TRAILER_BYTES;
  const directoryBytes = head.subarray(directoryEnd - trailer.directoryBytes, directoryEnd);
  const directory = decodeDirectory(
    directoryBytes,
    { headBytes: trailer.headBytes, objectBytes: size },
    what,
  );
  if (directory.tenant !== tenant || directory.day !== day) {
    throw new CorruptionError(`${what}: is that of ${directory.tenant} day ${directory.day}`);
  }
  const start = size - head.length;
  const block = (place: BlockPlace, name: string) => {
    const at = place.offset - start;
    return loadBlock(head.subarray(at, at + place.storedBytes), place, `${what}: ${name}`);
  };
  const streams = decodeStreams(block(directory.streams, 'streams'), what);
  const presence = block(directory.presence, 'presence');
  if (presence.length !== directory.presence.rawBytes)
    throw new CorruptionError(`${what}: presence cut short`);
  return new DayIndex(source, directory, streams, presence, what);
}

export class DayIndex {
  readonly tenant: string;
  readonly day: number;
  /** Unix ms at which the object was written. */
  readonly createdMs: number;
  /** Of all covered chunks, each once, ascending by text. */
  readonly streams: readonly Stream[];
  /** What is covered, ascending by id. */
  readonly chunks: readonly ChunkSummary[];
  /** About what it takes in memory, bytes. */
  readonly weightBytes: number;
  readonly #source: IndexSource;
  readonly #byId: ReadonlyMap<string, IndexedChunk>;
  readonly #presence: Buffer;
  readonly #what: string;

  /** Made by readIndexHead. */
  constructor(
    source: IndexSource,
    directory: Directory,
    streams: readonly Stream[],
    presence: Buffer,
    what: string,
  ) {
    this.#source = source;
    this.tenant = directory.tenant;
    this.day = directory.day;
    this.createdMs = directory.createdMs;
    this.streams = streams;
    this.chunks = directory.chunks;
    this.#byId = new Map(directory.chunks.map(chunk => [chunk.id, chunk]));
    this.#presence = presence;
    this.#what = what;
    this.weightBytes =
      directory.streams.rawBytes * STREAM_WEIGHT +
      presence.length +
      directory.chunks.length * CHUNK_WEIGHT_BYTES;
  }

  covers(chunkId: string): boolean {
    return this.#byId.has(chunkId);
  }

  /** Undefined where the chunk is not covered. */
  summaryOf(chunkId: string): ChunkSummary | undefined {
    return this.#byId.get(chunkId);
  }

  /** The streams of a chunk, decoded anew by each call; undefined where it is not covered. Throws CorruptionError. */
  presenceOf(chunkId: string): ChunkPresence | undefined {
    const chunk = this.#byId.get(chunkId);
    return chunk && this.#decodePresence(chunk);
  }

  /** One chunk's counts; undefined where it is not covered. Throws as countsOf does. */
  async counts(chunkId: string): Promise<ChunkCounts | undefined> {
    for await (const [, counts] of this.countsOf([chunkId])) return counts;
    return undefined;
  }

  /**
   * Counts of several chunks, in the order of their ids, those that are not covered left out; neighbours are read
   * together. Throws what the source throws, and CorruptionError.
   */
  async *countsOf(chunkIds: Iterable<string>): AsyncGenerator<readonly [string, ChunkCounts]> {
    for await (const [chunk, bytes] of this.#countsBytes(chunkIds)) {
      const what = `${this.#what}: counts of ${chunk.id}`;
      const raw = loadBlock(bytes, chunk.counts, what);
      yield [chunk.id, decodeCounts(raw, this.#decodePresence(chunk).entries, what)];
    }
  }

  /** The same as they are stored, checksums verified: what an index that is made from this one takes over. */
  async *storedCountsOf(chunkIds: Iterable<string>): AsyncGenerator<readonly [string, StoredBlock]> {
    for await (const [{ id, counts }, bytes] of this.#countsBytes(chunkIds)) {
      const { rawBytes, codec, crc } = counts;
      if (crc32(bytes) !== crc) throw new CorruptionError(`${this.#what}: counts of ${id}: checksum differs`);
      yield [id, { bytes, rawBytes, codec, crc }];
    }
  }

  async *#countsBytes(chunkIds: Iterable<string>): AsyncGenerator<readonly [IndexedChunk, Buffer]> {
    const wanted: { readonly chunk: IndexedChunk; readonly offset: number; readonly storedBytes: number }[] =
      [];
    for (const id of new Set(chunkIds)) {
      const chunk = this.#byId.get(id);
      if (chunk !== undefined) wanted.push({ chunk, ...extentOf(chunk.counts) });
    }
    wanted.sort((a, b) => a.offset - b.offset);
    for (const group of groupExtents(wanted)) {
      const start = group[0].offset;
      const { offset, storedBytes } = group[group.length - 1];
      const bytes = await readRange(this.#source, start, offset + storedBytes, this.#what);
      for (const one of group) {
        const at = one.offset - start;
        yield [one.chunk, bytes.subarray(at, at + one.storedBytes)];
      }
    }
  }

  #decodePresence(chunk: IndexedChunk): ChunkPresence {
    const what = `${this.#what}: chunk ${chunk.id}`;
    return readPresence(this.#presence, chunk.presence, chunk, this.streams.length, what);
  }
}

function extentOf({ offset, storedBytes }: BlockPlace) {
  return { offset, storedBytes };
}
