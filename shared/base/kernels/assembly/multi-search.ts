/**
 * Many short patterns in one pass over lines where they lie (shared/language/regex/byte-pattern-search.ts). Each byte of a pattern is one value
 * or one of two. Patterns are sorted into eight buckets; for 16 places at a time six table look-ups tell the buckets whose
 * patterns may begin there, by three bytes. Only such places are compared.
 *
 * A program, which the host lays down: for each of the three bytes two tables of 16, by its lower and its upper four bits, of
 * buckets as bits; for each bucket its patterns as bits of 64; room for 16 bytes; for each pattern where its bytes are (behind them
 * the other values) from the start of the program, and how many. Memory behind `to` is read, up to 33 bytes.
 */
const BUCKETS: usize = 96;
const PLACES: usize = BUCKETS + 64;
export const MULTI_PATTERNS: usize = PLACES + 16;

let foundLength: usize = 0;

/** Bytes of what the last search found. */
export function multiFoundLength(): u32 {
  return u32(foundLength);
}

/** How far behind `from` the first pattern that ends at `to` or before begins, or -1; of several there the first of the program. */
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
    v128.store(program, hits, PLACES);
    let places = i8x16.bitmask(i8x16.ne(hits, i8x16.splat(0)));
    for (; places !== 0; places &= places - 1) {
      const place = usize(ctz(places));
      if (startsAt(at + place, to, program, load<u8>(program + place, PLACES))) return i32(at + place - from);
    }
  }
  return -1;
}

// @inline
function bucketsOf(text: v128, low: v128, high: v128): v128 {
  const lower = i8x16.swizzle(low, v128.and(text, i8x16.splat(15)));
  return v128.and(lower, i8x16.swizzle(high, i8x16.shr_u(text, 4)));
}

/** True if a pattern of one of the buckets is there. */
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
