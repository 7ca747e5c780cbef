/**
 * Classifies the bytes of words, 16 at a time, with the classes of
 * shared/upkeep/pattern-mining/byte-classes.ts. Two tables, by the lower and the upper four bits of a byte,
 * contain one bit per candidate group. A byte is in a group if both tables agree: letters, digits,
 * `_-.@%+~#$*`, `/`, `:` and all bytes of longer characters are in words; line feed and `"()=[]` are signs.
 */
import { DIGITS_MAP, IN_WORD, SIGNS_MAP, WORD_CONSTANTS, WORD_LINES } from './word-layout';

/** End of the marked bytes. */
let markedTo: usize = 0;

// Constants of `markWords` (held.ts).
const WORD_LOWS: usize = 0;
const WORD_HIGHS: usize = 16;
const SIGN_LOWS: usize = 32;
const SIGN_HIGHS: usize = 48;
const NIBBLES: usize = 64;
const ZEROS: usize = 80;
const TENS: usize = 96;

/** Resets the marks; call it before the first line of a call. */
export function clearMarks(): void {
  markedTo = 0;
  v128.store(WORD_CONSTANTS, wordLows(), WORD_LOWS);
  v128.store(WORD_CONSTANTS, wordHighs(), WORD_HIGHS);
  v128.store(WORD_CONSTANTS, i8x16(0, 0, 2, 0, 0, 0, 0, 0, 2, 2, 1, 8, 0, 12, 0, 0), SIGN_LOWS);
  v128.store(WORD_CONSTANTS, i8x16(1, 0, 2, 4, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), SIGN_HIGHS);
  v128.store(WORD_CONSTANTS, i8x16.splat(15), NIBBLES);
  v128.store(WORD_CONSTANTS, i8x16.splat(0x30), ZEROS);
  v128.store(WORD_CONSTANTS, i8x16.splat(10), TENS);
}

// @inline
function constant(at: usize): v128 {
  return v128.load(WORD_CONSTANTS + at);
}

/**
 * Marks the bytes `from` to `to`, and those of the surrounding 64-byte blocks. Offsets ascend from call to
 * call, except for bytes that are already marked.
 */
export function markWords(from: usize, to: usize): void {
  let at = max(from & ~63, markedTo);
  if (at >= to) return;
  const wordLow = constant(WORD_LOWS);
  const wordHigh = constant(WORD_HIGHS);
  const signLow = constant(SIGN_LOWS);
  const signHigh = constant(SIGN_HIGHS);
  const nibble = constant(NIBBLES);
  const zero = constant(ZEROS);
  const ten = constant(TENS);
  for (; at < to; at += 64) {
    for (let part: usize = 0; part < 64; part += 16) {
      const text = v128.load(WORD_LINES + at + part);
      const low = v128.and(text, nibble);
      const high = v128.and(i16x8.shr_u(text, 4), nibble);
      const map = (at + part) >>> 3;
      store<u16>(IN_WORD + map, u16(inGroups(i8x16.swizzle(wordLow, low), i8x16.swizzle(wordHigh, high))));
      store<u16>(DIGITS_MAP + map, u16(i8x16.bitmask(i8x16.lt_u(i8x16.sub(text, zero), ten))));
      store<u16>(SIGNS_MAP + map, u16(inGroups(i8x16.swizzle(signLow, low), i8x16.swizzle(signHigh, high))));
    }
  }
  markedTo = at;
}

/** Returns a bit for each byte of words: letters, digits, `_-.@%+~#$*`, `/`, `:` and all bytes of longer characters. */
// @inline
export function inWord(text: v128): u32 {
  const low = i8x16.swizzle(wordLows(), v128.and(text, i8x16.splat(15)));
  return inGroups(low, i8x16.swizzle(wordHighs(), i8x16.shr_u(text, 4)));
}

// @inline
function wordLows(): v128 {
  return i8x16(110, 126, 126, 127, 127, 127, 126, 126, 126, 126, 127, 85, 84, 85, 117, 93);
}

// @inline
function wordHighs(): v128 {
  return i8x16(0, 0, 1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64, 64, 64);
}

/** Returns a bit for each byte whose two entries have a common group. */
// @inline
function inGroups(low: v128, high: v128): u32 {
  return i8x16.bitmask(i8x16.ne(v128.and(low, high), i8x16.splat(0)));
}

/**
 * Returns the first offset from `from` to `to` that separates words, or `to`. The bytes need not be marked.
 */
export function wordEnd(from: usize, to: usize): usize {
  for (let at = from; at < to; at += 16) {
    const bits = ~inWord(v128.load(WORD_LINES + at)) & 0xffff;
    if (bits !== 0) return min(at + usize(ctz(bits)), to);
  }
  return to;
}

/** Returns the number of runs of word bytes between `from` and `to`. The bytes need not be marked. */
export function wordRuns(from: usize, to: usize): u32 {
  let runs: u32 = 0;
  let last: u32 = 0;
  for (let at = from; at < to; at += 16) {
    let bits = inWord(v128.load(WORD_LINES + at));
    if (to - at < 16) bits &= (1 << u32(to - at)) - 1;
    runs += popcnt(bits & ~((bits << 1) | last));
    last = (bits >>> 15) & 1;
  }
  return runs;
}
