/**
 * Searches lines in place (shared/base/kernels/line-memory.ts). JavaScript would process one byte at a time;
 * SIMD processes 16.
 *
 * All loops read up to 79 bytes past `to`, plus the distance of a pair. That memory must exist; its content
 * does not matter.
 */

/**
 * Sets one bit for each byte that equals `a`, `b` or `c`, or is less than `below`. `from` is a multiple of
 * 32. Writes whole words of 32 bits to `out + from / 8` and on.
 */
export function markBytes(from: usize, to: usize, out: usize, a: u32, b: u32, c: u32, below: u32): void {
  const wantedA = i8x16.splat(i8(a));
  const wantedB = i8x16.splat(i8(b));
  const wantedC = i8x16.splat(i8(c));
  const limit = i8x16.splat(i8(below));
  for (let at = from; at < to; at += 32) {
    const bits =
      marksOf(v128.load(at), wantedA, wantedB, wantedC, limit) |
      (marksOf(v128.load(at, 16), wantedA, wantedB, wantedC, limit) << 16);
    store<u32>(out + (at >>> 3), bits);
  }
}

// @inline
function marksOf(text: v128, a: v128, b: v128, c: v128, below: v128): u32 {
  const one = v128.or(v128.or(i8x16.eq(text, a), i8x16.eq(text, b)), i8x16.eq(text, c));
  return i8x16.bitmask(v128.or(one, i8x16.lt_u(text, below)));
}

/**
 * Bytes processed before the result is checked. Most blocks have no match, and checking once for four vectors
 * of 16 bytes halves the cost.
 */
const BLOCK: usize = 64;

/** Returns the offset from `from` of the first `a` with `b` at `distance` after it, or -1. */
export function findExactPair(from: usize, to: usize, distance: usize, a: u32, b: u32): i32 {
  const first = i8x16.splat(i8(a));
  const second = i8x16.splat(i8(b));
  for (let at = from; at < to; at += BLOCK) {
    const near = v128.or(exactAt(at, distance, first, second), exactAt(at + 16, distance, first, second));
    const far = v128.or(exactAt(at + 32, distance, first, second), exactAt(at + 48, distance, first, second));
    if (!v128.any_true(v128.or(near, far))) continue;
    for (let i = at; i < to; i += 16) {
      const hits = i8x16.bitmask(exactAt(i, distance, first, second));
      if (hits !== 0) return offsetOf(from, i + usize(ctz(hits)), to);
    }
  }
  return -1;
}

/** Works as `findExactPair`, but for `a` or `a2`, and `b` or `b2`. */
export function findPair(from: usize, to: usize, distance: usize, a: u32, a2: u32, b: u32, b2: u32): i32 {
  const first = i8x16.splat(i8(a));
  const first2 = i8x16.splat(i8(a2));
  const second = i8x16.splat(i8(b));
  const second2 = i8x16.splat(i8(b2));
  for (let at = from; at < to; at += BLOCK) {
    const near = v128.or(
      pairAt(at, distance, first, first2, second, second2),
      pairAt(at + 16, distance, first, first2, second, second2),
    );
    const far = v128.or(
      pairAt(at + 32, distance, first, first2, second, second2),
      pairAt(at + 48, distance, first, first2, second, second2),
    );
    if (!v128.any_true(v128.or(near, far))) continue;
    for (let i = at; i < to; i += 16) {
      const hits = i8x16.bitmask(pairAt(i, distance, first, first2, second, second2));
      if (hits !== 0) return offsetOf(from, i + usize(ctz(hits)), to);
    }
  }
  return -1;
}

// @inline
function exactAt(at: usize, distance: usize, first: v128, second: v128): v128 {
  return v128.and(i8x16.eq(v128.load(at), first), i8x16.eq(v128.load(at + distance), second));
}

// @inline
function pairAt(at: usize, distance: usize, a: v128, a2: v128, b: v128, b2: v128): v128 {
  const text = v128.load(at);
  const behind = v128.load(at + distance);
  return v128.and(
    v128.or(i8x16.eq(text, a), i8x16.eq(text, a2)),
    v128.or(i8x16.eq(behind, b), i8x16.eq(behind, b2)),
  );
}

// @inline
function offsetOf(from: usize, at: usize, to: usize): i32 {
  return at < to ? i32(at - from) : -1;
}
