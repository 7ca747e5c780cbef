/**
 * Words that name a level, as a whole value or in free text. Codes are those of
 * shared/write/ingest/level-words.ts.
 */

export const UNKNOWN: u32 = 0;
const TRACE: u32 = 1;
const DEBUG: u32 = 2;
const INFO: u32 = 3;
const WARN: u32 = 4;
const ERROR: u32 = 5;
const CRITICAL: u32 = 6;
const FATAL: u32 = 7;

/** Sets bit 0x20 in eight bytes: maps upper case to lower case, and turns no other byte into a letter. */
const FOLD: u64 = 0x2020202020202020;

// Words as eight bytes, the first byte lowest.
const TRC: u64 = 0x637274;
const DBG: u64 = 0x676264;
const INF: u64 = 0x666e69;
const WRN: u64 = 0x6e7277;
const ERR: u64 = 0x727265;
const INFO_TEXT: u64 = 0x6f666e69;
const WARN_TEXT: u64 = 0x6e726177;
const TRACE_TEXT: u64 = 0x6563617274;
const DEBUG_TEXT: u64 = 0x6775626564;
const ERROR_TEXT: u64 = 0x726f727265;
const FATAL_TEXT: u64 = 0x6c61746166;
const WARNING_TEXT: u64 = 0x676e696e726177;
const CRITICAL_TEXT: u64 = 0x6c61636974697263;
const INFORMAT_TEXT: u64 = 0x74616d726f666e69;
const ION_TEXT: u64 = 0x6e6f69;

/** Returns the lowest `count` bytes of a word, 1 to 8. */
// @inline
function firstOf(word: u64, count: u32): u64 {
  return word & (~u64(0) >>> u64(64 - (count << 3)));
}

/** Returns the level code that all `length` bytes name, ignoring letter case. */
export function levelOfValue(at: usize, length: usize): u32 {
  if (length < 3 || length > 11) return UNKNOWN;
  const word = firstOf(load<u64>(at) | FOLD, min(u32(length), 8));
  switch (u32(length)) {
    case 3:
      return word === TRC
        ? TRACE
        : word === DBG
          ? DEBUG
          : word === INF
            ? INFO
            : word === WRN
              ? WARN
              : word === ERR
                ? ERROR
                : UNKNOWN;
    case 4:
      return word === INFO_TEXT ? INFO : word === WARN_TEXT ? WARN : UNKNOWN;
    case 5:
      if (word === ERROR_TEXT) return ERROR;
      return word === DEBUG_TEXT
        ? DEBUG
        : word === TRACE_TEXT
          ? TRACE
          : word === FATAL_TEXT
            ? FATAL
            : UNKNOWN;
    case 7:
      return word === WARNING_TEXT ? WARN : UNKNOWN;
    case 8:
      return word === CRITICAL_TEXT ? CRITICAL : UNKNOWN;
    case 11:
      return word === INFORMAT_TEXT && firstOf(load<u64>(at, 8) | FOLD, 3) === ION_TEXT ? INFO : UNKNOWN;
    default:
      return UNKNOWN;
  }
}

/**
 * Returns the level code of the first word in free text that names a level, ignoring letter case. A word
 * follows the start or one of ` \t\n[({"'=|`. It precedes the end, one of these, or one of `}]):,!`.
 */
export function levelOfText(start: usize, end: usize): u32 {
  // Tables of candidate groups, by the lower and the upper four bits of a byte, with one bit per group.
  // Groups of bytes that may precede a word are below 32. Groups of first letters in both cases are 32 (c, d,
  // e, f, i) and 64 (t, w).
  const lows = i8x16(2, 0, 2, 32, 32 | 64, 32, 32, 2 | 64, 2, 1 | 32, 1, 8 | 16, 16, 4, 0, 0);
  const highs = i8x16(1, 0, 2, 4, 32, 8 | 64, 32, 16 | 64, 0, 0, 0, 0, 0, 0, 0, 0);
  const low = i8x16.splat(15);
  const zero = i8x16.splat(0);
  const largestBoundary = i8x16.splat(31);
  // The start counts as a byte that may precede a word.
  let before: u32 = 1;
  for (let at = start; at < end; at += 16) {
    const text = v128.load(at);
    const group = v128.and(
      i8x16.swizzle(lows, v128.and(text, low)),
      i8x16.swizzle(highs, i8x16.shr_u(text, 4)),
    );
    const letters = i8x16.bitmask(i8x16.gt_s(group, largestBoundary));
    const boundaries = i8x16.bitmask(i8x16.gt_s(group, zero)) & ~letters;
    let words = letters & ((boundaries << 1) | before);
    before = boundaries >>> 15;
    while (words !== 0) {
      const level = levelOfWord(at + usize(ctz(words)), end);
      if (level !== UNKNOWN) return level;
      words &= words - 1;
    }
  }
  return UNKNOWN;
}

function levelOfWord(at: usize, end: usize): u32 {
  const word = load<u64>(at) | FOLD;
  switch (u32(word) & 0xff) {
    case 0x74:
      return firstOf(word, 5) === TRACE_TEXT && ends(at + 5, end) ? TRACE : UNKNOWN;
    case 0x64:
      return firstOf(word, 5) === DEBUG_TEXT && ends(at + 5, end) ? DEBUG : UNKNOWN;
    case 0x66:
      return firstOf(word, 5) === FATAL_TEXT && ends(at + 5, end) ? FATAL : UNKNOWN;
    case 0x63:
      return word === CRITICAL_TEXT && ends(at + 8, end) ? CRITICAL : UNKNOWN;
    case 0x65:
      if (firstOf(word, 5) === ERROR_TEXT && ends(at + 5, end)) return ERROR;
      return firstOf(word, 3) === ERR && ends(at + 3, end) ? ERROR : UNKNOWN;
    case 0x77:
      if (firstOf(word, 7) === WARNING_TEXT && ends(at + 7, end)) return WARN;
      return firstOf(word, 4) === WARN_TEXT && ends(at + 4, end) ? WARN : UNKNOWN;
    case 0x69:
      return firstOf(word, 4) === INFO_TEXT && ends(at + 4, end) ? INFO : UNKNOWN;
    default:
      return UNKNOWN;
  }
}

/** Returns whether a word may end before `at`. */
function ends(at: usize, end: usize): bool {
  if (at >= end) return at === end;
  const byte = u32(load<u8>(at));
  // Tab, line feed, and from 0x20 to 0x3f: space ! " ' ( ) , : =
  if (byte < 0x40)
    return byte === 0x09 || byte === 0x0a || (byte >= 0x20 && ((0x24001387 >>> (byte - 0x20)) & 1) !== 0);
  return byte === 0x5b || byte === 0x5d || byte === 0x7b || byte === 0x7c || byte === 0x7d;
}
