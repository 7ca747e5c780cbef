/** What patterns may cost: every bound of mining, storing and asking, with its reason. */

/** Bytes of a line that are looked at; the rest is one placeholder. As long as most lines that a person reads. */
export const MAX_LINE_BYTES = 2048;
/** Words of a line; the rest is one placeholder. Longer lines are prose or lists, whose ends have no pattern. */
export const MAX_WORDS = 64;
/** Words inside quotes or brackets; more become one placeholder. A request line has 3, names of browsers up to 20. */
export const MAX_GROUP_WORDS = 5;

/** Clusters of one line structure and first word: looked at one by one for a line of unknown shape. */
export const MAX_LEAF_CLUSTERS = 16;
/** First words of one line structure; all further ones share a leaf. */
export const MAX_FIRST_WORDS = 64;
/** Clusters at work, about 500 bytes each. When there are more, they become templates and mining begins anew. */
export const MAX_CLUSTERS = 16_384;
/**
 * Clusters that a chunk may begin with, and lines that earn one more: each costs as much as twenty lines of a known shape, so
 * lines of free text would make packing ten times as slow. Beyond, a line like no other counts by its first words.
 */
export const FIRST_CLUSTERS = 1024;
export const LINES_PER_CLUSTER = 32;
/** Of such a line, while there are up to so many times as many clusters. */
export const FIRST_WORDS: readonly { readonly upTo: number; readonly words: number }[] = [
  { upTo: 1.5, words: 3 },
  { upTo: 2, words: 1 },
  { upTo: Infinity, words: 0 },
];

/** Shapes whose cluster is remembered, 8 bytes each; a power of two. */
export const SHAPE_SLOTS = 65_536;

/** Of one chunk. */
export const MAX_TEMPLATES = 65_535;
/** Templates of a chunk against the lines that they were mined from: a line that is like no other would be stored again. */
export const DICTIONARY_SHARE = 1 / 32;
/** A chunk may always have so many bytes of them. */
export const MIN_DICTIONARY_BYTES = 16 * 1024;
/** Unpacked: what a reader takes memory for. A chunk whose patterns would be larger has none. */
export const MAX_SECTION_BYTES = 64 * 1024 * 1024;

/** Templates that a new one is compared with, those of most lines first. */
export const MAX_JOIN_CANDIDATES = 64;

/** Seconds of a count. Fine for what is young and asked in steps of seconds, coarse for a day that lies in one chunk. */
export const FINE_BUCKET_S = 10;
export const COARSE_BUCKET_S = 60;
/** A run from this length on is counted in coarse buckets, ns. */
export const COARSE_FROM_NS = 3_600_000_000_000;

/** Bytes of lines that one question mines where no patterns are stored: half a second. Beyond, pages stand for others. */
export const MINED_BYTES = 32 * 1024 * 1024;
/** The same in pages: each is a read of its own. */
export const MINED_PAGES = 512;
/** Sections kept unpacked. */
export const CACHED_SECTION_BYTES = 32 * 1024 * 1024;
/** Templates of one question, about 300 bytes each; lines of further ones are left out. */
export const MAX_ASKED_TEMPLATES = 100_000;
/** Samples of one question before they are sorted, about 40 bytes each; further ones are left out. */
export const MAX_ASKED_SAMPLES = 4_000_000;
/** As the reference: what has fewer lines is not shown, and no more patterns than this. */
export const MIN_SHOWN_LINES = 30;
export const MAX_SHOWN = 300;
