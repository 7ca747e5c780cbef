/**
 * Searches lines in place for a sequence of bytes, each of one set of ASCII characters
 * (shared/language/regex/byte-set-search.ts). For each different set, the bytes of 64 positions become one bitmap. The
 * bitmaps of a sequence, each shifted by its index, have a common bit where the sequence begins.
 *
 * The host writes a program:
 * - For each of up to 8 sets: the first character and the number of further ones, if the set is a range. Otherwise for
 *   each value of the lower four bits a bitmap of the upper halves with which it is in the set, and for each value of
 *   the upper four bits its bit in that bitmap, 0 for bytes outside ASCII.
 * - For each byte of the sequence, the number of its set.
 * - 128 bytes of scratch memory: bitmaps of two blocks.
 *
 * The search reads up to 191 bytes after `to`.
 */
const KIND: usize = 32;
const FIRST: usize = 33;
const FURTHER: usize = 34;
const ENTRY: usize = 48;
const MAX_SETS: usize = 8;
const SEQUENCE: usize = MAX_SETS * ENTRY;
const BITMAPS: usize = SEQUENCE + 8;
const BLOCK: usize = 64;

/**
 * Returns the offset from `from` of the first sequence that begins before `to`, or -1.
 * @param sets number of different sets
 * @param length bytes of the sequence, 2 to 8
 */
export function findSets(from: usize, to: usize, program: usize, sets: usize, length: usize): i32 {
  let now = program + BITMAPS;
  let next = now + MAX_SETS * 8;
  markSets(from, program, sets, now);
  for (let at = from; at < to; at += BLOCK) {
    markSets(at + BLOCK, program, sets, next);
    let hits = load<u64>(now + (usize(load<u8>(program, SEQUENCE)) << 3));
    for (let i: usize = 1; i < length; i++) {
      const set = usize(load<u8>(program + i, SEQUENCE)) << 3;
      hits &= (load<u64>(now + set) >> u64(i)) | (load<u64>(next + set) << (64 - u64(i)));
    }
    if (hits !== 0) {
      const found = at + usize(ctz(hits));
      return found < to ? i32(found - from) : -1;
    }
    const last = now;
    now = next;
    next = last;
  }
  return -1;
}

/** Writes the bitmap of a block for each set. */
// @inline
function markSets(at: usize, program: usize, sets: usize, bitmaps: usize): void {
  for (let set: usize = 0; set < sets; set++) {
    const entry = program + set * ENTRY;
    const bits = load<u8>(entry, KIND) === 0 ? bitsOfTable(at, entry) : bitsOfRange(at, entry);
    store<u64>(bitmaps + (set << 3), bits);
  }
}

// @inline
function bitsOfRange(at: usize, entry: usize): u64 {
  const first = i8x16.splat(load<i8>(entry, FIRST));
  const further = i8x16.splat(load<i8>(entry, FURTHER));
  return joined(
    i8x16.le_u(i8x16.sub(v128.load(at), first), further),
    i8x16.le_u(i8x16.sub(v128.load(at, 16), first), further),
    i8x16.le_u(i8x16.sub(v128.load(at, 32), first), further),
    i8x16.le_u(i8x16.sub(v128.load(at, 48), first), further),
  );
}

// @inline
function bitsOfTable(at: usize, entry: usize): u64 {
  const low = v128.load(entry);
  const high = v128.load(entry, 16);
  return joined(
    inTable(v128.load(at), low, high),
    inTable(v128.load(at, 16), low, high),
    inTable(v128.load(at, 32), low, high),
    inTable(v128.load(at, 48), low, high),
  );
}

// @inline
function inTable(text: v128, low: v128, high: v128): v128 {
  const lower = i8x16.swizzle(low, v128.and(text, i8x16.splat(15)));
  const upper = i8x16.swizzle(high, i8x16.shr_u(text, 4));
  return i8x16.ne(v128.and(lower, upper), i8x16.splat(0));
}

// @inline
function joined(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = u64(i8x16.bitmask(a)) | (u64(i8x16.bitmask(b)) << 16);
  return low | (u64(i8x16.bitmask(c)) << 32) | (u64(i8x16.bitmask(d)) << 48);
}
