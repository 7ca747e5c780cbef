/**
 * Memory of the extraction of terms: the term set, caches of recent grams and spans, bitmaps of the lines, then the host's input:
 * offsets of lines, lines. Positions are offsets in the lines.
 */
import { LOOK_BITS } from './bits';
import { SLACK } from './layout';
import { TERM_SET_END } from './term-set';

/** Maximum bytes and number of lines of one call. */
export const MAX_TERM_BYTES: usize = 1024 * 1024;
export const MAX_TERM_ROWS: usize = 65536;

/** Cache of recent gram words, indexed by their highest bits. Most grams of a page are in it, and need no lookup in the set. */
export const GRAMS: usize = TERM_SET_END;
export const GRAM_SHIFT: u32 = 18;
export const GRAMS_BYTES: usize = 65536;
/** Cache of recent spans: offset in the lines plus 1, and length. */
export const SPANS: usize = GRAMS + GRAMS_BYTES;
export const SPAN_SHIFT: u32 = 19;
export const SPANS_BYTES: usize = 65536;
/** Order values of the pairs of a run. */
export const ORDERS: usize = SPANS + SPANS_BYTES;
/** Bytes of a bitmap. */
const MAP_BYTES: usize = MAX_TERM_BYTES / 8 + SLACK;
export const DIGITS: usize = ORDERS + 4 * (LOOK_BITS + 7);
export const ALNUMS: usize = DIGITS + MAP_BYTES;
/** Last bytes of five without a digit. */
export const GRAM_ENDS: usize = ALNUMS + MAP_BYTES;
/** Last bytes of four letters and digits with a digit. */
export const TOKEN_ENDS: usize = GRAM_ENDS + MAP_BYTES;
/** Dots with a dot up to four bytes before, and another one up to four bytes before that. */
export const QUAD_ENDS: usize = TOKEN_ENDS + MAP_BYTES;
export const TERM_OFFSETS: usize = QUAD_ENDS + MAP_BYTES;
export const TERM_LINES: usize = TERM_OFFSETS + 4 * (MAX_TERM_ROWS + 1) + SLACK;
export const TERM_BYTES: usize = TERM_LINES + MAX_TERM_BYTES + SLACK;

// @inline
export function byteAt(at: usize): u8 {
  return load<u8>(TERM_LINES + at);
}

// @inline
export function word(at: usize): u32 {
  return load<u32>(TERM_LINES + at);
}

// @inline
export function fourAt(at: usize): u32 {
  return bswap<u32>(word(at));
}

// @inline
export function text(at: usize): v128 {
  return v128.load(TERM_LINES + at);
}
