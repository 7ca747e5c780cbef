/**
 * Scans JSON tokens as loosely as the reference does (docs/dev/logql-semantics.md#json). Strings end at the next unescaped
 * quote. Blocks are matched only by their own kind of bracket. Bare words extend to the next delimiter. The
 * module also lists the failures of such a scan. All functions work on a byte range and take time linear in
 * its length.
 */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/**
 * Maximum depth of nested objects; deeper ones are skipped. Real label names do not have that many parts.
 */
export const MAX_JSON_DEPTH = 128;

export const JSON_PARSER_ERROR = 'JSONParserErr';

// Outcomes of a scan: OK, or an index of JSON_FAILURES.
export const OK = 0;
export const BAD_OBJECT = 1;
export const BAD_ARRAY = 2;
export const BAD_STRING = 3;
export const BAD_JSON = 4;
export const UNKNOWN_VALUE = 5;
export const BAD_KEY_ESCAPE = 6;

/** Values of `__error_details__`, by outcome. */
export const JSON_FAILURES: readonly string[] = [
  '',
  "Value looks like object, but can't find closing '}' symbol",
  "Value is array, but can't find closing ']' symbol",
  `Value is string, but can't find closing '"' symbol`,
  'Malformed JSON error',
  'Unknown value type',
  'Encountered an invalid escape sequence in a string',
];

/** Returns the offset of the first byte that is not JSON white space, or `end`. */
export function skipSpace(source: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end) {
    const byte = source[i];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return i;
    i++;
  }
  return end;
}

/** Returns the offset of the first quote or backslash from `at`, or `end`. */
function plainEnd(source: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && source[i] !== QUOTE && source[i] !== BACKSLASH) i++;
  return i;
}

/** Returns the offset of the quote that ends a string whose content starts at `at`, or -1. */
export function stringEnd(source: Buffer, at: number, end: number): number {
  let i = plainEnd(source, at, end);
  while (i < end && source[i] === BACKSLASH) i = plainEnd(source, i + 2, end);
  return i < end ? i : -1;
}

/** Returns whether a string with this content has an escape. */
export function hasEscape(source: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (source[i] === BACKSLASH) return true;
  return false;
}

/**
 * Returns the offset after the block that opens at `at`, or -1 if it never ends. Ignores brackets of the
 * other kind.
 */
export function blockEnd(source: Buffer, at: number, end: number): number {
  const open = source[at];
  const close = open + 2;
  let depth = 0;
  let i = at;
  while (i < end) {
    const byte = source[i];
    if (byte === QUOTE) {
      i = stringEnd(source, i + 1, end);
      if (i < 0) return -1;
    } else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return i + 1;
    i++;
  }
  return -1;
}

/** Returns the offset after a number or bare word. */
export function tokenEnd(source: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end) {
    const byte = source[i];
    if (byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)) return i;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return i;
    i++;
  }
  return end;
}

/** Returns the offset of the value of a key whose closing quote is before `at`, or -1 if it has no value. */
export function valueOfKey(source: Buffer, at: number, end: number): number {
  const colon = skipSpace(source, at, end);
  if (colon >= end || source[colon] !== COLON) return -1;
  const value = skipSpace(source, colon + 1, end);
  return value < end ? value : -1;
}

/**
 * Returns the offset of the member after a value that ends before `at`. Without a further member, returns
 * `~outcome`, which is negative: the outcome is OK at the end of the object, otherwise a failure.
 */
export function nextMember(source: Buffer, at: number, end: number): number {
  const separator = skipSpace(source, at, end);
  if (separator >= end) return ~BAD_ARRAY;
  if (source[separator] === CLOSE_BRACE) return ~OK;
  if (source[separator] !== COMMA) return ~BAD_OBJECT;
  const member = skipSpace(source, separator + 1, end);
  return member < end ? member : ~BAD_ARRAY;
}

export const WORD_UNKNOWN = 0;
export const WORD_NUMBER = 1;
const WORD_BOOLEAN = 2;
export const WORD_NULL = 3;

/** Returns the kind of a bare word. Its first byte alone identifies a number. */
export function wordKind(source: Buffer, start: number, end: number): number {
  const first = source[start];
  if ((first >= 0x30 && first <= 0x39) || first === 0x2d) return WORD_NUMBER;
  if (first === 0x74) return matches(source, start, end, TRUE) ? WORD_BOOLEAN : WORD_UNKNOWN;
  if (first === 0x66) return matches(source, start, end, FALSE) ? WORD_BOOLEAN : WORD_UNKNOWN;
  if (first === 0x6e) return matches(source, start, end, NULL) ? WORD_NULL : WORD_UNKNOWN;
  return WORD_UNKNOWN;
}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

function matches(source: Buffer, start: number, end: number, word: Buffer): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (source[start + i] !== word[i]) return false;
  return true;
}
