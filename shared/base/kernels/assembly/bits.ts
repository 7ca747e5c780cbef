/**
 * Bitmaps with one bit for each byte of a text, and scans over them. Eight bytes after the last word of a map
 * must be readable.
 */

/** Number of bits that one load returns. The first bit may have any position in its byte. */
export const LOOK_BITS: usize = 57;

/** Returns at least LOOK_BITS bits; the lowest is the bit of offset `at`. */
// @inline
export function bitsFrom(map: usize, at: usize): u64 {
  return load<u64>(map + (at >>> 3)) >>> (at & 7);
}

// @inline
export function isSet(map: usize, at: usize): bool {
  return ((load<u8>(map + (at >>> 3)) >>> (u8(at) & 7)) & 1) !== 0;
}

/** Returns the first offset from `from` on whose bit is set, or `end`. */
export function nextSet(map: usize, from: usize, end: usize): usize {
  for (let at = from; at < end; at += LOOK_BITS) {
    const bits = bitsFrom(map, at);
    if (bits !== 0) {
      const found = at + usize(ctz(bits));
      return found < end ? found : end;
    }
  }
  return end;
}

/** Returns the first offset from `from` on whose bit is clear, or `end`. */
export function nextClear(map: usize, from: usize, end: usize): usize {
  for (let at = from; at < end; at += LOOK_BITS) {
    const bits = ~load<u64>(map + (at >>> 3)) >>> (at & 7);
    if (bits !== 0) {
      const found = at + usize(ctz(bits));
      return found < end ? found : end;
    }
  }
  return end;
}
