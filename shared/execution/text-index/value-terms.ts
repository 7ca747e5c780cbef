/**
 * Facts that equality implies and containment does not: the whole value of a field that a JSON or logfmt parser would find,
 * and of structured metadata. `| json | user_id="u-123"` or `status="503"` asks for one such fact, where three digits are
 * too short for any fact of bytes in a row.
 *
 * What a reader would get wrong: values of fields are recorded only where `isRecordedValue` says so, by the value alone, so
 * that whoever asks knows. And a page's facts cover a parser only where all its lines are sound for it (field-extractor.ts) or
 * give it nothing; else it has the flag `jsonUnknown` or `logfmtUnknown`.
 */

import { fieldScannerOfThread } from '../../base/kernels/field-scanner.ts';
import type { TermSet } from '../../base/kernels/term-set.ts';
import { jsonStringValue, unquoteLogfmt } from '../../base/text/text.ts';
import {
  JSON_ROW,
  LOGFMT_ROW,
  type PageFields,
  type ParserFields,
} from '../../storage/columns/field-extractor.ts';
import { ESCAPED } from '../../storage/columns/line-members.ts';
import { PageFlag } from './filter-layout.ts';
import { digitBit, letterBit, minTokenBytes, prefixBytes, symbolOf, valueFactOf } from './terms.ts';

// Looked up once: in a vm context, where tests run, each look at a global costs as much as a line.
const { imul, min } = Math;

/** Longer values have facts of their bytes. */
export const maxValueBytes = 12;
/** An escape takes six bytes at most for one of the value. */
const maxEscapedBytes = 6 * maxValueBytes;

const dot = 0x2e;
const space = 0x20;
const minus = 0x2d;

/**
 * True for short values without a space. Not for numbers with a fraction, which nobody asks for by equality, nor for one run of
 * letters and digits that has a token or a prefix.
 */
export function isRecordedValue(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length === 0 || length > maxValueBytes) return false;
  // Without a branch on what the bytes are: values differ from line to line.
  let early = 0;
  let at = start;
  for (const stop = start + min(length, prefixBytes); at < stop; at++) early |= signOf[bytes[at]];
  let all = early;
  for (; at < end; at++) all |= signOf[bytes[at]];
  if ((all & SPACE) !== 0) return false;
  const first = bytes[start] === minus && length > 1 ? bytes[start + 1] : bytes[start];
  if ((all & DOT) !== 0 && signOf[first] === DIGIT) return false;
  return (all & ~(LETTER | DIGIT)) !== 0 || length < minTokenBytes || (early & DIGIT) === 0;
}

const LETTER = 1;
const DIGIT = 2;
const DOT = 4;
const SPACE = 8;
const OTHER = 16;
const signOf = Uint8Array.from(symbolOf, symbol => {
  if ((symbol & digitBit) !== 0) return DIGIT;
  if ((symbol & letterBit) !== 0) return LETTER;
  return symbol === dot ? DOT : symbol === space ? SPACE : OTHER;
});

/** Of fields: the sanitised label name. */
export function fieldWord(name: string): number {
  return wordOf(Buffer.from(name), 0x3ad8025f);
}

/** Of structured metadata: the name as stored. */
export function metadataWord(name: string): number {
  return wordOf(Buffer.from(name), 0x6c8e9cf5);
}

function wordOf(bytes: Uint8Array, seed: number): number {
  return hashBytes(bytes, 0, bytes.length, seed);
}

/** @param word of the name */
export function valueFact(word: number, bytes: Uint8Array, start: number, end: number): number {
  return valueFactOf(word, hashBytes(bytes, start, end, end - start));
}

/** Four bytes a step; the last ones may count twice, since the length is mixed in. */
function hashBytes(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let h = imul(seed ^ (end - start), 0x9e3779b1);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    h = imul(h ^ word, 0x85ebca6b);
    h ^= h >>> 15;
  }
  let rest = 0;
  for (; at < end; at++) rest = (rest << 8) | bytes[at];
  h = imul(h ^ rest, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Adds the values of all sound lines; the bits of PageFlag that say for which parsers they are not all. */
export function addFieldValues(fields: PageFields, lineOffsets: Uint32Array, found: TermSet): number {
  for (const side of [fields.json, fields.logfmt]) {
    // A table keeps the keys of pages before: only those that occur are asked for.
    const { first } = side.members;
    const words = Uint32Array.from(side.table.names, (name, i) =>
      first[i] < first[i + 1] ? fieldWord(name) : 0,
    );
    fieldScannerOfThread().addValueTerms(side.parser, words, found);
    addEscapedValues(fields.lines, side, words, found);
  }
  let flags = 0;
  const { lines, rows, parserOf } = fields;
  for (let row = 0; row < rows; row++) {
    const parser = parserOf[row];
    if (parser !== LOGFMT_ROW) flags |= PageFlag.logfmtUnknown;
    if (parser !== JSON_ROW && mayBeJson(lines, lineOffsets[row], lineOffsets[row + 1]))
      flags |= PageFlag.jsonUnknown;
  }
  return flags;
}

/** Of other lines JSON parsers make no label: plain ones want an object, expressions a brace, bracket or quote first. */
function mayBeJson(lines: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && lines[at] <= space) at++;
  if (at === end) return false;
  const byte = lines[at];
  return byte === 0x7b || byte === 0x5b || byte === 0x22;
}

/** Those that the kernel leaves: what they stand for takes a text. */
function addEscapedValues(
  lines: Buffer,
  { parser, members }: ParserFields,
  words: Uint32Array,
  found: TermSet,
): void {
  const { entries, starts, ends, kinds } = members;
  for (let i = kinds.indexOf(ESCAPED); i >= 0; i = kinds.indexOf(ESCAPED, i + 1)) {
    if (ends[i] - starts[i] > maxEscapedBytes) continue;
    const textOf = parser === 'json' ? jsonStringValue : unquoteLogfmt;
    const bytes = Buffer.from(textOf(lines, starts[i], ends[i]) ?? '');
    if (isRecordedValue(bytes, 0, bytes.length))
      found.add(valueFact(words[entries[i]], bytes, 0, bytes.length));
  }
}

/** All values of a name of structured metadata, whatever they are. */
export function addMetadataValues(name: string, values: readonly Uint8Array[], found: TermSet): void {
  const word = metadataWord(name);
  for (const value of values) found.add(valueFact(word, value, 0, value.length));
}
