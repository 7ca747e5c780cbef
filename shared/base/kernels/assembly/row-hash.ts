/**
 * Hashes lines to 64 bits, starting from the hash of the row's other columns, in four lanes of 8 bytes per
 * step. The hash detects defects and does not resist deliberate collisions. It is never stored.
 */
import { K1, K2, mix } from './hash-mix';
import { BASE, SLACK } from './layout';

/** Maximum bytes and number of lines of one call. */
export const MAX_HASH_BYTES: usize = 1024 * 1024;
export const MAX_HASH_ROWS: usize = 65536;

/** Two words of each row's hash, before and after its line is added. */
export const HASH_ONES: usize = BASE;
export const HASH_TWOS: usize = HASH_ONES + 4 * MAX_HASH_ROWS;
export const HASH_OFFSETS: usize = HASH_TWOS + 4 * MAX_HASH_ROWS;
export const HASH_LINES: usize = HASH_OFFSETS + 4 * (MAX_HASH_ROWS + 1) + SLACK;
export const HASH_BYTES: usize = HASH_LINES + MAX_HASH_BYTES + SLACK;

// Odd, with about as many one bits as zero bits.
const K3: u64 = 0x165667b19e3779f9;
const K4: u64 = 0xd6e8feb86659fd93;

/**
 * Adds the lines between the `rows + 1` offsets at HASH_OFFSETS to the hashes of their rows.
 * @param first Offset of the line at HASH_LINES
 */
export function hashLines(rows: u32, first: usize): void {
  for (let row: usize = 0; row < usize(rows); row++) {
    const own = row << 2;
    const start = usize(load<u32>(HASH_OFFSETS + own));
    const length = usize(load<u32>(HASH_OFFSETS + own, 4)) - start;
    const seed = u64(load<u32>(HASH_ONES + own)) | (u64(load<u32>(HASH_TWOS + own)) << 32);
    const hash = hashLine(seed ^ (u64(length) * K3), HASH_LINES + start - first, length);
    store<u32>(HASH_ONES + own, u32(hash));
    store<u32>(HASH_TWOS + own, u32(hash >>> 32));
  }
}

function hashLine(seed: u64, start: usize, length: usize): u64 {
  const end = start + length;
  if (length < 16) {
    if (length >= 8) return settle(mix(mix(seed ^ load<u64>(start), K1) ^ load<u64>(end - 8), K2));
    // Shift out the bytes that were loaded after the line.
    return settle(length > 0 ? mix(seed ^ (load<u64>(start) << u64(64 - 8 * length)), K2) : seed);
  }
  let a = seed;
  let b = seed ^ K2;
  let c = seed ^ K3;
  let d = seed ^ K4;
  for (let at = start; at + 32 < end; at += 32) {
    a = mix(a ^ load<u64>(at), K1);
    b = mix(b ^ load<u64>(at, 8), K2);
    c = mix(c ^ load<u64>(at, 16), K3);
    d = mix(d ^ load<u64>(at, 24), K4);
  }
  // The last words overlap those before. Fewer steps would need a loop, whose end no processor predicts.
  const last = max(start, end - 32);
  a = mix(a ^ load<u64>(last), K1);
  b = mix(b ^ load<u64>(last, 8), K2);
  c = mix(c ^ load<u64>(end - 16), K3);
  d = mix(d ^ load<u64>(end - 8), K4);
  return settle(mix(a ^ rotl(b, 17), K2) ^ mix(c ^ rotl(d, 31), K1));
}

/** Lets every bit of the input reach every bit of the output. */
// @inline
function settle(hash: u64): u64 {
  const once = (hash ^ (hash >>> 32)) * K4;
  const twice = (once ^ (once >>> 29)) * K1;
  return twice ^ (twice >>> 32);
}
