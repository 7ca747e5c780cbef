/**
 * Finds the value of one field of a line as a range of its bytes, for discovery of generic fields in JSON and
 * logfmt lines (docs/dev/wire-format.md#detected_level). Nothing is decoded: a JSON string is its text as written, with its
 * escapes.
 */

import { equalRange } from '../../base/model/bytes.ts';
import {
  blockEnd,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  tokenEnd,
} from '../../base/text/json-scan.ts';
import { LogfmtDecoder, PAIR } from '../../execution/pipeline/logfmt-decoder.ts';
import { type LevelFields, rankOfKey } from './level-fields.ts';

/** A key of an object as bytes, or an index of an array. */
export type PathStep = Buffer | number;

/** Range of a value: `bytes[start, end)`. */
export interface FoundRange {
  start: number;
  end: number;
}

/**
 * Finds the value at a path of the JSON text `bytes[start, end)`. Returns false if there is none or the text
 * ends before it. Costs at most the length of the text.
 */
export function findJsonValue(
  bytes: Buffer,
  start: number,
  end: number,
  path: readonly PathStep[],
  into: FoundRange,
): boolean {
  let at = skipSpace(bytes, start, end);
  for (const step of path) {
    at = typeof step === 'number' ? elementAt(bytes, at, end, step) : valueOfKey(bytes, at, end, step);
    if (at < 0) return false;
  }
  const after = valueEnd(bytes, at, end);
  if (after < 0) return false;
  const isString = bytes[at] === QUOTE;
  into.start = isString ? at + 1 : at;
  into.end = isString ? after - 1 : after;
  return true;
}

const logfmt = new LogfmtDecoder();

/**
 * Finds the first of the names that is a key of the logfmt text `bytes[start, end)`, in any letter case.
 * Reading ends at the first syntax error, and values found before it are used.
 */
export function findLogfmtValue(
  bytes: Buffer,
  start: number,
  end: number,
  names: LevelFields,
  into: FoundRange,
): boolean {
  let best = names.names.length;
  logfmt.reset(bytes, start, end);
  while (best > 0 && logfmt.next() === PAIR) {
    if (logfmt.keyEnd === logfmt.keyStart) continue;
    const rank = rankOfKey(names, bytes, logfmt.keyStart, logfmt.keyEnd);
    if (rank >= best) continue;
    best = rank;
    into.start = logfmt.valueStart;
    into.end = logfmt.valueEnd;
  }
  return best < names.names.length;
}

/** Returns the offset of the value of a key of the object at `at`, or -1. */
function valueOfKey(bytes: Buffer, at: number, end: number, key: Buffer): number {
  if (at >= end || bytes[at] !== OPEN_BRACE) return -1;
  let next = skipSpace(bytes, at + 1, end);
  while (next < end && bytes[next] === QUOTE) {
    const keyEnd = stringEnd(bytes, next + 1, end);
    if (keyEnd < 0) return -1;
    const colon = skipSpace(bytes, keyEnd + 1, end);
    if (colon >= end || bytes[colon] !== COLON) return -1;
    const value = skipSpace(bytes, colon + 1, end);
    if (equalRange(bytes, next + 1, keyEnd, key, 0, key.length)) return value;
    next = nextItem(bytes, value, end, CLOSE_BRACE);
    if (next < 0) return -1;
  }
  return -1;
}

/** Returns the offset of an element of the array at `at`, or -1. */
function elementAt(bytes: Buffer, at: number, end: number, index: number): number {
  if (at >= end || bytes[at] !== OPEN_BRACKET) return -1;
  let next = skipSpace(bytes, at + 1, end);
  for (let i = 0; i < index && next >= 0; i++) next = nextItem(bytes, next, end, CLOSE_BRACKET);
  return next < end && bytes[next] !== CLOSE_BRACKET ? next : -1;
}

/** Returns the offset after the value at `at` and the comma after it, or -1 if none follows. */
function nextItem(bytes: Buffer, at: number, end: number, close: number): number {
  const after = valueEnd(bytes, at, end);
  if (after < 0) return -1;
  const comma = skipSpace(bytes, after, end);
  if (comma >= end || bytes[comma] === close || bytes[comma] !== COMMA) return -1;
  return skipSpace(bytes, comma + 1, end);
}

/** Returns the offset after a value, or -1 if it does not end or there is none. */
function valueEnd(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return -1;
  const first = bytes[at];
  if (first === QUOTE) {
    const quote = stringEnd(bytes, at + 1, end);
    return quote < 0 ? -1 : quote + 1;
  }
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return blockEnd(bytes, at, end);
  const after = tokenEnd(bytes, at, end);
  return after === at ? -1 : after;
}
