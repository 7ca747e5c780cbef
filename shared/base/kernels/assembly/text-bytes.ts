/** Bytes that JSON and logfmt are made of, and which of 16 bytes end a part of a line. */

export const SPACE: u32 = 0x20;
export const QUOTE: u32 = 0x22;
export const COMMA: u32 = 0x2c;
export const COLON: u32 = 0x3a;
export const EQUALS: u32 = 0x3d;
export const OPEN_BRACKET: u32 = 0x5b;
export const BACKSLASH: u32 = 0x5c;
export const CLOSE_BRACKET: u32 = 0x5d;
export const OPEN_BRACE: u32 = 0x7b;
export const CLOSE_BRACE: u32 = 0x7d;

/** A bit for each quote and backslash: what the plain part of a string ends at. */
// @inline
export function quoteBits(text: v128): u32 {
  return i8x16.bitmask(
    v128.or(i8x16.eq(text, i8x16.splat(u8(QUOTE))), i8x16.eq(text, i8x16.splat(u8(BACKSLASH)))),
  );
}

/** A bit for each separator, equals sign and quote: what a bare word ends at. */
// @inline
export function bareEndBits(text: v128): u32 {
  const marks = v128.or(i8x16.eq(text, i8x16.splat(u8(QUOTE))), i8x16.eq(text, i8x16.splat(u8(EQUALS))));
  return i8x16.bitmask(v128.or(marks, i8x16.lt_u(text, i8x16.splat(u8(SPACE + 1)))));
}
