/**
 * Hashes lines to 64 bits, together with their timestamps and a seed for each row. 32 bytes at a time become
 * four products of 32-bit words, because a processor multiplies them side by side. The hash detects defects
 * and does not resist deliberate collisions. It is never stored.
 */
import { K1, K2, mix } from './hash-mix';

// Odd, with about as many one bits as zero bits.
const K3: u64 = 0x165667b19e3779f9;
const K4: u64 = 0xd6e8feb86659fd93;

/** The bits of a sum with this number ascend by one per nanosecond, which costs less than a conversion. */
const TWO_TO_52: f64 = 4503599627370496;

/**
 * Replaces each row's seed at `hashes` with its hash.
 * @param lines Address that the `rows + 1` offsets are relative to
 * @param times f64 of each row, ns since the base of the page
 * @param baseNs Unix nanoseconds
 */
export function hashLines(
  rows: u32,
  lines: usize,
  offsets: usize,
  times: usize,
  hashes: usize,
  baseNs: i64,
): void {
  for (let row: usize = 0; row < usize(rows); row++) {
    const start = usize(load<u32>(offsets + (row << 2)));
    const length = usize(load<u32>(offsets + (row << 2), 4)) - start;
    const time = baseNs + reinterpret<i64>(load<f64>(times + (row << 3)) + TWO_TO_52);
    const own = hashes + (row << 3);
    const seed = (load<u64>(own) ^ (u64(time) * K1)) + u64(length) * K3;
    store<u64>(own, hashLine(seed, lines + start, length));
  }
}

function hashLine(seed: u64, start: usize, length: usize): u64 {
  const end = start + length;
  if (length < 16) {
    if (length >= 8) return settle(mix(mix(seed ^ load<u64>(start), K1) ^ load<u64>(end - 8), K2));
    // Shift out the bytes that were loaded after the line.
    return settle(length > 0 ? mix(seed ^ (load<u64>(start) << u64(64 - 8 * length)), K2) : seed);
  }
  // Other keys in each step, so that the order of the blocks counts.
  let keys = i64x2(K1, K2);
  let low = i64x2.splat(0);
  let high = i64x2.splat(0);
  for (let at = start; at + 32 < end; at += 32) {
    const a = i32x4.add(v128.load(at), keys);
    const b = v128.xor(v128.load(at, 16), keys);
    low = i64x2.add(low, i64x2.extmul_low_i32x4_u(a, b));
    high = i64x2.add(high, i64x2.extmul_high_i32x4_u(a, b));
    keys = i32x4.add(keys, i64x2(K3, K4));
  }
  // The last bytes overlap those before. Fewer steps would need a loop, whose end no processor predicts.
  const a = i32x4.add(v128.load(length < 32 ? start : end - 32), keys);
  const b = v128.xor(v128.load(end - 16), keys);
  low = i64x2.add(low, i64x2.extmul_low_i32x4_u(a, b));
  high = i64x2.add(high, i64x2.extmul_high_i32x4_u(a, b));
  const one = i64x2.extract_lane(low, 0) ^ rotl(i64x2.extract_lane(high, 1), 31);
  const two = i64x2.extract_lane(low, 1) ^ rotl(i64x2.extract_lane(high, 0), 31);
  return settle(mix(seed ^ one, K2) ^ mix(two, K1));
}

/** Lets every bit of the input reach every bit of the output. */
// @inline
function settle(hash: u64): u64 {
  const once = (hash ^ (hash >>> 32)) * K4;
  const twice = (once ^ (once >>> 29)) * K1;
  return twice ^ (twice >>> 32);
}
