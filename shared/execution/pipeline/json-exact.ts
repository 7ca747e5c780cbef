/**
 * Reads an object exactly as the reference does, step by step: finds the end of each value, then reads it.
 * Used only for lines that are irregular below the top level (see json.ts), so exactness matters more than
 * speed. The cost is bounded by the depth, and by a budget of bytes searched for the ends of nested objects.
 */

import {
  BAD_ARRAY,
  BAD_JSON,
  BAD_KEY_ESCAPE,
  BAD_OBJECT,
  BAD_STRING,
  blockEnd,
  CLOSE_BRACE,
  hasEscape,
  MAX_JSON_DEPTH,
  nextMember,
  OK,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  tokenEnd,
  UNKNOWN_VALUE,
  valueOfKey,
  WORD_NULL,
  WORD_UNKNOWN,
  wordKind,
} from '../../base/text/json-scan.ts';
import type { EarlyTests } from './early-tests.ts';
import type { KeyTable } from './key-table.ts';
import { DROPPED, FOUND_ALL, setParsedValue } from './parsed-value.ts';
import { KIND_CLEAN, KIND_JSON, type RowLabels } from './row-labels.ts';

/**
 * Maximum bytes searched for ends of objects, in multiples of the line length. Beyond it, objects are
 * skipped.
 */
const SEARCH_BUDGET = 16;

/** Returns OK, a failure of json-scan.ts, FOUND_ALL or DROPPED. */
export function readExactly(
  labels: RowLabels,
  early: EarlyTests,
  keys: KeyTable,
  source: Buffer,
  start: number,
  end: number,
): number {
  let budget = (end - start) * SEARCH_BUDGET;
  return readObject(start, end, 0, 0);

  function readObject(from: number, to: number, parent: number, depth: number): number {
    let at = skipSpace(source, from, to);
    if (at >= to || source[at] !== OPEN_BRACE) return BAD_OBJECT;
    at = skipSpace(source, at + 1, to);
    if (at >= to) return BAD_JSON;
    if (source[at] === CLOSE_BRACE) return OK;
    while (at < to) {
      if (source[at] === CLOSE_BRACE) return OK;
      if (source[at] !== QUOTE) return BAD_OBJECT;
      const keyStart = at + 1;
      const keyEnd = stringEnd(source, keyStart, to);
      if (keyEnd < 0) return BAD_JSON;
      const entry = keys.findJson(source, keyStart, keyEnd, parent);
      if (entry < 0) return BAD_KEY_ESCAPE;
      at = valueOfKey(source, keyEnd + 1, to);
      if (at < 0) return BAD_JSON;

      let outcome = OK;
      if (source[at] === QUOTE) {
        const stop = stringEnd(source, at + 1, to);
        if (stop < 0) return BAD_STRING;
        const kind = hasEscape(source, at + 1, stop) ? KIND_JSON : KIND_CLEAN;
        outcome = set(entry, kind, at + 1, stop);
        at = stop + 1;
      } else if (source[at] === OPEN_BRACKET) {
        at = blockEnd(source, at, to);
        if (at < 0) return BAD_ARRAY;
      } else if (source[at] === OPEN_BRACE) {
        const stop = blockEnd(source, at, to);
        if (stop < 0) return BAD_OBJECT;
        budget -= stop - at;
        const enter = !labels.restricted || keys.wantedBelow[entry] === 1;
        if (enter && depth < MAX_JSON_DEPTH && budget >= 0) {
          outcome = readObject(at, stop, entry + 1, depth + 1);
        }
        at = stop;
      } else {
        const stop = tokenEnd(source, at, to);
        const word = wordKind(source, at, stop);
        if (word === WORD_UNKNOWN) return UNKNOWN_VALUE;
        if (word !== WORD_NULL) outcome = set(entry, KIND_CLEAN, at, stop);
        at = stop;
      }
      if (outcome !== OK) return outcome;

      at = nextMember(source, at, to);
      if (at < 0) return ~at;
    }
    return BAD_OBJECT;
  }

  function set(entry: number, kind: number, from: number, to: number): number {
    const id = keys.nameIds[entry];
    if (id < 0) return OK;
    const name = labels.collides(id) ? keys.suffixedIds[entry] : id;
    const outcome = setParsedValue(labels, early, name, kind, source, from, to);
    return outcome === FOUND_ALL || outcome === DROPPED ? outcome : OK;
  }
}
