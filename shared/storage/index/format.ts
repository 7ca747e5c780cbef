/**
 * The index object of one tenant and UTC day: what the footers of a list of chunks say, merged, so that one range read
 * replaces reading every footer.
 *
 *     counts block of each chunk | streams block | presence block | directory | lengths (2 * u32) | magic(8)
 *                                |------------------------------ head ------------------------------------|
 *
 * docs/dev/index-format.md describes every byte. It is derived data: whatever it says, the footers say too, and a day
 * without an index has the same answers. It may cover some of a day's chunks only, and chunks that are gone: a reader
 * asks it about chunks that the catalog names, never which chunks there are.
 */
import type { LevelCounts } from '../chunk/format.ts';

/** Last 8 bytes of every index object; the same in all versions. */
export const INDEX_MAGIC = Buffer.from('LOGBOOMI', 'latin1');
/** Raised when a reader of the version before could misread (test/index/golden). */
export const INDEX_VERSION = 1;
/** Lengths of directory and head, and the magic. */
export const INDEX_TRAILER_BYTES = 16;

/** A chunk id is 16 bytes, 32 hex digits. */
export const ID_BYTES = 16;
/** The last minute of a day: minute m holds `(m-1) min < time of day <= m min`. */
export const LAST_MINUTE = 1440;

/** How much one index may hold; chunks beyond are left to their footers. */
export interface IndexBounds {
  readonly maxChunks: number;
  /** Pairs of stream and chunk. */
  readonly maxPresences: number;
  /** Canonical text of all streams. */
  readonly maxStreamBytes: number;
  /** Counts of all chunks, unpacked. */
  readonly maxCountsBytes: number;
}

export const INDEX_BOUNDS: IndexBounds = Object.freeze({
  // 10,000 pushes a day before compaction, with room.
  maxChunks: 50_000,
  // Up to 10 MB of head; a day with more is one of many streams in chunks of a few minutes, which compaction makes fewer.
  maxPresences: 1_000_000,
  // What decoding the streams takes, and with it the cache of a query.
  maxStreamBytes: 64 * 1024 * 1024,
  // What building an index holds in memory.
  maxCountsBytes: 256 * 1024 * 1024,
});

/** What the index says of a chunk as a whole. Times are nanoseconds since the start of the day. */
export interface ChunkSummary {
  /** 32 hex digits. */
  readonly id: string;
  readonly level: number;
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
  /** Stored bytes of its pages: the object without sections and footer, which no footer knows the length of. */
  readonly pageBytes: number;
}

/** Which streams a chunk holds; all arrays are parallel. Times are nanoseconds since the start of the day. */
export interface ChunkPresence {
  /** Places in the index's streams, ascending. */
  readonly streams: Uint32Array;
  /** Earliest and latest entry of the stream in the chunk. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly entries: Float64Array;
  readonly lineBytes: Float64Array;
  /** Of metadata names and values. */
  readonly metadataBytes: Float64Array;
}

/** Entries and bytes by stream, detected level and minute, as the chunk's footer has them. */
export interface ChunkCounts {
  /** Values of detected_level; '' stands for entries without one. */
  readonly levels: readonly string[];
  /** For each stream of the chunk's presence, in its order. */
  readonly counts: readonly (readonly LevelCounts[])[];
}
