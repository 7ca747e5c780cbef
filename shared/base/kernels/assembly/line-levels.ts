/**
 * Detects the level of each selected line (docs/dev/wire-format.md#detected_level, step 5). If the line looks like a JSON object or
 * is logfmt, a field that may hold a level decides. Otherwise the first word that names a level decides.
 *
 * Memory: the host writes the names of the fields, then spans of lines, and lines. The kernel writes the code
 * of each line to LINE_LEVELS.
 */

import { BASE } from './layout';
import { levelOfText, levelOfValue, UNKNOWN } from './level-words';
import {
  bareEndBits,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  stringEnd,
} from './text-bytes';

/** Maximum lines of one call. */
export const MAX_LEVEL_ROWS: usize = 4096;
export const LINE_LEVELS: usize = BASE;
/** Start and end of each line, relative to the start of the lines. */
export const LINE_SPANS: usize = LINE_LEVELS + MAX_LEVEL_ROWS;
/**
 * Fields by first byte of the key: one bit for each length, first exact, then for any letter case. After that
 * follow the number of fields, and for each its length and the addresses of its bytes, exact and folded.
 */
export const LEVEL_FIELDS: usize = LINE_SPANS + 8 * MAX_LEVEL_ROWS;
const FOLDED_LENGTHS: usize = LEVEL_FIELDS + 1024;
const FIELD_COUNT: usize = FOLDED_LENGTHS + 1024;
const FIELDS: usize = FIELD_COUNT + 4;
const FIELD_BYTES: usize = 12;
const WRITTEN: usize = 4;
const FOLDED: usize = 8;

/** @param maxDepth Maximum nesting depth of objects to search, 1 for the outermost */
export function detectLevels(rows: u32, lines: usize, maxDepth: u32): void {
  for (let row: usize = 0; row < usize(rows); row++) {
    const span = LINE_SPANS + (row << 3);
    const level = levelOfLine(lines + usize(load<u32>(span)), lines + usize(load<u32>(span, 4)), maxDepth);
    store<u8>(LINE_LEVELS + row, level);
  }
}

function levelOfLine(start: usize, end: usize, maxDepth: u32): u32 {
  let first = start;
  while (first < end && isBlank(byteAt(first))) first++;
  let last = end;
  while (last > first && isBlank(byteAt(last - 1))) last--;
  const isJson = last > first + 1 && byteAt(first) === OPEN_BRACE && byteAt(last - 1) === CLOSE_BRACE;
  const level = isJson ? levelOfJson(first, last, maxDepth) : levelOfLogfmt(first, end);
  return level !== UNKNOWN ? level : levelOfText(start, end);
}

// @inline
function isBlank(byte: u32): bool {
  return byte === SPACE || byte - 0x09 < 5;
}

// @inline
function byteAt(at: usize): u32 {
  return load<u8>(at);
}

/**
 * Returns the level of the first string whose key is a level field. Searches objects depth first in written
 * order, without arrays. The search ends at invalid JSON.
 */
function levelOfJson(start: usize, end: usize, maxDepth: u32): u32 {
  let depth: u32 = 1;
  let at = start + 1;
  while (at < end) {
    const byte = byteAt(at);
    if (byte <= SPACE || byte === COMMA) {
      at++;
      continue;
    }
    if (byte === CLOSE_BRACE) {
      if (--depth === 0) return UNKNOWN;
      at++;
      continue;
    }
    if (byte !== QUOTE) return UNKNOWN;
    const key = at + 1;
    const keyEnd = stringEnd(key, end);
    at = skipLow(keyEnd + 1, end);
    if (at >= end || byteAt(at) !== COLON) return UNKNOWN;
    at = skipLow(at + 1, end);
    if (at >= end) return UNKNOWN;
    const first = byteAt(at);
    if (first === QUOTE) {
      const valueEnd = stringEnd(at + 1, end);
      if (isField(key, keyEnd - key))
        return valueEnd < end ? levelOfValue(at + 1, valueEnd - at - 1) : UNKNOWN;
      at = valueEnd + 1;
    } else if (first === OPEN_BRACE && depth < maxDepth) {
      depth++;
      at++;
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      at = nestedEnd(at, end);
    } else {
      while (at < end && byteAt(at) !== COMMA && byteAt(at) !== CLOSE_BRACE) at++;
    }
  }
  return UNKNOWN;
}

function skipLow(from: usize, end: usize): usize {
  let at = from;
  while (at < end && byteAt(at) <= SPACE) at++;
  return at;
}

/** Returns the offset after the object or array that opens at `from`, or `end`. */
function nestedEnd(from: usize, end: usize): usize {
  let depth: u32 = 0;
  for (let at = from; at < end; at++) {
    const byte = byteAt(at);
    if (byte === QUOTE) at = stringEnd(at + 1, end);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at + 1;
  }
  return end;
}

/**
 * Returns the level of a logfmt line. If several fields exist, the first in the list wins, so only that one
 * ends the scan early. At an invalid pair, the scan ends with the current result.
 */
function levelOfLogfmt(start: usize, end: usize): u32 {
  // All keys before the first equals sign are bare. Without an equals sign, or with a quote before it, the
  // line has no level.
  const mark = firstMark(start, end);
  if (mark === end || byteAt(mark) === QUOTE) return UNKNOWN;
  let best = load<u32>(FIELD_COUNT);
  let level = UNKNOWN;
  let at = start;
  while (at < end) {
    if (byteAt(at) <= SPACE) {
      at++;
      continue;
    }
    const key = at;
    at = bareEnd(at, end);
    const keyEnd = at;
    let value = at;
    let valueEnd = at;
    if (at < end && byteAt(at) > SPACE) {
      if (byteAt(at) === QUOTE || at === key) return level;
      value = ++at;
      if (at < end && byteAt(at) === QUOTE) {
        value = ++at;
        at = stringEnd(at, end);
        if (at >= end) return level;
        valueEnd = at++;
      } else {
        at = bareEnd(at, end);
        if (at < end && byteAt(at) > SPACE) return level;
        valueEnd = at;
      }
    }
    const rank = rankOf(key, keyEnd - key);
    if (rank < best) {
      best = rank;
      level = levelOfValue(value, valueEnd - value);
      if (rank === 0) return level;
    }
  }
  return level;
}

/** Returns the first equals sign or quote from `from` on, or `end`. */
function firstMark(from: usize, end: usize): usize {
  for (let at = from; at < end; at += 16) {
    const text = v128.load(at);
    const marks = v128.or(i8x16.eq(text, i8x16.splat(0x22)), i8x16.eq(text, i8x16.splat(0x3d)));
    const bits = i8x16.bitmask(marks);
    if (bits !== 0) return min(at + usize(ctz(bits)), end);
  }
  return end;
}

/** Returns the first separator, equals sign or quote from `from` on, or `end`. */
function bareEnd(from: usize, end: usize): usize {
  for (let at = from; at < end; at += 16) {
    const bits = bareEndBits(v128.load(at));
    if (bits !== 0) return min(at + usize(ctz(bits)), end);
  }
  return end;
}

/** Returns the bit for the length of a key; all long keys share one bit. */
// @inline
function lengthBit(length: usize): u32 {
  return 1 << min(u32(length), 31);
}

/** Returns whether a key exactly equals a field. */
function isField(key: usize, length: usize): bool {
  if ((load<u32>(LEVEL_FIELDS + (usize(byteAt(key)) << 2)) & lengthBit(length)) === 0) return false;
  const last = FIELDS + usize(load<u32>(FIELD_COUNT)) * FIELD_BYTES;
  for (let field = FIELDS; field < last; field += FIELD_BYTES) {
    if (usize(load<u32>(field)) !== length) continue;
    const name = usize(load<u32>(field, WRITTEN));
    let i: usize = 0;
    while (i < length && load<u8>(key + i) === load<u8>(name + i)) i++;
    if (i === length) return true;
  }
  return false;
}

/**
 * Returns the index of the first field that equals the key ignoring letter case, or the number of fields.
 */
function rankOf(key: usize, length: usize): u32 {
  const count = load<u32>(FIELD_COUNT);
  if ((load<u32>(FOLDED_LENGTHS + (usize(byteAt(key)) << 2)) & lengthBit(length)) === 0) return count;
  for (let rank: u32 = 0; rank < count; rank++) {
    const field = FIELDS + usize(rank) * FIELD_BYTES;
    if (usize(load<u32>(field)) !== length) continue;
    const name = usize(load<u32>(field, FOLDED));
    let i: usize = 0;
    while (i < length && lower(byteAt(key + i)) === byteAt(name + i)) i++;
    if (i === length) return rank;
  }
  return count;
}

// @inline
function lower(byte: u32): u32 {
  return byte - 0x41 < 26 ? byte + 0x20 : byte;
}
