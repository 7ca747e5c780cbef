/**
 * Finds the variables of a line. Four rules apply, from left to right, at each byte that may begin a
 * variable:
 *
 *     a value of JSON        "status":200   "path": "/a/b"    after a quote, a colon and perhaps a space
 *     a value of logfmt      path=/a/b   msg="a text"          after a word and an equals sign
 *     a string               "GET / HTTP/1.1"                  after a space, in a line that is not an object
 *     a word with a digit    2026-11-23T14:12:51.5Z   10.0.0.7:8080   blk_38865049064139660
 *
 * A word consists of letters, digits, `_` and `-`; between digits also `.` and `:`. Bitmaps of the whole page
 * mark the bytes that may begin a variable.
 */
import { bitsFrom, isSet, nextClear, nextSet } from './bits';
import { heldByte } from './held';
import {
  END_MAP,
  LITERALS,
  lineByte,
  MAX_VARIABLES,
  QUOTE_MAP,
  SPANS,
  SPLIT_LINES,
  TRIGGER_MAP,
  VARIABLE_KEYS,
  WORD_MAP,
} from './split-layout';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  EQUALS,
  isDigit,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from './text-bytes';

/** Computes the bitmaps of this many bytes of lines. */
export function markVariables(bytes: usize): void {
  const zero = heldByte(LITERALS, 0x30);
  const ten = heldByte(LITERALS + 1, 10);
  const space = heldByte(LITERALS + 2, SPACE);
  const a = heldByte(LITERALS + 3, 0x61);
  const letters = heldByte(LITERALS + 4, 26);
  const under = heldByte(LITERALS + 5, 0x5f);
  const hyphen = heldByte(LITERALS + 6, 0x2d);
  const quoteByte = heldByte(LITERALS + 7, QUOTE);
  const backslash = heldByte(LITERALS + 8, BACKSLASH);
  const colon = heldByte(LITERALS + 9, COLON);
  const equalsSign = heldByte(LITERALS + 10, EQUALS);
  // The 16 bytes before: parts of words, quotes, spaces.
  let lastWords = i8x16.splat(0);
  let lastQuotes = i8x16.splat(0);
  let lastSpaces = i8x16.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) {
    const text = v128.load(SPLIT_LINES + at);
    const digits = i8x16.lt_u(i8x16.sub(text, zero), ten);
    const isLetter = i8x16.lt_u(i8x16.sub(v128.or(text, space), a), letters);
    const joints = v128.or(i8x16.eq(text, under), i8x16.eq(text, hyphen));
    const words = v128.or(v128.or(digits, isLetter), joints);
    const quotes = i8x16.eq(text, quoteByte);
    const spaces = i8x16.eq(text, space);
    const map = at >>> 3;
    store<u16>(WORD_MAP + map, u16(i8x16.bitmask(words)));
    store<u16>(QUOTE_MAP + map, u16(i8x16.bitmask(v128.or(quotes, i8x16.eq(text, backslash)))));
    store<u16>(END_MAP + map, u16(i8x16.bitmask(v128.or(quotes, i8x16.le_u(text, space)))));
    const afterWord = v128.and(i8x16.eq(text, equalsSign), behind(lastWords, words));
    const afterQuote = v128.and(i8x16.eq(text, colon), behind(lastQuotes, quotes));
    const afterSpace = v128.and(quotes, behind(lastSpaces, spaces));
    const triggers = v128.or(v128.or(digits, afterWord), v128.or(afterQuote, afterSpace));
    store<u16>(TRIGGER_MAP + map, u16(i8x16.bitmask(triggers)));
    lastWords = words;
    lastQuotes = quotes;
    lastSpaces = spaces;
  }
}

/** Returns what the byte before each of 16 bytes is. @param last the same of the 16 bytes before */
// @inline
function behind(last: v128, bytes: v128): v128 {
  return i8x16.shuffle(last, bytes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

/** Returns the closing quote of a string, or `end`. */
function stringEnd(from: usize, end: usize): usize {
  let at = nextSet(QUOTE_MAP, from, end);
  while (at < end && lineByte(at) === BACKSLASH) at = at + 2 < end ? nextSet(QUOTE_MAP, at + 2, end) : end;
  return at;
}

/** Returns the end of a JSON value that is not a string; `from` itself for an object or a list. */
// @inline
function bareEnd(from: usize, end: usize): usize {
  const first = lineByte(from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return from;
  let at = from;
  while (at < end) {
    const byte = lineByte(at);
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) break;
    at++;
  }
  return at;
}

/** Returns the end of a word that has a digit at `from`. */
function wordEnd(from: usize, end: usize): usize {
  let at = nextClear(WORD_MAP, from, end);
  while (at + 1 < end) {
    const byte = lineByte(at);
    if (byte !== 0x2e && byte !== COLON) break;
    if (!isDigit(lineByte(at - 1)) || !isDigit(lineByte(at + 1))) break;
    at = nextClear(WORD_MAP, at + 1, end);
  }
  return at;
}

/** Returns the start of the word around `at`, at least `floor`. */
// @inline
function wordStart(at: usize, floor: usize): usize {
  let start = at;
  while (start > floor && isSet(WORD_MAP, start - 1)) start--;
  return start;
}

/**
 * Writes the variables of a line as spans from number `first` on. Returns their number, or MAX_VARIABLES + 1
 * if there are too many.
 */
export function findVariables(start: usize, end: usize, first: usize): usize {
  const isObject = start < end && lineByte(start) === OPEN_BRACE;
  let count: usize = 0;
  let floor = start;
  let at = start;
  while (at < end) {
    const bits = bitsFrom(TRIGGER_MAP, at);
    if (bits === 0) {
      at += 57;
      continue;
    }
    at += usize(ctz(bits));
    if (at >= end) break;
    const byte = lineByte(at);
    let from = at + 1;
    let to = from;
    let key: usize = 0;
    if (isDigit(byte)) {
      from = wordStart(at, floor);
      to = wordEnd(at, end);
    } else if (byte === QUOTE) {
      if (!isObject && at > start) {
        to = stringEnd(from, end);
        if (to === end) to = from;
      }
    } else if (at > start && from < end) {
      key = at;
      if (byte === COLON && lineByte(from) === SPACE && from + 1 < end) from++;
      if (lineByte(from) === QUOTE) {
        from++;
        to = stringEnd(from, end);
      } else to = byte === COLON ? bareEnd(from, end) : nextSet(END_MAP, from, end);
    }
    if (to <= from) {
      at++;
      continue;
    }
    if (count === MAX_VARIABLES) return MAX_VARIABLES + 1;
    const span = SPANS + ((first + count) << 3);
    store<u32>(span, u32(from));
    store<u32>(span, u32(to - from), 4);
    store<u32>(VARIABLE_KEYS + (count << 2), u32(key));
    count++;
    floor = to;
    at = to;
  }
  return count;
}
