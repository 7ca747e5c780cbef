/** Decodes escapes of JSON strings. */

const BACKSLASH = 0x5c;
const REPLACEMENT = 0xfffd;

/** Byte that `\x` represents, by the byte after the backslash. 0 if it is not a simple escape. */
export const UNESCAPED = new Uint8Array(256);
for (const [letter, value] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t']) {
  UNESCAPED[letter.charCodeAt(0)] = value.charCodeAt(0);
}

/**
 * Returns the code point of `\uXXXX` at `at`, of two of them for a surrogate pair, and U+FFFD for a lone
 * surrogate. -1 if there is none. The escape has 12 bytes from 0x10000 on, otherwise 6.
 */
export function unicodeEscape(bytes: Uint8Array, at: number): number {
  const high = hexUnit(bytes, at);
  if (high < 0xd800 || high > 0xdfff) return high;
  const low = high < 0xdc00 ? hexUnit(bytes, at + 6) : -1;
  if (low < 0xdc00 || low > 0xdfff) return REPLACEMENT;
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/** Returns the length of the escape of a code point, in bytes. */
export function unicodeEscapeLength(code: number): number {
  return code < 0x10000 ? 6 : 12;
}

/** Returns the unit of `\uXXXX` at an offset, or -1 if there is none. */
function hexUnit(bytes: Uint8Array, at: number): number {
  if (at + 6 > bytes.length || bytes[at] !== BACKSLASH || bytes[at + 1] !== 0x75) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const byte = bytes[i] | 0x20;
    const digit = byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : bytes[i] - 0x30;
    if (digit < 0 || digit > 15 || (digit > 9 && byte < 0x61)) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}
