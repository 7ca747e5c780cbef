/**
 * `| json` without expressions (docs/dev/logql-semantics.md#json): every string, number and boolean of the line's object
 * becomes a label, with nested keys joined by `_`. One pass over the bytes with an explicit stack; values
 * remain byte ranges.
 *
 * Pitfall: the reference first finds the end of a nested object, then reads it, so an object that never ends
 * yields no labels. This pass enters objects immediately. It sets the same labels for every line that is
 * valid below the top level. For any irregularity there, it undoes its work and `json-exact.ts` reads the
 * line again.
 */
import { LineMarks, nextMark } from '../../base/kernels/line-memory.ts';
import {
  BACKSLASH,
  BAD_ARRAY,
  BAD_JSON,
  BAD_KEY_ESCAPE,
  BAD_OBJECT,
  BAD_STRING,
  CLOSE_BRACE,
  COLON,
  COMMA,
  JSON_FAILURES,
  JSON_PARSER_ERROR,
  MAX_JSON_DEPTH,
  OK,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  tokenEnd,
  UNKNOWN_VALUE,
  WORD_NULL,
  WORD_NUMBER,
  WORD_UNKNOWN,
  wordKind,
} from '../../base/text/json-scan.ts';
import { EarlyTests } from './early-tests.ts';
import { readExactly } from './json-exact.ts';
import { JSON_FRAME, KeyTable } from './key-table.ts';
import { DROPPED, setParsedValue } from './parsed-value.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_CLEAN, KIND_JSON, type RowLabels } from './row-labels.ts';

/** The line is irregular below the top level and must be read exactly. */
const ODD = -3;

export function compileJson(labels: RowLabels, early = new EarlyTests()): RowStage {
  const parser = new JsonParser(labels, early);
  return row => parser.process(row);
}

class JsonParser {
  readonly #labels: RowLabels;
  readonly #early: EarlyTests;
  readonly #keys: KeyTable;
  readonly #parents = new Int32Array(MAX_JSON_DEPTH + 1);
  readonly #marks = new LineMarks({ a: QUOTE, b: BACKSLASH, c: QUOTE, below: 0 });

  constructor(labels: RowLabels, early: EarlyTests) {
    this.#labels = labels;
    this.#early = early;
    this.#keys = new KeyTable(labels, JSON_FRAME);
  }

  process(row: Row): boolean {
    const labels = this.#labels;
    if (labels.allFound) return true;
    this.#keys.prepare();
    const mark = labels.valueCount;
    const source = row.source;
    const start = row.start;
    const end = row.end;
    let outcome = this.#scan(source, start, end);
    if (outcome === ODD) {
      labels.rollback(mark);
      outcome = readExactly(labels, this.#early, this.#keys, source, start, end);
    }
    if (outcome > OK) labels.failParsing(JSON_PARSER_ERROR, JSON_FAILURES[outcome]);
    return outcome !== DROPPED;
  }

  #scan(source: Buffer, start: number, end: number): number {
    const labels = this.#labels;
    const keys = this.#keys;
    const early = this.#early;
    const parents = this.#parents;
    const restricted = labels.restricted;
    // Strings are most of a line: a kernel marks their ends first, ten times faster than a JavaScript loop.
    this.#marks.set(source, start, end);
    const words = this.#marks.words;
    const shift = this.#marks.shift;
    let depth = 0;
    let parent = 0;
    let last = -1;

    let at = skipSpace(source, start, end);
    if (at >= end || source[at] !== OPEN_BRACE) return BAD_OBJECT;
    at = skipSpace(source, at + 1, end);
    if (at >= end) return BAD_JSON;

    // Each iteration starts at the first byte of a member, or at the brace that ends the object.
    members: for (;;) {
      let byte = source[at];
      if (byte === QUOTE) {
        // Predict the key: mostly the one that followed the previous key before.
        const keyStart = ++at;
        let entry = keys.followerOf(last);
        at = entry < 0 ? -1 : keys.match(entry, parent, source, keyStart, end);
        if (at < 0 || at >= end || source[at] !== QUOTE) {
          at = markedStringEnd(source, keyStart, end, words, shift);
          if (at >= end) return depth === 0 ? BAD_JSON : ODD;
          entry = keys.findJson(source, keyStart, at, parent);
          if (entry < 0) return depth === 0 ? BAD_KEY_ESCAPE : ODD;
          // A key with escapes is stored unescaped, so its bytes cannot be distinguished from another key's.
          if (keys.match(entry, parent, source, keyStart, at) === at) keys.follow(last, entry);
        }
        last = entry;
        at++;
        if (at >= end || source[at] !== COLON) {
          at = skipSpace(source, at, end);
          if (at >= end || source[at] !== COLON) return depth === 0 ? BAD_JSON : ODD;
        }
        at++;
        if (at < end && source[at] <= 0x20) at = skipSpace(source, at, end);
        if (at >= end) return depth === 0 ? BAD_JSON : ODD;

        for (;;) {
          // Read the value.
          let kind = -1;
          let valueStart = at;
          let valueEnd = 0;
          byte = source[at];
          if (byte === QUOTE) {
            valueStart = ++at;
            kind = KIND_CLEAN;
            at = nextMark(words, shift, at);
            while (at < end && source[at] === BACKSLASH) {
              kind = KIND_JSON;
              at = at + 2 < end ? nextMark(words, shift, at + 2) : end;
            }
            if (at >= end) return depth === 0 ? BAD_STRING : ODD;
            valueEnd = at++;
          } else if (byte === OPEN_BRACE) {
            const enter = (!restricted || keys.wantedBelow[entry] === 1) && depth < MAX_JSON_DEPTH;
            if (enter) {
              parents[depth++] = parent;
              parent = entry + 1;
              at = skipSpace(source, at + 1, end);
              if (at >= end) return ODD;
              continue members;
            }
            at = markedBlockEnd(source, at, end, words, shift);
            if (at < 0) return depth === 0 ? BAD_OBJECT : ODD;
          } else if (byte === OPEN_BRACKET) {
            const arrayStart = at;
            at = markedBlockEnd(source, at, end, words, shift);
            if (at < 0) return depth === 0 ? BAD_ARRAY : ODD;
            // Unbalanced braces inside an array confuse the reference's search for the object's end.
            if (depth > 0 && !bracesPair(source, arrayStart, at)) return ODD;
          } else {
            at = tokenEnd(source, at, end);
            valueEnd = at;
            const word = wordKind(source, valueStart, valueEnd);
            if (word === WORD_UNKNOWN) return depth === 0 ? UNKNOWN_VALUE : ODD;
            if (word === WORD_NUMBER && depth > 0 && !isPlainNumber(source, valueStart, valueEnd)) return ODD;
            if (word !== WORD_NULL) kind = KIND_CLEAN;
          }

          if (kind >= 0 && (!restricted || keys.wanted[entry] === 1)) {
            let id = keys.nameIds[entry];
            if (id >= 0) {
              if (labels.collides(id)) id = keys.suffixedIds[entry];
              const outcome = setParsedValue(labels, early, id, kind, source, valueStart, valueEnd);
              if (outcome !== OK) {
                // The surrounding objects must end, or nothing in them counts.
                return depth === 0 || closes(source, at, end, depth) ? outcome : ODD;
              }
            }
          }

          // The expected key follows in its usual frame: continue with its value.
          const next = keys.followerOf(entry);
          const nextValue = next < 0 ? -1 : keys.matchFramed(next, parent, source, at, end);
          if (nextValue < 0 || nextValue >= end || source[nextValue] <= 0x20) break;
          last = entry = next;
          at = nextValue;
        }
      } else if (byte === CLOSE_BRACE) {
        if (depth === 0) return OK;
        parent = parents[--depth];
        at++;
      } else return depth === 0 ? BAD_OBJECT : ODD;

      // The ends of objects follow a value, then a comma.
      for (;;) {
        if (at < end && source[at] <= 0x20) at = skipSpace(source, at, end);
        if (at >= end) return depth === 0 ? BAD_ARRAY : ODD;
        byte = source[at];
        if (byte === COMMA) break;
        if (byte !== CLOSE_BRACE) return depth === 0 ? BAD_OBJECT : ODD;
        if (depth === 0) return OK;
        parent = parents[--depth];
        at++;
      }
      at++;
      if (at < end && source[at] <= 0x20) at = skipSpace(source, at, end);
      if (at >= end) return depth === 0 ? BAD_ARRAY : ODD;
    }
  }
}

/** Returns the offset of the quote that ends a string whose content starts at `at`, or at least `end`. */
function markedStringEnd(source: Buffer, at: number, end: number, words: Int32Array, shift: number): number {
  let i = nextMark(words, shift, at);
  while (i < end && source[i] === BACKSLASH) i = i + 2 < end ? nextMark(words, shift, i + 2) : end;
  return i;
}

/** Works as `blockEnd`, with the ends of strings marked. */
function markedBlockEnd(source: Buffer, at: number, end: number, words: Int32Array, shift: number): number {
  const open = source[at];
  const close = open + 2;
  let depth = 0;
  for (let i = at; i < end; i++) {
    const byte = source[i];
    if (byte === QUOTE) {
      i = markedStringEnd(source, i + 1, end, words, shift);
      if (i >= end) return -1;
    } else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return i + 1;
  }
  return -1;
}

/** Returns whether all `depth` objects that are open at `at` end. */
function closes(source: Buffer, at: number, end: number, depth: number): boolean {
  let open = depth;
  let i = at;
  while (i < end) {
    const byte = source[i];
    if (byte === QUOTE) {
      i = stringEnd(source, i + 1, end);
      if (i < 0) return false;
    } else if (byte === OPEN_BRACE) open++;
    else if (byte === CLOSE_BRACE && --open === 0) return true;
    i++;
  }
  return false;
}

/** Returns whether the braces of an array are balanced outside strings. */
function bracesPair(source: Buffer, start: number, end: number): boolean {
  let open = 0;
  let i = start;
  while (i < end) {
    const byte = source[i];
    if (byte === QUOTE) {
      i = stringEnd(source, i + 1, end);
      if (i < 0) break;
    } else if (byte === OPEN_BRACE) open++;
    else if (byte === CLOSE_BRACE && --open < 0) return false;
    i++;
  }
  return open === 0;
}

/**
 * Returns false if a number contains a quote or an opening bracket, at which a search for an object's end
 * would stop.
 */
function isPlainNumber(source: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = source[i];
    if (byte === QUOTE || byte === OPEN_BRACE || byte === OPEN_BRACKET) return false;
  }
  return true;
}
