/**
 * Texts as Go has them, strings of bytes: one unit of the string for each byte, 0 to 255. All of the oracle works on them, so
 * that lengths, slices and comparisons mean bytes.
 */
import { bytesOfText, textOfBytes } from '../../../shared/base/model/byte-text.ts';

export type Bytes = string;

/** Bytes of a text of the query. */
export function toBytes(text: string): Bytes {
  return bytesOfText(text).toString('latin1');
}

/** The text that the product shows for the bytes. */
export function toText(bytes: Bytes): string {
  return textOfBytes(Buffer.from(bytes, 'latin1'));
}

interface Rune {
  /** U+FFFD for a byte that is not UTF-8. */
  readonly code: number;
  readonly size: number;
}

/** The character at `at`. */
export function runeAt(bytes: Bytes, at: number): Rune {
  const lead = bytes.charCodeAt(at);
  if (lead < 0x80) return { code: lead, size: 1 };
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const char = Buffer.from(bytes.slice(at, at + size), 'latin1').toString('utf8');
  const [code] = [...char].map(one => one.codePointAt(0)!);
  const isValid = Buffer.from(String.fromCodePoint(code)).toString('latin1') === bytes.slice(at, at + size);
  return isValid ? { code, size } : { code: 0xfffd, size: 1 };
}

export function runesOf(bytes: Bytes): number[] {
  const codes: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { code, size } = runeAt(bytes, at);
    codes.push(code);
    at += size;
  }
  return codes;
}

export function isAscii(bytes: Bytes): boolean {
  return /^[\0-\x7f]*$/.test(bytes);
}

/** Bytes of code points. */
export function bytesOfRunes(codes: readonly number[]): Bytes {
  return Buffer.from(codes.map(code => String.fromCodePoint(code)).join('')).toString('latin1');
}

/** Go's replacement of each broken byte, and of U+FFFD itself, by a space. */
export function withSpaces(bytes: Bytes): Bytes {
  return isAscii(bytes) ? bytes : bytesOfRunes(runesOf(bytes).map(code => (code === 0xfffd ? 0x20 : code)));
}

export function hasBrokenRune(bytes: Bytes): boolean {
  return !isAscii(bytes) && runesOf(bytes).includes(0xfffd);
}
