/** Limits of mining, storing and querying patterns, each with its reason. */
import { NS_OF_HOUR } from '../../base/model/time-units.ts';

/** Mined bytes of a line. The rest is one placeholder. Fits most lines that people read. */
export const MAX_MINED_LINE_BYTES = 2048;
/**
 * Words of a line. The rest is one placeholder. Longer lines are prose or lists, whose ends have no pattern.
 */
export const MAX_WORDS = 64;
/**
 * Words inside quotes or brackets. More become one placeholder. A request line has 3, browser names up to 20.
 */
export const MAX_GROUP_WORDS = 5;

/** Clusters per line structure and first word. A line of unknown shape is compared with each. */
export const MAX_LEAF_CLUSTERS = 16;
/** First words per line structure. Further ones share a leaf. */
export const MAX_FIRST_WORDS = 64;
/**
 * Active clusters, about 500 bytes each. Beyond this number, they become templates and mining starts over.
 */
export const MAX_CLUSTERS = 16_384;
/**
 * Initial number of clusters of a chunk, and lines that allow one more. A new cluster costs as much as 20
 * lines of a known shape, so free text would make compaction ten times as slow. Beyond the limit, a line
 * without a similar cluster counts by its first words.
 */
export const FIRST_CLUSTERS = 1024;
export const LINES_PER_CLUSTER = 32;
/**
 * First words that count for such a line, while the number of clusters is at most this multiple of the limit.
 */
export const FIRST_WORDS: readonly { readonly upTo: number; readonly words: number }[] = [
  { upTo: 1.5, words: 3 },
  { upTo: 2, words: 1 },
  { upTo: Infinity, words: 0 },
];

/**
 * Templates of a split page whose rows are grouped. Looking at one takes a few microseconds; a page with more is free
 * text, and every line is read.
 */
export const MAX_CLASSED_TEMPLATES = 1024;

/** Shapes with a remembered cluster, 8 bytes each. A power of two. */
export const SHAPE_SLOTS = 65_536;

/** Templates per chunk. */
export const MAX_TEMPLATES = 65_535;
/**
 * Maximum size of a chunk's templates, as a share of its lines. Without it, lines without a similar one would
 * be stored twice.
 */
export const DICTIONARY_SHARE = 1 / 32;
/** Minimum of this limit. */
export const MIN_DICTIONARY_BYTES = 16 * 1024;
/** Uncompressed size that a reader allocates. A chunk with larger patterns stores none. */
export const MAX_SECTION_BYTES = 64 * 1024 * 1024;

/** Templates that a new one is compared with, starting with those of the most lines. */
export const MAX_JOIN_CANDIDATES = 64;

/**
 * Width of a count in seconds. Fine for recent data, which is queried in steps of seconds, and coarse for a
 * day in one chunk.
 */
export const FINE_BUCKET_S = 10;
export const COARSE_BUCKET_S = 60;
/** Runs of at least this duration use coarse buckets, ns. */
export const COARSE_FROM_NS = NS_OF_HOUR;

/**
 * Bytes of lines that one query mines if no patterns are stored: half a second. Beyond, mined pages represent
 * the others.
 */
export const MINED_BYTES = 32 * 1024 * 1024;
/** Same limit in pages, because each page is a separate read. */
export const MINED_PAGES = 512;
/** Cache of decompressed sections. */
export const CACHED_SECTION_BYTES = 32 * 1024 * 1024;
/** Templates per query, about 300 bytes each. Lines of further ones are omitted. */
export const MAX_QUERY_TEMPLATES = 100_000;
/** Samples per query before they are sorted, about 40 bytes each. Further ones are omitted. */
export const MAX_QUERY_SAMPLES = 4_000_000;
/** Minimum lines of a pattern in a result, and maximum number of patterns. Same as the reference. */
export const MIN_SHOWN_LINES = 30;
export const MAX_SHOWN = 300;
