/**
 * Classifies the bytes of words, 16 at a time, with the classes of
 * shared/upkeep/pattern-mining/byte-classes.ts. Two tables, by the lower and the upper four bits of a byte,
 * contain one bit per candidate group. A byte is in a group if both tables agree.
 */
import { DIGITS_MAP, IN_WORD, SIGNS_MAP, WORD_LINES } from './word-layout';

/** End of the marked bytes. */
let markedTo: usize = 0;

/** Resets the marks; call it before the first line of a call. */
export function clearMarks(): void {
  markedTo = 0;
}

/**
 * Marks the bytes `from` to `to`, and those of the surrounding 64-byte blocks. Offsets ascend from call to
 * call, except for bytes that are already marked.
 */
export function markWords(from: usize, to: usize): void {
  let at = max(from & ~63, markedTo);
  for (; at < to; at += 64) {
    for (let part: usize = 0; part < 64; part += 16) {
      const text = v128.load(WORD_LINES + at + part);
      const map = (at + part) >>> 3;
      store<u16>(IN_WORD + map, u16(i8x16.bitmask(inWord(text))));
      store<u16>(DIGITS_MAP + map, u16(i8x16.bitmask(isDigit(text))));
      store<u16>(SIGNS_MAP + map, u16(i8x16.bitmask(isSign(text))));
    }
  }
  markedTo = max(at, markedTo);
}

/** Letters, digits, `_-.@%+~#$*`, `/`, `:` and all bytes of longer characters. */
// @inline
function inWord(text: v128): v128 {
  const lows = i8x16(110, 126, 126, 127, 127, 127, 126, 126, 126, 126, 127, 85, 84, 85, 117, 93);
  const highs = i8x16(0, 0, 1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64, 64, 64);
  return inGroups(text, lows, highs);
}

// @inline
function isDigit(text: v128): v128 {
  return i8x16.lt_u(i8x16.sub(text, i8x16.splat(0x30)), i8x16.splat(10));
}

/** Line feed and `"()=[]`. */
// @inline
function isSign(text: v128): v128 {
  const lows = i8x16(0, 0, 2, 0, 0, 0, 0, 0, 2, 2, 1, 8, 0, 12, 0, 0);
  const highs = i8x16(1, 0, 2, 4, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return inGroups(text, lows, highs);
}

// @inline
function inGroups(text: v128, lows: v128, highs: v128): v128 {
  const low = i8x16.swizzle(lows, v128.and(text, i8x16.splat(15)));
  const high = i8x16.swizzle(highs, i8x16.shr_u(text, 4));
  return i8x16.ne(v128.and(low, high), i8x16.splat(0));
}

/**
 * Returns the first offset from `from` to `to` that separates words, or `to`. The bytes need not be marked.
 */
export function wordEnd(from: usize, to: usize): usize {
  for (let at = from; at < to; at += 16) {
    const bits = ~i8x16.bitmask(inWord(v128.load(WORD_LINES + at))) & 0xffff;
    if (bits !== 0) return min(at + usize(ctz(bits)), to);
  }
  return to;
}

/** Returns the number of runs of word bytes between `from` and `to`. The bytes need not be marked. */
export function wordRuns(from: usize, to: usize): u32 {
  let runs: u32 = 0;
  let last: u32 = 0;
  for (let at = from; at < to; at += 16) {
    let bits = u32(i8x16.bitmask(inWord(v128.load(WORD_LINES + at))));
    if (to - at < 16) bits &= (1 << u32(to - at)) - 1;
    runs += popcnt(bits & ~((bits << 1) | last));
    last = (bits >>> 15) & 1;
  }
  return runs;
}
