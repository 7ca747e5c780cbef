/**
 * Strings that can hold bytes that are not UTF-8, as Go's strings can. Such a byte b is stored as the lone
 * surrogate U+DC00 + b (Python's "surrogateescape"). Lines and label values thus preserve their bytes through
 * a query.
 *
 *     textOfBytes(Buffer.from([0x61, 0xff]))   // 'a\udcff'
 *     bytesOfText('a\udcff')                   // 61 ff
 *
 * Pitfall: neither UTF-8 encoders nor JSON support this convention. Write such a text to a client with
 * `toWellFormed()`: each byte becomes U+FFFD, as in the reference. A concatenated text can hold the bytes of
 * one character as several escapes; `canonicalText` joins them.
 */
import { utf8Length } from './utf8.ts';

const ESCAPE_BASE = 0xdc00;
const FIRST_ESCAPE = 0xdc80;
const LAST_ESCAPE = 0xdcff;
const REPLACEMENT = '\ufffd';

/** Decodes a byte range. */
export function textOfBytes(source: Buffer, start = 0, end = source.length): string {
  const text = source.utf8Slice(start, end);
  // Fast path: V8 stores ASCII and Latin-1 strings with one byte per unit. `includes` returns false for them
  // without a scan.
  return text.includes(REPLACEMENT) ? escaped(source, start, end) : text;
}

/**
 * Decodes with one escape for each invalid byte. The platform's decoder would merge a cut-off sequence of
 * several bytes into one U+FFFD.
 */
function escaped(source: Buffer, start: number, end: number): string {
  let text = '';
  let validFrom = start;
  for (let at = start; at < end; ) {
    const length = utf8Length(source, at, end);
    if (length === 0) {
      text += source.utf8Slice(validFrom, at) + String.fromCharCode(ESCAPE_BASE + source[at]);
      validFrom = at + 1;
    }
    at += Math.max(1, length);
  }
  return text + source.utf8Slice(validFrom, end);
}

/** Encodes a text, with its escapes as single bytes. */
export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts: Buffer[] = [];
  let plainFrom = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < FIRST_ESCAPE || code > LAST_ESCAPE || isLowHalf(text, at)) continue;
    parts.push(Buffer.from(text.slice(plainFrom, at)), Buffer.of(code - ESCAPE_BASE));
    plainFrom = at + 1;
  }
  parts.push(Buffer.from(text.slice(plainFrom)));
  return Buffer.concat(parts);
}

/** Returns whether the surrogate at `at` ends a pair. */
function isLowHalf(text: string, at: number): boolean {
  const before = at > 0 ? text.charCodeAt(at - 1) : 0;
  return before >= 0xd800 && before <= 0xdbff;
}

/** Returns the length of the encoded text, in bytes. */
export function byteLengthOf(text: string): number {
  return text.isWellFormed() ? Buffer.byteLength(text) : bytesOfText(text).length;
}

/** Returns bytes `start` to `end` of a text; both must be within the text. */
export function sliceBytes(text: string, start: number, end: number): string {
  if (Buffer.byteLength(text) === text.length) return text.slice(start, end);
  return textOfBytes(bytesOfText(text), start, end);
}

/** Returns the text with escapes only for bytes that belong to no character. */
export function canonicalText(text: string): string {
  return text.isWellFormed() ? text : textOfBytes(bytesOfText(text));
}

/** Returns the text before its first byte that is not UTF-8. */
export function wellFormedPrefix(text: string): string {
  if (text.isWellFormed()) return text;
  let end = 0;
  for (const char of text) {
    if (!char.isWellFormed()) break;
    end += char.length;
  }
  return text.slice(0, end);
}

/** Returns the byte that a character (as `for...of` yields it) escapes, or -1. */
export function escapedByte(char: string): number {
  const code = char.length === 1 ? char.charCodeAt(0) : 0;
  return code >= FIRST_ESCAPE && code <= LAST_ESCAPE ? code - ESCAPE_BASE : -1;
}
