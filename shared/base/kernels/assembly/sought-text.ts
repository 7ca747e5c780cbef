/**
 * Text that is searched for in the parts of a split page (split-search.ts). Each byte has one value, or one of two. The host writes
 * the values, and SOUGHT_BYTES / 2 bytes later the other ones.
 */

/** Maximum bytes of a text, because a mask has a bit for each of its parts. The start of a longer text is searched for. */
export const MAX_SOUGHT: usize = 64;
/** Bytes of both lists of values, with padding. */
export const SOUGHT_BYTES: usize = 256;
const OTHERS: usize = SOUGHT_BYTES / 2;

export const NONE: usize = usize.MAX_VALUE;

let textAt: usize = 0;
let length: usize = 0;

export function seek(text: usize, bytes: u32): void {
  textAt = text;
  length = min(usize(bytes), MAX_SOUGHT);
}

// @inline
export function soughtBytes(): usize {
  return length;
}

/** Returns whether byte number `i` of the text may be this one. */
// @inline
export function isByte(i: usize, byte: u32): bool {
  return byte === u32(load<u8>(textAt + i)) || byte === u32(load<u8>(textAt + i, OTHERS));
}

/** Value of byte number `i`, and the other one. */
// @inline
export function byteOf(i: usize): u32 {
  return u32(load<u8>(textAt + i));
}
// @inline
export function otherOf(i: usize): u32 {
  return u32(load<u8>(textAt + i, OTHERS));
}

/** Returns whether these bytes are those of the text from byte number `from` on. */
// @inline
export function isPart(at: usize, from: usize, bytes: usize): bool {
  for (let i: usize = 0; i < bytes; i++) if (!isByte(from + i, u32(load<u8>(at + i)))) return false;
  return true;
}

/** Returns the first address of the text between `from` and `end`, or NONE. Reads up to 15 bytes past the end. */
export function find(from: usize, end: usize): usize {
  const tail = length - 1;
  const first = i8x16.splat(u8(byteOf(0)));
  const first2 = i8x16.splat(u8(otherOf(0)));
  const last = i8x16.splat(u8(byteOf(tail)));
  const last2 = i8x16.splat(u8(otherOf(tail)));
  for (let at = from; at + tail < end; at += 16) {
    const starts = v128.load(at);
    const ends = v128.load(at + tail);
    let hits = i8x16.bitmask(
      v128.and(
        v128.or(i8x16.eq(starts, first), i8x16.eq(starts, first2)),
        v128.or(i8x16.eq(ends, last), i8x16.eq(ends, last2)),
      ),
    );
    for (; hits !== 0; hits &= hits - 1) {
      const hit = at + usize(ctz(hits));
      if (hit + tail >= end) return NONE;
      if (isPart(hit, 0, length)) return hit;
    }
  }
  return NONE;
}
