/** Indexes of words of few entries, in 1, 2 or 4 bits each: the first is in the lowest bits of a byte. */

/** Returns the bits of an index, or 0 for a byte each. */
// @inline
export function bitsOfIndex(entries: usize): u32 {
  if (entries > 16) return 0;
  return entries > 4 ? 4 : entries > 2 ? 2 : 1;
}

/** Returns the bytes of `count` indexes. */
// @inline
export function indexBytes(count: u64, bits: u32): u64 {
  return bits === 0 ? count : (count * u64(bits) + 7) >>> 3;
}

/** Packs indexes of a byte each, behind which 8 bytes may be written. May write up to 7 bytes more. */
export function packIndexes(from: usize, count: usize, bits: u32, out: usize): void {
  store<u64>(from + count, 0);
  let to = out;
  for (let i: usize = 0; i < count; i += 8) {
    let word = load<u64>(from + i);
    word =
      (word | (word >>> u64(8 - bits))) &
      (bits === 4 ? 0x00ff00ff00ff00ff : bits === 2 ? 0x000f000f000f000f : 0x0003000300030003);
    word =
      (word | (word >>> u64(16 - 2 * bits))) &
      (bits === 4 ? 0x0000ffff0000ffff : bits === 2 ? 0x000000ff000000ff : 0x0000000f0000000f);
    word |= word >>> u64(32 - 4 * bits);
    store<u32>(to, u32(word));
    to += usize(bits);
  }
}

/** Writes indexes of a byte each. May write up to 7 bytes more, and read up to 3 bytes past the packed ones. */
export function unpackIndexes(from: usize, count: usize, bits: u32, out: usize): void {
  let at = from;
  const all = bits === 4 ? u64.MAX_VALUE >>> 32 : (u64(1) << u64(8 * bits)) - 1;
  for (let i: usize = 0; i < count; i += 8) {
    let word = u64(load<u32>(at)) & all;
    word =
      (word | (word << u64(32 - 4 * bits))) &
      (bits === 4 ? 0x0000ffff0000ffff : bits === 2 ? 0x000000ff000000ff : 0x0000000f0000000f);
    word =
      (word | (word << u64(16 - 2 * bits))) &
      (bits === 4 ? 0x00ff00ff00ff00ff : bits === 2 ? 0x000f000f000f000f : 0x0003000300030003);
    word =
      (word | (word << u64(8 - bits))) &
      (bits === 4 ? 0x0f0f0f0f0f0f0f0f : bits === 2 ? 0x0303030303030303 : 0x0101010101010101);
    store<u64>(out + i, word);
    at += usize(bits);
  }
}
