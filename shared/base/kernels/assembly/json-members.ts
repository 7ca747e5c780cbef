/**
 * Reads the members of a line that is one JSON object, with strict syntax
 * (shared/storage/columns/field-extractor.ts explains why). The ends of strings come from a bitmap of quotes
 * and backslashes. The text between two values is mostly the same as before (gaps.ts).
 */
import { byteAt, FIELD_LINES, JSON_KEYS, JSON_MEMBERS, MAX_ARRAY_DEPTH, MAX_DEPTH } from './field-layout';
import { markQuotes, plainEnd } from './field-marks';
import { AFTER_VALUE, gapBytes, hasGap, IN_OBJECT, keepGap, keyIn } from './gaps';
import { depthOf, findKey, isReserved, numberOf, parentOf, recordOf } from './key-table';
import {
  addMember,
  ESCAPED,
  memberCount,
  memberLimit,
  NOTHING,
  STRUCTURE,
  setMemberCount,
  VALUE,
} from './member-list';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from './text-bytes';

/**
 * Returns the closing quote of the string whose text begins at `from`, or at least `end` if there is none.
 */
function stringEnd(from: usize, end: usize): usize {
  let at = plainEnd(from, end);
  while (at < end && byteAt(at) === BACKSLASH) at = plainEnd(at + 2, end);
  return at;
}

// @inline
function isSpace(byte: u32): bool {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(from: usize, end: usize): usize {
  let at = from;
  while (at < end && isSpace(byteAt(at))) at++;
  return at;
}

/**
 * Adds the members of a line that begins with a brace. Returns false, and adds none, if the syntax is not
 * strict, or a limit is exceeded.
 */
export function readJson(row: u32, start: usize, end: usize): bool {
  const before = memberCount(JSON_MEMBERS);
  const limit = memberLimit(before);
  let count = before;
  let key = recordOf(JSON_KEYS, 0);
  let gap = key + IN_OBJECT;
  let at = start;
  markQuotes(start, end);
  while (at < end) {
    // More space may follow than in the gap.
    if (hasGap(gap, at, end) && byteAt(at + gapBytes(gap)) > SPACE) {
      key = keyIn(gap);
      at += gapBytes(gap);
    } else {
      key = readGap(key, gap, at, end);
      if (key === 0) {
        if (valueAt !== end) return false;
        setMemberCount(JSON_MEMBERS, count);
        return true;
      }
      at = valueAt;
    }
    if (count >= limit) return false;
    gap = key + AFTER_VALUE;

    const first = byteAt(at);
    if (first === QUOTE) {
      const valueStart = at + 1;
      at = plainEnd(valueStart, end);
      let kind = VALUE;
      if (at < end && byteAt(at) === BACKSLASH) {
        kind = ESCAPED;
        at = stringEnd(at, end);
      }
      if (at >= end) return false;
      count = addMember(JSON_MEMBERS, count, key, row, valueStart, at, kind);
      at++;
    } else if (first === OPEN_BRACE) {
      if (depthOf(key) === MAX_DEPTH) return false;
      count = addMember(JSON_MEMBERS, count, key, row, at, at, STRUCTURE);
      gap = key + IN_OBJECT;
    } else if (first === OPEN_BRACKET) {
      count = addMember(JSON_MEMBERS, count, key, row, at, at, STRUCTURE);
      at = arrayEnd(at, end);
      if (at === 0) return false;
    } else {
      const valueStart = at;
      at = wordEnd(at, end);
      const kind = kindOfWord(valueStart, at);
      if (kind < 0) return false;
      count = addMember(JSON_MEMBERS, count, key, row, valueStart, at, kind);
    }
  }
  return false;
}

/** Start of the value behind the gap that `readGap` read, or end of the line. */
let valueAt: usize = 0;

/**
 * Reads from the end of a value, or from an opening brace, up to the next value, and keeps the gap. Returns
 * the key of the next value, or 0 at the end of the line or if the syntax is not strict.
 */
function readGap(last: usize, gap: usize, from: usize, end: usize): usize {
  valueAt = 0;
  const isOpened = gap === last + IN_OBJECT;
  let parent = isOpened ? numberOf(last) + 1 : parentOf(last);
  let at = skipSpace(isOpened ? from + 1 : from, end);
  // An object without members ends immediately; a closing brace may not follow a comma.
  let mayBegin = isOpened;
  while (at < end && byteAt(at) === CLOSE_BRACE) {
    at = skipSpace(at + 1, end);
    if (parent === 0) {
      valueAt = at;
      return 0;
    }
    parent = parentOf(recordOf(JSON_KEYS, parent));
    mayBegin = false;
  }
  if (!mayBegin) {
    if (at >= end || byteAt(at) !== COMMA) return 0;
    at = skipSpace(at + 1, end);
  }
  if (at >= end || byteAt(at) !== QUOTE) return 0;
  const keyStart = at + 1;
  at = plainEnd(keyStart, end);
  if (at >= end || byteAt(at) === BACKSLASH) return 0;
  const key = findKey(JSON_KEYS, keyStart, at, parent);
  if (key === 0 || isReserved(key)) return 0;
  at = skipSpace(at + 1, end);
  if (at >= end || byteAt(at) !== COLON) return 0;
  at = skipSpace(at + 1, end);
  if (at >= end) return 0;
  keepGap(gap, from, at, key);
  valueAt = at;
  return key;
}

/** Returns the offset after an array whose brackets of both kinds match outside of strings, or 0. */
function arrayEnd(start: usize, end: usize): usize {
  // Bit i is set if level i is an object. Level 0 is the array itself.
  let braces: u32 = 0;
  let depth: u32 = 0;
  for (let at = start; at < end; at++) {
    const byte = byteAt(at);
    if (byte === QUOTE) {
      at = stringEnd(at + 1, end);
      if (at >= end) return 0;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      if (depth === MAX_ARRAY_DEPTH) return 0;
      braces = byte === OPEN_BRACE ? braces | (1 << depth) : braces & ~(1 << depth);
      depth++;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      depth--;
      if (((braces >>> depth) & 1) !== u32(byte === CLOSE_BRACE)) return 0;
      if (depth === 0) return at + 1;
    }
  }
  return 0;
}

/** Letters of `true`, `false`, `null` and of exponents; bit i is the letter with code 0x61 + i. */
const WORD_LETTERS: u32 = 0b111100010100000110001;

// @inline
function isInWord(byte: u32): bool {
  if (byte - 0x30 < 10) return true;
  if (byte - 0x61 < 21) return ((WORD_LETTERS >>> (byte - 0x61)) & 1) !== 0;
  return byte === 0x2e || byte === 0x2d || byte === 0x2b || byte === 0x45;
}

/** Returns the end of a number, `true`, `false` or `null`. Digits, dots and minus signs are read 16 at a time. */
function wordEnd(from: usize, end: usize): usize {
  const text = v128.load(from, FIELD_LINES);
  const near = i8x16.lt_u(i8x16.sub(text, i8x16.splat(0x2d)), i8x16.splat(13));
  const numeric = i8x16.bitmask(v128.andnot(near, i8x16.eq(text, i8x16.splat(0x2f))));
  let at = from + usize(ctz(~numeric | 0x10000));
  while (at < end && isInWord(byteAt(at))) at++;
  return at;
}

/**
 * Returns the kind of a word, or -1 if it is not a value. The first byte identifies a number. The rest is
 * checked only for brackets and quotes.
 */
function kindOfWord(start: usize, end: usize): i32 {
  if (start === end) return -1;
  const first = byteAt(start);
  if (first === 0x2d || first - 0x30 < 10) return VALUE;
  const word = load<u32>(start, FIELD_LINES);
  if (end - start === 4) return word === 0x65757274 ? VALUE : word === 0x6c6c756e ? NOTHING : -1;
  return end - start === 5 && word === 0x736c6166 && byteAt(start + 4) === 0x65 ? VALUE : -1;
}
