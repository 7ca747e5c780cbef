/**
 * Strings that can hold bytes that are not UTF-8, as Go's strings can. Such a byte b is the lone surrogate U+DC00 + b
 * (Python calls this "surrogateescape"), so that lines and label values keep their bytes through a query.
 *
 *     textOfBytes(Buffer.from([0x61, 0xff]))   // 'a\udcff'
 *     bytesOfText('a\udcff')                   // 61 ff
 *
 * Pitfall: neither UTF-8 encoders nor JSON know the convention. Write such a text to a client with `toWellFormed()`: each byte
 * becomes U+FFFD, which is what the reference shows. A text that was put together of parts can hold the bytes of one
 * character as several escapes; `canonicalText` joins them.
 */
const ESCAPE_BASE = 0xdc00;
const FIRST_ESCAPE = 0xdc80;
const LAST_ESCAPE = 0xdcff;
const REPLACEMENT = '\ufffd';

/** Length of the UTF-8 sequence at `at`, bytes; 0 if there is none (RFC 3629, section 4). */
export function sequenceLength(source: Uint8Array, at: number, end: number): number {
  const lead = source[at];
  if (lead < 0x80) return 1;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > end) return 0;
  // The second byte rules out overlong forms, surrogates and what is above U+10FFFF.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = source[at + 1];
  if (second < low || second > high) return 0;
  for (let i = 2; i < length; i++) if ((source[at + i] & 0xc0) !== 0x80) return 0;
  return length;
}

/** Text of a byte range. */
export function textOfBytes(source: Buffer, start = 0, end = source.length): string {
  const text = source.utf8Slice(start, end);
  // A text of one-byte units cannot hold U+FFFD, and V8 then answers without looking.
  return text.includes(REPLACEMENT) ? escaped(source, start, end) : text;
}

/** The platform's decoder makes one U+FFFD of a cut-off sequence of several bytes; here each byte counts. */
function escaped(source: Buffer, start: number, end: number): string {
  let text = '';
  let validFrom = start;
  for (let at = start; at < end; ) {
    const length = sequenceLength(source, at, end);
    if (length === 0) {
      text += source.utf8Slice(validFrom, at) + String.fromCharCode(ESCAPE_BASE + source[at]);
      validFrom = at + 1;
    }
    at += Math.max(1, length);
  }
  return text + source.utf8Slice(validFrom, end);
}

/** The bytes that a text stands for. */
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

/** True if the surrogate at `at` ends a pair. */
function isLowHalf(text: string, at: number): boolean {
  const before = at > 0 ? text.charCodeAt(at - 1) : 0;
  return before >= 0xd800 && before <= 0xdbff;
}

/** Length of the bytes that a text stands for. */
export function byteLengthOf(text: string): number {
  return text.isWellFormed() ? Buffer.byteLength(text) : bytesOfText(text).length;
}

/** Bytes `start` to `end` of a text, both inside it. */
export function sliceBytes(text: string, start: number, end: number): string {
  if (Buffer.byteLength(text) === text.length) return text.slice(start, end);
  return textOfBytes(bytesOfText(text), start, end);
}

/** The text whose escapes are only bytes that belong to no character. */
export function canonicalText(text: string): string {
  return text.isWellFormed() ? text : textOfBytes(bytesOfText(text));
}

/** The text up to its first byte that is not UTF-8. */
export function wellFormedPrefix(text: string): string {
  if (text.isWellFormed()) return text;
  let end = 0;
  for (const char of text) {
    if (!char.isWellFormed()) break;
    end += char.length;
  }
  return text.slice(0, end);
}

/** The byte that a character of a text (as `for...of` gives it) escapes, or -1. */
export function escapedByte(char: string): number {
  const code = char.length === 1 ? char.charCodeAt(0) : 0;
  return code >= FIRST_ESCAPE && code <= LAST_ESCAPE ? code - ESCAPE_BASE : -1;
}
