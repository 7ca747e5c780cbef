/**
 * Terms that equality implies and containment does not: the whole value of a field that a JSON or logfmt
 * parser finds, or of structured metadata. `| json | user_id="u-123"` or `status="503"` looks up one such
 * term. Three digits are too short for any other term.
 *
 * Pitfall: field values are recorded only if `isRecordedValue` accepts them, which depends only on the value,
 * so that lookups can decide in the same way. A page's terms cover a parser only if all its lines are valid
 * for it (field-extractor.ts) or yield no label. Otherwise the page has the flag `jsonUnknown` or
 * `logfmtUnknown`.
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
import { DIGIT_BIT, LETTER_BIT, MIN_TOKEN_BYTES, PREFIX_BYTES, symbolOf, valueTermOf } from './terms.ts';

// Local copy: in a vm context, where tests run, each access to a global costs as much as a line.
const { imul, min } = Math;

/** Maximum bytes of a value; longer values have terms of their bytes. */
const MAX_VALUE_BYTES = 12;
/** Maximum bytes with escapes: an escape uses up to six bytes for one. */
const MAX_ESCAPED_BYTES = 6 * MAX_VALUE_BYTES;

const DOT_BYTE = 0x2e;
const SPACE_BYTE = 0x20;
const MINUS_BYTE = 0x2d;

/**
 * Returns true for short values without a space. Excludes numbers with a fraction, which queries rarely
 * compare for equality. Also excludes a single run of letters and digits with a token or a prefix.
 */
export function isRecordedValue(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length === 0 || length > MAX_VALUE_BYTES) return false;
  // Avoid branches on the bytes, because values differ from line to line.
  let early = 0;
  let at = start;
  for (const stop = start + min(length, PREFIX_BYTES); at < stop; at++) early |= SIGN_OF[bytes[at]];
  let all = early;
  for (; at < end; at++) all |= SIGN_OF[bytes[at]];
  if ((all & SPACE) !== 0) return false;
  const first = bytes[start] === MINUS_BYTE && length > 1 ? bytes[start + 1] : bytes[start];
  if ((all & DOT) !== 0 && SIGN_OF[first] === DIGIT) return false;
  return (all & ~(LETTER | DIGIT)) !== 0 || length < MIN_TOKEN_BYTES || (early & DIGIT) === 0;
}

const LETTER = 1;
const DIGIT = 2;
const DOT = 4;
const SPACE = 8;
const OTHER = 16;
const SIGN_OF = Uint8Array.from(symbolOf, symbol => {
  if ((symbol & DIGIT_BIT) !== 0) return DIGIT;
  if ((symbol & LETTER_BIT) !== 0) return LETTER;
  return symbol === DOT_BYTE ? DOT : symbol === SPACE_BYTE ? SPACE : OTHER;
});

/** Returns the word of a field, from its sanitized label name. */
export function fieldWord(name: string): number {
  return wordOf(Buffer.from(name), 0x3ad8025f);
}

/** Returns the word of structured metadata, from its name as stored. */
export function metadataWord(name: string): number {
  return wordOf(Buffer.from(name), 0x6c8e9cf5);
}

function wordOf(bytes: Uint8Array, seed: number): number {
  return hashBytes(bytes, 0, bytes.length, seed);
}

/** @param word Word of the name */
export function valueTerm(word: number, bytes: Uint8Array, start: number, end: number): number {
  return valueTermOf(word, hashBytes(bytes, start, end, end - start));
}

/** Hashes four bytes per step. The last ones may be read twice, because the length is mixed in. */
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

/** Adds the values of all valid lines. Returns the PageFlag bits of parsers for which lines are missing. */
export function addFieldValues(fields: PageFields, lineOffsets: Uint32Array, found: TermSet): number {
  for (const side of [fields.json, fields.logfmt]) {
    // The table also contains keys of earlier pages: compute words only for keys that occur.
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

/**
 * JSON parsers set no label for other lines: plain ones require an object, expressions a brace, bracket or
 * quote first.
 */
function mayBeJson(lines: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && lines[at] <= SPACE_BYTE) at++;
  if (at === end) return false;
  const byte = lines[at];
  return byte === 0x7b || byte === 0x5b || byte === 0x22;
}

/** Adds values that the kernel skips because their escapes need decoding. */
function addEscapedValues(
  lines: Buffer,
  { parser, members }: ParserFields,
  words: Uint32Array,
  found: TermSet,
): void {
  const { entries, starts, ends, kinds } = members;
  for (let i = kinds.indexOf(ESCAPED); i >= 0; i = kinds.indexOf(ESCAPED, i + 1)) {
    if (ends[i] - starts[i] > MAX_ESCAPED_BYTES) continue;
    const textOf = parser === 'json' ? jsonStringValue : unquoteLogfmt;
    const bytes = Buffer.from(textOf(lines, starts[i], ends[i]) ?? '');
    if (isRecordedValue(bytes, 0, bytes.length))
      found.add(valueTerm(words[entries[i]], bytes, 0, bytes.length));
  }
}

/** Adds all values of a structured metadata name, without exclusions. */
export function addMetadataValues(name: string, values: readonly Uint8Array[], found: TermSet): void {
  const word = metadataWord(name);
  for (const value of values) found.add(valueTerm(word, value, 0, value.length));
}
