/**
 * From bytes to text as Go's libraries do it: invalid UTF-8 counts byte by byte (JavaScript's decoder counts by
 * broken sequence), escapes of JSON and logfmt, and label names made of any key (docs/dev/logql-semantics.md#label-names, #parsers).
 */
import { textOfBytes } from '../model/byte-text.ts';

const REPLACEMENT = '\ufffd';

/** Text of a byte range as json and logfmt read it: a broken byte or a U+FFFD becomes one space. */
export function decodeClean(source: Buffer, start: number, end: number): string {
  const text = source.utf8Slice(start, end);
  return text.includes(REPLACEMENT) ? cleaned(textOfBytes(source, start, end)) : text;
}

/** Broken bytes and U+FFFD as spaces. */
export function cleaned(text: string): string {
  return text.toWellFormed().replaceAll(REPLACEMENT, ' ');
}

// Go's unicode.IsSpace; String.trim would also cut U+FEFF and keep U+0085.
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** The text without white space at its ends. By hand: a pattern for the end looks at every run inside, over and over. */
function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text[start])) start++;
  while (end > start && SPACE.test(text[end - 1])) end--;
  return text.slice(start, end);
}

const PLAIN_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Label name of a key under a path that is already sanitised (`''` at the top). A blank key adds nothing, so the
 * answer may be `''`: such a key is ignored.
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

/** Inside of a JSON string, unescaped; undefined where an escape is wrong or a surrogate stands alone. */
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

/** Value of an escaped JSON string: `''` where it is wrong, broken bytes and U+FFFD as spaces. */
export function jsonStringValue(source: Buffer, start: number, end: number): string {
  return cleaned(unescapeJson(source, start, end) ?? '');
}

/** Inside of a quoted logfmt value, unescaped; undefined where an escape is wrong. A lone surrogate is U+FFFD. */
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

/** True where the inside of a quoted logfmt value has only right escapes. */
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

/** Code unit of the `\uXXXX` at `at`, or -1. */
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
