/** Bytes of JSON and logfmt syntax, and tests of 16 bytes for those that end a part of a line. */

export const SPACE: u32 = 0x20;
export const QUOTE: u32 = 0x22;
export const COMMA: u32 = 0x2c;
export const DOT: u32 = 0x2e;
export const COLON: u32 = 0x3a;
export const EQUALS: u32 = 0x3d;
export const OPEN_BRACKET: u32 = 0x5b;
export const BACKSLASH: u32 = 0x5c;
export const CLOSE_BRACKET: u32 = 0x5d;
export const OPEN_BRACE: u32 = 0x7b;
export const CLOSE_BRACE: u32 = 0x7d;

// @inline
export function isDigit(byte: u32): bool {
  return byte - 0x30 < 10;
}

/** Whether a byte is a letter or digit of ASCII. */
// @inline
export function isAlnum(byte: u32): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 < 26;
}

/** Returns a bit for each of two bytes, 16 times each. */
// @inline
export function eitherBits(text: v128, a: v128, b: v128): u32 {
  return i8x16.bitmask(v128.or(i8x16.eq(text, a), i8x16.eq(text, b)));
}

/** Returns a bit for each quote and backslash: the bytes that end the plain part of a string. */
// @inline
export function quoteBits(text: v128): u32 {
  return eitherBits(text, i8x16.splat(u8(QUOTE)), i8x16.splat(u8(BACKSLASH)));
}

/** Returns the address of the first quote or backslash from `from` on, or `end`. */
function plainEnd(from: usize, end: usize): usize {
  for (let at = from; at < end; at += 16) {
    const bits = quoteBits(v128.load(at));
    if (bits !== 0) return min(at + usize(ctz(bits)), end);
  }
  return end;
}

/** Returns the address of the closing quote of a string whose text begins at `from`, or `end`. */
export function stringEnd(from: usize, end: usize): usize {
  let at = plainEnd(from, end);
  while (at < end && load<u8>(at) === u8(BACKSLASH)) at = plainEnd(at + 2, end);
  return at;
}

/** Returns a bit for each separator, equals sign and quote: the bytes that end a bare word. */
// @inline
export function bareEndBits(text: v128): u32 {
  const separators = i8x16.lt_u(text, i8x16.splat(u8(SPACE + 1)));
  return eitherBits(text, i8x16.splat(u8(QUOTE)), i8x16.splat(u8(EQUALS))) | i8x16.bitmask(separators);
}
