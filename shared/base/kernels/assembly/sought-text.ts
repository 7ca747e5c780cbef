/**
 * Text that is searched for in the parts of a split page (split-search.ts). Each byte has one value, or one of two. The host writes
 * the values, and SOUGHT_OTHERS bytes later the other ones.
 */

/** Maximum bytes of a text, because a mask has a bit for each of its parts. The start of a longer text is searched for. */
export const MAX_SOUGHT: usize = 64;
/** Offset of the other values. Both lists have padding. */
export const SOUGHT_OTHERS: usize = 128;
/** A mask for each byte: the positions in the text that may have it. */
const POSITIONS: usize = 256;
export const SOUGHT_BYTES: usize = POSITIONS + 8 * 256;

export const NONE: usize = usize.MAX_VALUE;

let textAt: usize = 0;
let length: usize = 0;

/** Offsets of the two bytes that are compared first, ascending: those that are rare in lines. */
let firstAt: usize = 0;
let secondAt: usize = 0;

/**
 * Sets the text.
 * @param bytes From 2 to MAX_SOUGHT
 */
export function seek(text: usize, bytes: u32, first: usize, second: usize): void {
  textAt = text;
  length = usize(bytes);
  firstAt = first;
  secondAt = second;
  memory.fill(textAt + POSITIONS, 0, 8 * 256);
  for (let i: usize = 0; i < length; i++) {
    addPosition(byteOf(i), i);
    addPosition(otherOf(i), i);
  }
}

function addPosition(byte: u32, i: usize): void {
  const mask = textAt + POSITIONS + (usize(byte) << 3);
  store<u64>(mask, load<u64>(mask) | (u64(1) << u64(i)));
}

/** Bit i: byte number `i` of the text may be this one. */
// @inline
function positionsOf(byte: u32): u64 {
  return load<u64>(textAt + POSITIONS + (usize(byte) << 3));
}

// @inline
export function soughtBytes(): usize {
  return length;
}

/** Returns whether byte number `i` of the text may be this one. */
// @inline
export function isByte(i: usize, byte: u32): bool {
  return byte === u32(load<u8>(textAt + i)) || byte === u32(load<u8>(textAt + i, SOUGHT_OTHERS));
}

/** Value of byte number `i`, and the other one. */
// @inline
export function byteOf(i: usize): u32 {
  return u32(load<u8>(textAt + i));
}
// @inline
export function otherOf(i: usize): u32 {
  return u32(load<u8>(textAt + i, SOUGHT_OTHERS));
}

/** Returns whether these bytes are those of the text from byte number `from` on. */
// @inline
export function isPart(at: usize, from: usize, bytes: usize): bool {
  for (let i: usize = 0; i < bytes; i++) if (!isByte(from + i, u32(load<u8>(at + i)))) return false;
  return true;
}

/** Returns the splits of the text at the end of a literal. Bit k: the literal ends with the first k bytes. */
export function splitsBefore(literal: usize, bytes: usize): u64 {
  if (bytes === 0) return 0;
  const end = literal + bytes;
  let splits: u64 = 0;
  for (let left = (positionsOf(u32(load<u8>(end - 1))) << 1) & allSplits(); left !== 0; left &= left - 1) {
    const k = usize(ctz(left));
    if (k <= bytes && isPart(end - k, 0, k)) splits |= u64(1) << u64(k);
  }
  return splits;
}

/** Returns the splits of the text at the start of a literal. Bit k: the literal continues with what follows the first k bytes. */
export function splitsAfter(literal: usize, bytes: usize): u64 {
  if (bytes === 0) return allSplits();
  let splits: u64 = 0;
  for (let left = positionsOf(u32(load<u8>(literal))) & allSplits(); left !== 0; left &= left - 1) {
    const k = usize(ctz(left));
    if (isPart(literal, k, min(bytes, length - k))) splits |= u64(1) << u64(k);
  }
  return splits;
}

/** Bit k: the first k bytes, and at least one more. */
// @inline
function allSplits(): u64 {
  return (u64.MAX_VALUE >>> (64 - u64(length))) & ~u64(1);
}

/** Returns the first address of the text between `from` and `end`, or NONE. Reads up to 15 bytes past the end. */
export function find(from: usize, end: usize): usize {
  if (end < from + length) return NONE;
  const stop = end - length + 1;
  const first = i8x16.splat(u8(byteOf(firstAt)));
  const first2 = i8x16.splat(u8(otherOf(firstAt)));
  const second = i8x16.splat(u8(byteOf(secondAt)));
  const second2 = i8x16.splat(u8(otherOf(secondAt)));
  for (let at = from; at < stop; at += 16) {
    const a = v128.load(at + firstAt);
    const b = v128.load(at + secondAt);
    const isFirst = v128.or(i8x16.eq(a, first), i8x16.eq(a, first2));
    const isSecond = v128.or(i8x16.eq(b, second), i8x16.eq(b, second2));
    for (let hits = i8x16.bitmask(v128.and(isFirst, isSecond)); hits !== 0; hits &= hits - 1) {
      const hit = at + usize(ctz(hits));
      if (hit >= stop) return NONE;
      if (isPart(hit, 0, length)) return hit;
    }
  }
  return NONE;
}
