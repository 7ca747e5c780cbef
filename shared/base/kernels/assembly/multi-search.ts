/**
 * Searches lines in place for many short patterns in one pass (shared/language/regex/byte-pattern-search.ts).
 * Each byte of a pattern has one or two possible values. The host sorts patterns into eight buckets. At 16
 * positions at a time, six table lookups by three bytes yield the buckets whose patterns may begin there.
 * Only such positions are compared.
 *
 * The host writes a program:
 * - For each of the three bytes, two tables of 16 bucket bitmaps, by its lower and its upper four bits.
 * - For each bucket, a 64-bit bitmap of its patterns.
 * - 16 bytes of scratch memory.
 * - For each pattern, the offset of its bytes in the program, and their number. The other values follow the
 *   bytes.
 *
 * The search reads up to 33 bytes after `to`.
 */
const BUCKETS: usize = 96;
const HITS: usize = BUCKETS + 64;
export const MULTI_PATTERNS: usize = HITS + 16;

let foundLength: usize = 0;

/** Returns the length of the latest match, bytes. */
export function multiFoundLength(): u32 {
  return u32(foundLength);
}

/**
 * Returns the offset from `from` of the first pattern that ends at or before `to`, or -1. If several begin
 * there, the first in the program wins.
 */
export function findAny(from: usize, to: usize, program: usize): i32 {
  const low0 = v128.load(program);
  const high0 = v128.load(program, 16);
  const low1 = v128.load(program, 32);
  const high1 = v128.load(program, 48);
  const low2 = v128.load(program, 64);
  const high2 = v128.load(program, 80);
  for (let at = from; at + 2 < to; at += 16) {
    const first = bucketsOf(v128.load(at), low0, high0);
    const second = bucketsOf(v128.load(at, 1), low1, high1);
    const hits = v128.and(v128.and(first, second), bucketsOf(v128.load(at, 2), low2, high2));
    if (!v128.any_true(hits)) continue;
    v128.store(program, hits, HITS);
    let bits = i8x16.bitmask(i8x16.ne(hits, i8x16.splat(0)));
    for (; bits !== 0; bits &= bits - 1) {
      const offset = usize(ctz(bits));
      if (startsAt(at + offset, to, program, load<u8>(program + offset, HITS)))
        return i32(at + offset - from);
    }
  }
  return -1;
}

// @inline
function bucketsOf(text: v128, low: v128, high: v128): v128 {
  const lower = i8x16.swizzle(low, v128.and(text, i8x16.splat(15)));
  return v128.and(lower, i8x16.swizzle(high, i8x16.shr_u(text, 4)));
}

/** Returns whether a pattern of one of the buckets begins at `at`. */
function startsAt(at: usize, to: usize, program: usize, buckets: u32): bool {
  let patterns: u64 = 0;
  for (let bits = buckets; bits !== 0; bits &= bits - 1) {
    patterns |= load<u64>(program + (usize(ctz(bits)) << 3), BUCKETS);
  }
  for (; patterns !== 0; patterns &= patterns - 1) {
    const pattern = program + MULTI_PATTERNS + (usize(ctz(patterns)) << 3);
    const length = usize(load<u32>(pattern, 4));
    if (at + length > to || !matches(at, program + usize(load<u32>(pattern)), length)) continue;
    foundLength = length;
    return true;
  }
  return false;
}

function matches(at: usize, bytes: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) {
    const byte = load<u8>(at + i);
    if (byte !== load<u8>(bytes + i) && byte !== load<u8>(bytes + length + i)) return false;
  }
  return true;
}
