/** A step of the hashes that are never stored. */

// Odd, with about as many one bits as zero bits.
export const K1: u64 = 0x9e3779b97f4a7c15;
export const K2: u64 = 0xc2b2ae3d27d4eb4f;

// @inline
export function mix(hash: u64, factor: u64): u64 {
  const product = hash * factor;
  return product ^ (product >>> 32);
}

/** Adds `length` bytes to a hash. */
// @inline
export function addBytes(seed: u64, from: usize, length: usize): u64 {
  let hash = seed ^ u64(length);
  let at = from;
  let left = length;
  for (; left > 8; at += 8, left -= 8) hash = mix(hash ^ load<u64>(at), K1);
  // Shift out the bytes that were loaded after the last one.
  return left === 0 ? hash : mix(hash ^ (load<u64>(at) << u64(64 - 8 * left)), K2);
}
