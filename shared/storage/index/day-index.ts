/**
 * Index object as readers use it. Streams, chunk summaries and the streams of each chunk are in memory.
 * Counts are read on demand.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import { type BlockHandle, loadBlock, type StoredBlock } from '../codec/compression.ts';
import { decodeCounts } from './counts-block.ts';
import { type Directory, decodeDirectory, type IndexedChunk, readTrailer } from './directory.ts';
import { type ChunkCounts, type ChunkPresence, type ChunkSummary, INDEX_TRAILER_BYTES } from './format.ts';
import { readPresence } from './presence.ts';
import { groupExtents, type IndexSource, readRange } from './source.ts';
import { decodeStreams } from './stream-list.ts';

/** Bytes to read first if the size of the head is unknown. */
const GUESSED_HEAD_BYTES = 64 * 1024;
/** Ratio of labels in memory (objects and canonical text) to their stored raw bytes. */
const STREAM_WEIGHT = 6;
/** Memory of a decoded chunk entry of the directory. */
const CHUNK_WEIGHT_BYTES = 500;

interface IndexHeadWants {
  readonly tenant: string;
  readonly day: number;
  /** Size of the head from the catalog. With it, one read is enough. */
  readonly headBytes?: number;
}

/**
 * Returns the number of bytes at the end of a whole index object that a reader requests first. Throws
 * CorruptionError.
 */
export function headBytesOf(object: Buffer): number {
  return readTrailer(object, object.length, 'index').headBytes;
}

/**
 * Reads the head. Throws errors of the source. Throws CorruptionError if the index is corrupt or belongs to
 * another tenant or day.
 */
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
    throw new CorruptionError(`${what}: belongs to ${directory.tenant} day ${directory.day}`);
  }
  const start = size - head.length;
  const block = (handle: BlockHandle, name: string) => {
    const at = handle.offset - start;
    return loadBlock(head.subarray(at, at + handle.storedBytes), handle, `${what}: ${name}`);
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
  /** Streams of all covered chunks, each once, ascending by text. */
  readonly streams: readonly Stream[];
  /** Covered chunks, ascending by ID. */
  readonly chunks: readonly ChunkSummary[];
  /** Estimated memory use, bytes. */
  readonly weightBytes: number;
  readonly #source: IndexSource;
  readonly #byId: ReadonlyMap<string, IndexedChunk>;
  readonly #presence: Buffer;
  readonly #what: string;

  /** Created by readIndexHead. */
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

  /** Returns undefined if the chunk is not covered. */
  summaryOf(chunkId: string): ChunkSummary | undefined {
    return this.#byId.get(chunkId);
  }

  /**
   * Decodes the streams of a chunk, at each call; undefined if it is not covered. Throws CorruptionError.
   */
  presenceOf(chunkId: string): ChunkPresence | undefined {
    const chunk = this.#byId.get(chunkId);
    return chunk && this.#decodePresence(chunk);
  }

  /** Returns one chunk's counts, or undefined if it is not covered. Throws as countsOf does. */
  async counts(chunkId: string): Promise<ChunkCounts | undefined> {
    for await (const [, counts] of this.countsOf([chunkId])) return counts;
    return undefined;
  }

  /**
   * Yields the counts of several chunks in ID order, without those that are not covered. Adjacent ones are
   * read together. Throws errors of the source, and CorruptionError.
   */
  async *countsOf(chunkIds: Iterable<string>): AsyncGenerator<readonly [string, ChunkCounts]> {
    for await (const [chunk, bytes] of this.#countsBytes(chunkIds)) {
      const what = `${this.#what}: counts of ${chunk.id}`;
      const raw = loadBlock(bytes, chunk.counts, what);
      yield [chunk.id, decodeCounts(raw, this.#decodePresence(chunk).entries, what)];
    }
  }

  /** Yields counts in stored form, with verified checksums. A new index built from this one copies them. */
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

function extentOf({ offset, storedBytes }: BlockHandle) {
  return { offset, storedBytes };
}
