/**
 * The level of a line that looks like a JSON object: the first string whose key is a level field, walking objects
 * depth first in the order written. Arrays are not entered. Where the JSON breaks off, the walk ends.
 */
import { isLevelField, type LevelFields } from './level-fields.ts';
import { levelOfBytes, UNKNOWN } from './level-words.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Code of the level; UNKNOWN where there is none or its value is no level. `bytes[start]` is the opening brace.
 * `maxDepth` counts objects, the outermost is 1; 0 or less is without limit.
 */
export function levelOfJson(
  bytes: Uint8Array,
  start: number,
  end: number,
  fields: LevelFields,
  maxDepth: number,
): number {
  const limit = maxDepth > 0 ? maxDepth : Number.MAX_SAFE_INTEGER;
  let depth = 1;
  let at = start + 1;
  while (at < end) {
    const byte = bytes[at];
    if (byte <= 0x20 || byte === 0x2c) {
      at++;
      continue;
    }
    if (byte === 0x7d) {
      if (--depth === 0) return UNKNOWN;
      at++;
      continue;
    }
    if (byte !== QUOTE) return UNKNOWN;
    const keyStart = at + 1;
    const keyEnd = stringEnd(bytes, keyStart, end);
    at = keyEnd + 1;
    while (at < end && bytes[at] <= 0x20) at++;
    if (at >= end || bytes[at] !== 0x3a) return UNKNOWN;
    at++;
    while (at < end && bytes[at] <= 0x20) at++;
    if (at >= end) return UNKNOWN;
    const first = bytes[at];
    if (first === QUOTE) {
      const valueEnd = stringEnd(bytes, at + 1, end);
      if (isLevelField(fields, bytes, keyStart, keyEnd)) {
        return valueEnd < end ? levelOfBytes(bytes, at + 1, valueEnd) : UNKNOWN;
      }
      at = valueEnd + 1;
    } else if (first === 0x7b && depth < limit) {
      depth++;
      at++;
    } else if (first === 0x7b || first === 0x5b) {
      at = nestedEnd(bytes, at, end);
    } else {
      while (at < end && bytes[at] !== 0x2c && bytes[at] !== 0x7d) at++;
    }
  }
  return UNKNOWN;
}

/** Offset of the closing quote of the string whose text begins at `from`, or `end` or more where there is none. */
function stringEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return end;
}

/** Offset behind the object or array that opens at `from`, or `end` where it does not close. */
function nestedEnd(bytes: Uint8Array, from: number, end: number): number {
  let depth = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at + 1, end);
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at + 1;
  }
  return end;
}
