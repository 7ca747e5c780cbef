/** A step of the hashes that are never stored. */

// Odd, with about as many one bits as zero bits.
export const K1: u64 = 0x9e3779b97f4a7c15;
export const K2: u64 = 0xc2b2ae3d27d4eb4f;

// @inline
export function mix(hash: u64, factor: u64): u64 {
  const product = hash * factor;
  return product ^ (product >>> 32);
}
