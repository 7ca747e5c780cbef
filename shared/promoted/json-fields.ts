/**
 * Members of a line that is one JSON object, read strictly. The pipeline's parser is as loose as the reference (it accepts
 * `{"a":01,}x`), and what it makes of loose lines depends on what the query wants; of a strict line it does not. So a line
 * is either strict, and then its members are what every parser stage sees, or it is left to the parser.
 *
 * Stricter than JSON where that keeps the proof short: no escapes in keys, no space before the object, few levels.
 */
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  plainEnd,
  QUOTE,
  skipSpace,
  stringEnd,
  WORD_BOOLEAN,
  WORD_NULL,
  wordKind,
} from '../pipeline/json-scan.ts';
import { MAX_ARRAY_DEPTH, MAX_DEPTH, MAX_LINE_FIELDS } from './bounds.ts';
import type { FieldTable } from './field-table.ts';
import { ESCAPED, type LineMembers, NOTHING, STRUCTURE, VALUE } from './line-members.ts';

const parents = new Int32Array(MAX_DEPTH);

/**
 * Adds the members of the line `source[start..end)`. False where the line is not strict or over a bound; what was added
 * is then the caller's to take back.
 */
export function readJsonFields(
  table: FieldTable,
  members: LineMembers,
  row: number,
  source: Buffer,
  start: number,
  end: number,
): boolean {
  if (start >= end || source[start] !== OPEN_BRACE) return false;
  const limit = members.count + MAX_LINE_FIELDS;
  let depth = 0;
  let parent = 0;
  let last = -1;
  let at = skipSpace(source, start + 1, end);
  // An object without members ends here; a closing brace may not follow a comma.
  let mayEnd = true;
  for (;;) {
    if (at >= end) return false;
    if (source[at] === QUOTE) {
      // Key: most often the one that followed the last key before.
      const keyStart = ++at;
      let entry = table.followerOf(last);
      at = entry < 0 ? -1 : table.match(entry, parent, source, keyStart, end);
      if (at < 0 || at >= end || source[at] !== QUOTE) {
        at = plainEnd(source, keyStart, end);
        if (at >= end || source[at] === BACKSLASH) return false;
        entry = table.find(source, keyStart, at, parent);
        if (entry < 0) return false;
        table.follow(last, entry);
      }
      if (table.reserved[entry] === 1 || members.count >= limit) return false;
      last = entry;
      at++;
      if (at < end && source[at] !== COLON) at = skipSpace(source, at, end);
      if (at >= end || source[at] !== COLON) return false;
      at++;
      if (at < end && source[at] <= 0x20) at = skipSpace(source, at, end);
      if (at >= end) return false;

      // Value.
      const byte = source[at];
      if (byte === QUOTE) {
        const valueStart = ++at;
        at = plainEnd(source, at, end);
        let kind = VALUE;
        while (at < end && source[at] === BACKSLASH) {
          kind = ESCAPED;
          at = plainEnd(source, at + 2, end);
        }
        if (at >= end || !members.add(entry, row, valueStart, at, kind)) return false;
        at++;
      } else if (byte === OPEN_BRACE) {
        if (depth === MAX_DEPTH || !members.add(entry, row, at, at, STRUCTURE)) return false;
        parents[depth++] = parent;
        parent = entry + 1;
        at = skipSpace(source, at + 1, end);
        mayEnd = true;
        continue;
      } else if (byte === OPEN_BRACKET) {
        if (!members.add(entry, row, at, at, STRUCTURE)) return false;
        at = arrayEnd(source, at, end);
        if (at < 0) return false;
      } else {
        const valueStart = at;
        at = wordEnd(source, at, end);
        const kind = kindOfWord(source, valueStart, at);
        if (kind < 0 || !members.add(entry, row, valueStart, at, kind)) return false;
      }
    } else if (source[at] === CLOSE_BRACE && mayEnd) {
      if (depth === 0) return skipSpace(source, at + 1, end) === end;
      parent = parents[--depth];
      at++;
    } else return false;

    // After a value: the ends of objects, then a comma.
    for (;;) {
      if (at < end && source[at] <= 0x20) at = skipSpace(source, at, end);
      if (at >= end) return false;
      if (source[at] === COMMA) break;
      if (source[at] !== CLOSE_BRACE) return false;
      if (depth === 0) return skipSpace(source, at + 1, end) === end;
      parent = parents[--depth];
      at++;
    }
    at++;
    if (at < end && source[at] <= 0x20) at = skipSpace(source, at, end);
    mayEnd = false;
  }
}

/** Place after an array in which brackets of both kinds pair up, strings aside; else -1. */
function arrayEnd(source: Buffer, start: number, end: number): number {
  // Bit i: level i is an object. The array itself is level 0.
  let braces = 0;
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = source[at];
    if (byte === QUOTE) {
      at = stringEnd(source, at + 1, end);
      if (at < 0) return -1;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      if (depth === MAX_ARRAY_DEPTH) return -1;
      braces = byte === OPEN_BRACE ? braces | (1 << depth) : braces & ~(1 << depth);
      depth++;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      depth--;
      if (((braces >>> depth) & 1) !== (byte === CLOSE_BRACE ? 1 : 0)) return -1;
      if (depth === 0) return at + 1;
    }
    at++;
  }
  return -1;
}

/** 1 for bytes of numbers, `true`, `false` and `null`. */
const IN_WORD = new Uint8Array(256);
for (const byte of Buffer.from('0123456789+-.eEtrufalsn')) IN_WORD[byte] = 1;

function wordEnd(source: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && IN_WORD[source[at]] === 1) at++;
  return at;
}

/** VALUE or NOTHING; -1 where the word is no value. */
function kindOfWord(source: Buffer, start: number, end: number): number {
  if (start === end) return -1;
  const first = source[start];
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) {
    // The parser takes a number as it stands: what matters is only that it cannot hold a bracket or a quote.
    return VALUE;
  }
  const word = wordKind(source, start, end);
  return word === WORD_BOOLEAN ? VALUE : word === WORD_NULL ? NOTHING : -1;
}
