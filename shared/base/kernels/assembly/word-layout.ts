/**
 * Memory layout of the kernel that splits lines into words: line-words.ts, word-bytes.ts, word-hashes.ts.
 */
import { BASE, SLACK } from './layout';

/** Maximum lines of one call, and maximum bytes unless it is a single line. */
export const MAX_WORD_ROWS: usize = 8192;
export const MAX_WORD_BYTES: usize = 1024 * 1024;
/** Limits as MAX_LINE_BYTES, MAX_WORDS and MAX_GROUP_WORDS in shared/upkeep/pattern-mining/bounds.ts. */
export const MAX_READ_BYTES: usize = 2048;
export const MAX_LINE_WORDS: u32 = 64;
export const MAX_GROUP_WORDS: u32 = 5;
/** Maximum words of a line, and the parts after them or around a message. */
export const WORDS_PER_LINE: u32 = MAX_LINE_WORDS + 3;
/** Capacity of the columns of words; a call ends when another line might not fit. */
export const MAX_LIST_WORDS: u32 = 65536;

/** Kinds of words, as in shared/base/kernels/line-words.ts. */
export const WORD_TEXT: u8 = 0;
export const WORD_VALUE: u8 = 1;
export const WORD_ANY: u8 = 2;

/** Offsets of the lines from WORD_LINES. */
export const WORD_OFFSETS: usize = BASE;
/** Index of the first word of each line, then the total. */
export const WORD_FIRST: usize = WORD_OFFSETS + 4 * (MAX_WORD_ROWS + 1);
export const WORD_SKELETONS: usize = WORD_FIRST + 4 * (MAX_WORD_ROWS + 1);
export const WORD_SHAPES: usize = WORD_SKELETONS + 4 * MAX_WORD_ROWS;
/** For each line, the earlier line that it repeats, or itself; a bit for each word whose value differs from it. */
export const WORD_REPEATED: usize = WORD_SHAPES + 4 * MAX_WORD_ROWS;
export const WORD_VARIED: usize = WORD_REPEATED + 4 * MAX_WORD_ROWS;
/** Latest line by shape, plus 1. A power of two; most pages have some hundred shapes. */
export const REPEAT_SLOTS_COUNT: usize = 4096;
export const REPEAT_SLOTS: usize = WORD_VARIED + 8 * MAX_WORD_ROWS;
/** Columns of words: addresses, hashes, kinds. */
export const WORD_STARTS: usize = REPEAT_SLOTS + 4 * REPEAT_SLOTS_COUNT;
export const WORD_ENDS: usize = WORD_STARTS + 4 * usize(MAX_LIST_WORDS);
export const WORD_HASHES: usize = WORD_ENDS + 4 * usize(MAX_LIST_WORDS);
export const WORD_KINDS: usize = WORD_HASHES + 4 * usize(MAX_LIST_WORDS);
/**
 * Bitmaps of the lines: bytes of words, digits, and bytes that end a word and begin something else. In a
 * single long line, only its first bytes and those of its message are marked, fewer than MAX_WORD_BYTES.
 */
const MAP_BYTES: usize = MAX_WORD_BYTES / 8 + SLACK;
export const IN_WORD: usize = WORD_KINDS + usize(MAX_LIST_WORDS);
export const DIGITS_MAP: usize = IN_WORD + MAP_BYTES;
export const SIGNS_MAP: usize = DIGITS_MAP + MAP_BYTES;
/** Constants of word-bytes.ts, 16 bytes each. */
export const WORD_CONSTANTS: usize = SIGNS_MAP + MAP_BYTES;
/**
 * Aligned to 64 bytes after a padding block: the block before a line is read, but its content does not
 * matter.
 */
export const WORD_LINES: usize = (WORD_CONSTANTS + 8 * 16 + SLACK) & ~63;
