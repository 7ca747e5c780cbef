/**
 * Decodes bytes to text as Go's libraries do. Invalid UTF-8 counts byte by byte, whereas JavaScript's decoder
 * counts broken sequences. The module also unescapes JSON and logfmt, and derives label names from keys
 * (docs/dev/logql-semantics.md#label-names, #parsers).
 */
import { textOfBytes } from '../model/byte-text.ts';

const REPLACEMENT = '\ufffd';

/** Decodes a byte range as json and logfmt read it: an invalid byte or a U+FFFD becomes one space. */
export function decodeClean(source: Buffer, start: number, end: number): string {
  const text = source.utf8Slice(start, end);
  return text.includes(REPLACEMENT) ? cleaned(textOfBytes(source, start, end)) : text;
}

/** Replaces invalid bytes and U+FFFD by spaces. */
export function cleaned(text: string): string {
  return text.toWellFormed().replaceAll(REPLACEMENT, ' ');
}

// White space as in Go's unicode.IsSpace. String.trim would also remove U+FEFF and would preserve U+0085.
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/**
 * Removes white space at both ends. A regular expression for the end would retry at every run of white space.
 */
function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text[start])) start++;
  while (end > start && SPACE.test(text[end - 1])) end--;
  return text.slice(start, end);
}

const PLAIN_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Returns the label name of a key under a sanitized path (`''` at the top). A blank key adds nothing, so the
 * result can be `''`: such a key is ignored.
 */
export function sanitizeName(path: string, key: string): string {
  let part = key;
  if (!PLAIN_NAME.test(part)) {
    part = trimSpace(part);
    if (part === '') return path;
    part = part.replace(/[^a-zA-Z0-9_]/gu, '_');
    if (path === '' && part[0] >= '0' && part[0] <= '9') part = `_${part}`;
  }
  return path === '' ? part : `${path}_${part}`;
}

const SIMPLE_ESCAPES = new Map<number, string>([
  [0x22, '"'],
  [0x5c, '\\'],
  [0x2f, '/'],
  [0x62, '\b'],
  [0x66, '\f'],
  [0x6e, '\n'],
  [0x72, '\r'],
  [0x74, '\t'],
]);
const BACKSLASH = 0x5c;

/**
 * Unescapes the content of a JSON string. Returns undefined if an escape is invalid or a surrogate is
 * unpaired.
 */
export function unescapeJson(source: Buffer, start: number, end: number): string | undefined {
  let out = '';
  let at = start;
  while (at < end) {
    const slash = indexOfByte(source, BACKSLASH, at, end);
    if (slash > at) out += textOfBytes(source, at, slash);
    if (slash === end) break;
    const simple = slash + 1 < end ? SIMPLE_ESCAPES.get(source[slash + 1]) : undefined;
    if (simple !== undefined) {
      out += simple;
      at = slash + 2;
      continue;
    }
    const first = unicodeEscape(source, slash, end);
    if (first < 0) return undefined;
    if (first < 0xd800 || first > 0xdfff) {
      out += String.fromCharCode(first);
      at = slash + 6;
      continue;
    }
    const second = first <= 0xdbff ? unicodeEscape(source, slash + 6, end) : -1;
    if (second < 0xdc00 || second > 0xdfff) return undefined;
    out += String.fromCharCode(first, second);
    at = slash + 12;
  }
  return out;
}

/**
 * Returns the value of an escaped JSON string, `''` if it is invalid. Invalid bytes and U+FFFD become spaces.
 */
export function jsonStringValue(source: Buffer, start: number, end: number): string {
  return cleaned(unescapeJson(source, start, end) ?? '');
}

/**
 * Unescapes the content of a quoted logfmt value. Returns undefined if an escape is invalid. A lone surrogate
 * becomes U+FFFD.
 */
export function unquoteLogfmt(source: Buffer, start: number, end: number): string | undefined {
  let out = '';
  let at = start;
  while (at < end) {
    const slash = indexOfByte(source, BACKSLASH, at, end);
    if (slash > at) out += textOfBytes(source, at, slash);
    if (slash === end) break;
    if (slash + 1 >= end) return undefined;
    const simple = source[slash + 1] === 0x27 ? "'" : SIMPLE_ESCAPES.get(source[slash + 1]);
    if (simple !== undefined) {
      out += simple;
      at = slash + 2;
      continue;
    }
    const first = unicodeEscape(source, slash, end);
    if (first < 0) return undefined;
    at = slash + 6;
    if (first < 0xd800 || first > 0xdfff) {
      out += String.fromCharCode(first);
      continue;
    }
    const second = first <= 0xdbff ? unicodeEscape(source, at, end) : -1;
    if (second >= 0xdc00 && second <= 0xdfff) {
      out += String.fromCharCode(first, second);
      at += 6;
    } else out += REPLACEMENT;
  }
  return out;
}

/** Returns whether the content of a quoted logfmt value has only valid escapes. */
export function isUnquotable(source: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (source[at] !== BACKSLASH) continue;
    if (at + 1 >= end) return false;
    const next = source[at + 1];
    if (next === 0x27 || SIMPLE_ESCAPES.has(next)) at++;
    else if (unicodeEscape(source, at, end) >= 0) at += 5;
    else return false;
  }
  return true;
}

function indexOfByte(source: Buffer, byte: number, start: number, end: number): number {
  for (let i = start; i < end; i++) if (source[i] === byte) return i;
  return end;
}

/** Returns the code unit of the `\uXXXX` at `at`, or -1. */
function unicodeEscape(source: Buffer, at: number, end: number): number {
  if (at + 6 > end || source[at] !== BACKSLASH || source[at + 1] !== 0x75) return -1;
  let code = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const digit = hexDigit(source[i]);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
