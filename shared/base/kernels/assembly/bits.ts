/** Bitmaps with one bit for each byte of a text, and walks over them. Eight bytes behind the last word of a map are readable. */

/** Bits of one look at a map: the first may stand anywhere in its byte. */
export const LOOK_BITS: usize = 57;

/** At least LOOK_BITS bits, the lowest is that of place `at`. */
// @inline
export function bitsFrom(map: usize, at: usize): u64 {
  return load<u64>(map + (at >>> 3)) >>> (at & 7);
}

// @inline
export function isSet(map: usize, at: usize): bool {
  return ((load<u8>(map + (at >>> 3)) >>> (u8(at) & 7)) & 1) !== 0;
}

/** First place with a bit from `from` on, or `end`. */
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

/** First place without a bit from `from` on, or `end`. */
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
