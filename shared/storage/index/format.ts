/**
 * Index object of one tenant and UTC day: the merged content of the footers of some chunks. One range read
 * replaces reading every footer.
 *
 *     counts block of each chunk | streams block | presence block | directory | lengths (2 * u32) | magic(8)
 *                                |------------------------------ head ------------------------------------|
 *
 * docs/dev/index-format.md describes every byte. An index is derived data: the footers contain the same, and
 * a day without an index has the same results. It may cover only some of a day's chunks, and chunks that no
 * longer exist. A reader looks up chunks that the catalog names, and never lists the chunks of an index.
 */
import type { LevelCounts } from '../chunk/format.ts';

/** Last 8 bytes of every index object, equal in all versions. */
export const INDEX_MAGIC = Buffer.from('LOGBOOMI', 'latin1');
/** Format version, incremented if readers of the previous version could misread (test/index/golden). */
export const INDEX_VERSION = 1;
/** Size of the trailer: lengths of directory and head, and the magic. */
export const INDEX_TRAILER_BYTES = 16;

/** Size of a chunk ID: 16 bytes, 32 hex digits. */
export const ID_BYTES = 16;

/** Limits of one index. Further chunks are read from their footers. */
export interface IndexBounds {
  readonly maxChunks: number;
  /** Maximum pairs of stream and chunk. */
  readonly maxPresences: number;
  /** Maximum bytes of the canonical text of all streams. */
  readonly maxStreamBytes: number;
  /** Maximum uncompressed bytes of all counts. */
  readonly maxCountsBytes: number;
}

export const INDEX_BOUNDS: IndexBounds = Object.freeze({
  // Enough for 10,000 pushes a day before compaction, with a margin.
  maxChunks: 50_000,
  // Up to 10 MB of head. Days with more have many streams in chunks of a few minutes, which compaction
  // merges.
  maxPresences: 1_000_000,
  // Bounds the memory for decoding the streams, and so the cache of a query.
  maxStreamBytes: 64 * 1024 * 1024,
  // Bounds the memory for building an index.
  maxCountsBytes: 256 * 1024 * 1024,
});

/** Summary of a chunk in the index. Times are nanoseconds since the start of the day. */
export interface ChunkSummary {
  /** Chunk ID, 32 hex digits. */
  readonly id: string;
  readonly level: number;
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
  /**
   * Stored bytes of the chunk's pages. This is the object without sections and footer, because no footer
   * knows its own size.
   */
  readonly pageBytes: number;
  /**
   * Names of its metadata, ascending, without the detected level. Undefined if they are not known: the index was
   * written before it had them, or the chunk may contain an entry twice (mayRepeatItself).
   */
  readonly metadataNames: readonly string[] | undefined;
}

/** Streams of a chunk; all arrays are parallel. Times are nanoseconds since the start of the day. */
export interface ChunkPresence {
  /** Indexes into the index's streams, ascending. */
  readonly streams: Uint32Array;
  /** Times of the earliest and latest entry of each stream in the chunk. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly entries: Float64Array;
  readonly lineBytes: Float64Array;
  /** Bytes of metadata names and values. */
  readonly metadataBytes: Float64Array;
}

/** Entries and bytes by stream, detected level and minute, as in the chunk's footer. */
export interface ChunkCounts {
  /** Values of detected_level; '' means entries without one. */
  readonly levels: readonly string[];
  /** Counts of each stream in the chunk's presence, in its order. */
  readonly counts: readonly (readonly LevelCounts[])[];
}
