/**
 * Words of values of split lines. Gaps and words are those of line-words.ts, of the value alone.
 */
import { MAX_VALUE_WORDS, OTHER_WORDS, VALUE_WORDS } from './split-layout';
import { COLON } from './text-bytes';
import { areEqual } from './text-equality';
import { inWord } from './word-bytes';

// Bits of the end of a word: it has no digit; it has a slash.
export const TEXT_WORD: u32 = 0x80000000;
export const SLASH_WORD: u32 = 0x40000000;
export const END_MASK: u32 = 0x3fffffff;

/** No set of words, because a value of a form has fewer than 64 with digits. */
export const FORMS_DIFFER: u64 = 1 << 63;

const SLASH: u8 = 0x2f;

/** Whether the latest word has no digit, and whether it has a slash. */
export let isText = false;
export let hasSlash = false;

/** Writes the words of a value to a list. Returns their number, at most MAX_VALUE_WORDS. */
export function readWords(from: usize, end: usize, list: usize): usize {
  let out = list;
  const last = list + 8 * (MAX_VALUE_WORDS - 1);
  /** Start of the word that the latest 64 bytes did not end, or 0, and its bits so far. */
  let start: usize = 0;
  let traits: u32 = 0;
  for (let block = from; block < end; block += 64) {
    let words: u64 = 0;
    let colons: u64 = 0;
    let digits: u64 = 0;
    let slashes: u64 = 0;
    for (let part: usize = 0; part < 64 && block + part < end; part += 16) {
      const text = v128.load(block + part);
      const shift = u64(part);
      words |= u64(inWord(text)) << shift;
      colons |= u64(u32(i8x16.bitmask(i8x16.eq(text, i8x16.splat(u8(COLON)))))) << shift;
      digits |=
        u64(u32(i8x16.bitmask(i8x16.lt_u(i8x16.sub(text, i8x16.splat(0x30)), i8x16.splat(10))))) << shift;
      slashes |= u64(u32(i8x16.bitmask(i8x16.eq(text, i8x16.splat(SLASH))))) << shift;
    }
    if (end - block < 64) words &= (u64(1) << u64(end - block)) - 1;
    let left = ~u64(0);
    for (;;) {
      if (start === 0) {
        const starts = words & ~colons & left;
        if (starts === 0) break;
        left = ~u64(0) << ctz(starts);
        start = block + usize(ctz(starts));
        traits = TEXT_WORD;
      }
      const gaps = ~words & left;
      const own = left & (gaps === 0 ? ~u64(0) : (gaps & -gaps) - 1);
      if ((slashes & own) !== 0) traits |= SLASH_WORD;
      if ((digits & own) !== 0) traits &= ~TEXT_WORD;
      if (gaps === 0) break;
      if (out === last) return MAX_VALUE_WORDS;
      out = putWord(out, start, block + usize(ctz(gaps)), traits);
      start = 0;
      left = ~u64(0) << ctz(gaps);
    }
  }
  if (start !== 0) out = putWord(out, start, end, traits);
  return (out - list) >>> 3;
}

// @inline
function putWord(out: usize, start: usize, end: usize, traits: u32): usize {
  store<u32>(out, u32(start));
  store<u32>(out, u32(end) | traits, 4);
  return out + 8;
}

/**
 * Compares the value whose words are at VALUE_WORDS with another that has as many. Returns a bit for each word with a digit that
 * differs, or FORMS_DIFFER, which has the bit of no word, if anything else does.
 */
export function differencesOf(
  from: usize,
  end: usize,
  otherFrom: usize,
  otherEnd: usize,
  list: usize,
  count: usize,
): u64 {
  let marks: u64 = 0;
  let mark: u64 = 1;
  let at = from;
  let other = otherFrom;
  for (let i: usize = 0; i < count << 3; i += 8) {
    const start = usize(load<u32>(VALUE_WORDS + i));
    const otherStart = usize(load<u32>(list + i));
    if (!isSame(at, start, other, otherStart)) return FORMS_DIFFER;
    const stop = load<u32>(VALUE_WORDS + i, 4);
    const otherStop = load<u32>(list + i, 4);
    if (((stop ^ otherStop) & ~END_MASK) !== 0) return FORMS_DIFFER;
    at = usize(stop & END_MASK);
    other = usize(otherStop & END_MASK);
    const same = isSame(start, at, otherStart, other);
    if ((stop & TEXT_WORD) !== 0) {
      if (!same) return FORMS_DIFFER;
      continue;
    }
    if (!same) marks |= mark;
    mark <<= 1;
  }
  return isSame(at, end, other, otherEnd) ? marks : FORMS_DIFFER;
}

/** Compares two values of one form. Returns a bit for each word with a digit that differs. */
export function differences(from: usize, end: usize, otherFrom: usize, otherEnd: usize): u64 {
  const count = readWords(from, end, VALUE_WORDS);
  readWords(otherFrom, otherEnd, OTHER_WORDS);
  return differencesOf(from, end, otherFrom, otherEnd, OTHER_WORDS, count);
}

/** Returns the end of the first word, or of the text if it has none. */
export function firstWordEnd(from: usize, end: usize): usize {
  const start = gapStop(from, end);
  return start === end ? end : wordStop(start, end);
}

/**
 * Writes the addresses of words with digits to `out`, 4 bytes each: those with a bit in `marks`. Returns the end of the output.
 */
export function layWords(from: usize, end: usize, marks: u64, out: usize): usize {
  let to = out;
  let left = marks;
  let at = from;
  while (left !== 0) {
    const start = gapStop(at, end);
    if (start === end) break;
    at = wordStop(start, end);
    if (isText) continue;
    if ((left & 1) !== 0) {
      store<u32>(to, u32(start));
      to += 4;
    }
    left >>>= 1;
  }
  return to;
}

// @inline
function isSame(a: usize, aEnd: usize, b: usize, bEnd: usize): bool {
  return aEnd - a === bEnd - b && areEqual(a, b, aEnd - a);
}

/** Returns the end of the word at `from`. */
export function wordStop(from: usize, end: usize): usize {
  let digits: u32 = 0;
  let slashes: u32 = 0;
  let stop = end;
  for (let at = from; at < end; at += 16) {
    const text = v128.load(at);
    const inside = inWord(text) & bitsUntil(at, end);
    // The bits before the first one that is clear.
    const word = inside & ~(inside + 1);
    digits |= i8x16.bitmask(i8x16.lt_u(i8x16.sub(text, i8x16.splat(0x30)), i8x16.splat(10))) & word;
    slashes |= i8x16.bitmask(i8x16.eq(text, i8x16.splat(SLASH))) & word;
    if (word !== 0xffff) {
      stop = at + usize(popcnt(word));
      break;
    }
  }
  isText = digits === 0;
  hasSlash = slashes !== 0;
  return stop;
}

/** Returns the start of the first word from `from` on, or `end`. A word does not begin with a colon. */
export function gapStop(from: usize, end: usize): usize {
  for (let at = from; at < end; at += 16) {
    const text = v128.load(at);
    const colons = i8x16.bitmask(i8x16.eq(text, i8x16.splat(u8(COLON))));
    const starts = inWord(text) & ~colons & bitsUntil(at, end);
    if (starts !== 0) return at + usize(ctz(starts));
  }
  return end;
}

/** Returns a bit for each of 16 bytes that are before the end. */
// @inline
function bitsUntil(at: usize, end: usize): u32 {
  return end - at < 16 ? (1 << u32(end - at)) - 1 : 0xffff;
}
