/**
 * Reads the members of a line that is one JSON object, with strict syntax
 * (shared/storage/columns/field-extractor.ts explains why). The ends of strings come from a bitmap of quotes
 * and backslashes. Keys mostly follow in the same order as before.
 */
import { bitsFrom, LOOK_BITS } from './bits';
import {
  byteAt,
  FIELD_LINES,
  JSON_KEYS,
  JSON_MEMBERS,
  MAX_ARRAY_DEPTH,
  MAX_DEPTH,
  MAX_LINE_FIELDS,
  PARENTS,
  QUOTES,
} from './field-layout';
import {
  findKey,
  follow,
  followerOf,
  isReserved,
  lengthOf,
  matches,
  numberOf,
  startOfLine,
} from './key-table';
import { addMember, ESCAPED, memberCount, NOTHING, STRUCTURE, VALUE } from './member-list';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  quoteBits,
  SPACE,
} from './text-bytes';

/** Sets a bit for each quote and backslash of the line, and of the 64-byte blocks around its ends. */
export function markQuotes(start: usize, end: usize): void {
  for (let at = start & ~63; at < end; at += 64) {
    const from = FIELD_LINES + at;
    const low = quoteBits(v128.load(from)) | (quoteBits(v128.load(from, 16)) << 16);
    const high = quoteBits(v128.load(from, 32)) | (quoteBits(v128.load(from, 48)) << 16);
    store<u32>(QUOTES + (at >>> 3), low);
    store<u32>(QUOTES + (at >>> 3), high, 4);
  }
}

/** Returns the first quote or backslash from `from` on, or at least `end` if there is none. */
// @inline
export function plainEnd(from: usize, end: usize): usize {
  let at = from;
  while (at < end) {
    const bits = bitsFrom(QUOTES, at);
    if (bits !== 0) return at + usize(ctz(bits));
    at += LOOK_BITS;
  }
  return at;
}

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

/** Works as `skipSpace`, for positions that rarely have white space. */
// @inline
function skipRareSpace(at: usize, end: usize): usize {
  return at < end && byteAt(at) <= SPACE ? skipSpace(at, end) : at;
}

/**
 * Adds the members of a line that begins with a brace. Returns false if the syntax is not strict, or a limit
 * is exceeded.
 */
export function readJson(row: u32, start: usize, end: usize): bool {
  const limit = memberCount(JSON_MEMBERS) + MAX_LINE_FIELDS;
  let depth: u32 = 0;
  let parent: u32 = 0;
  let last = startOfLine(JSON_KEYS);
  // An object without members ends immediately; a closing brace may not follow a comma.
  let mayEnd = true;
  let at = skipSpace(start + 1, end);
  markQuotes(start, end);
  while (at < end) {
    const byte = byteAt(at);
    if (byte === QUOTE) {
      // Predict the key: mostly the one that followed the previous key before.
      const keyStart = ++at;
      let key = followerOf(last);
      if (key !== 0 && matches(key, parent, keyStart, end)) at += lengthOf(key);
      else key = 0;
      if (key === 0 || at >= end || byteAt(at) !== QUOTE) {
        at = plainEnd(keyStart, end);
        if (at >= end || byteAt(at) === BACKSLASH) return false;
        key = findKey(JSON_KEYS, keyStart, at, parent);
        if (key === 0) return false;
        follow(last, key);
      }
      if (isReserved(key) || memberCount(JSON_MEMBERS) >= limit) return false;
      last = key;
      at++;
      if (at < end && byteAt(at) !== COLON) at = skipSpace(at, end);
      if (at >= end || byteAt(at) !== COLON) return false;
      at = skipRareSpace(at + 1, end);
      if (at >= end) return false;

      const first = byteAt(at);
      if (first === QUOTE) {
        const valueStart = ++at;
        at = plainEnd(at, end);
        let kind = VALUE;
        while (at < end && byteAt(at) === BACKSLASH) {
          kind = ESCAPED;
          at = plainEnd(at + 2, end);
        }
        if (at >= end || !addMember(JSON_MEMBERS, key, row, valueStart, at, kind)) return false;
        at++;
      } else if (first === OPEN_BRACE) {
        if (depth === MAX_DEPTH || !addMember(JSON_MEMBERS, key, row, at, at, STRUCTURE)) return false;
        store<u32>(PARENTS + (usize(depth++) << 2), parent);
        parent = numberOf(key) + 1;
        at = skipSpace(at + 1, end);
        mayEnd = true;
        continue;
      } else if (first === OPEN_BRACKET) {
        if (!addMember(JSON_MEMBERS, key, row, at, at, STRUCTURE)) return false;
        at = arrayEnd(at, end);
        if (at === 0) return false;
      } else {
        const valueStart = at;
        while (at < end && isInWord(byteAt(at))) at++;
        const kind = kindOfWord(valueStart, at);
        if (kind < 0 || !addMember(JSON_MEMBERS, key, row, valueStart, at, kind)) return false;
      }
    } else if (byte === CLOSE_BRACE && mayEnd) {
      if (depth === 0) return skipSpace(at + 1, end) === end;
      parent = load<u32>(PARENTS + (usize(--depth) << 2));
      at++;
    } else return false;

    // The ends of objects follow a value, then a comma.
    for (;;) {
      at = skipRareSpace(at, end);
      if (at >= end) return false;
      const next = byteAt(at);
      if (next === COMMA) break;
      if (next !== CLOSE_BRACE) return false;
      if (depth === 0) return skipSpace(at + 1, end) === end;
      parent = load<u32>(PARENTS + (usize(--depth) << 2));
      at++;
    }
    at = skipRareSpace(at + 1, end);
    mayEnd = false;
  }
  return false;
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

/**
 * Returns the kind of a word, or -1 if it is not a value. The first byte identifies a number. The rest is
 * checked only for brackets and quotes.
 */
function kindOfWord(start: usize, end: usize): i32 {
  if (start === end) return -1;
  const first = byteAt(start);
  if (first === 0x2d || first - 0x30 < 10) return VALUE;
  const word = load<u32>(FIELD_LINES + start);
  if (end - start === 4) return word === 0x65757274 ? VALUE : word === 0x6c6c756e ? NOTHING : -1;
  return end - start === 5 && word === 0x736c6166 && byteAt(start + 4) === 0x65 ? VALUE : -1;
}
