/** Hashes and comparison of texts in tables. Loads run up to 8 bytes past a text. */
import { K1, K2, mix } from './hash-mix';

// @inline
export function hashOf(start: usize, length: usize): u32 {
  let hash = u64(length) * K2;
  if (length >= 8) {
    const end = start + length;
    for (let at = start; at + 8 < end; at += 8) hash = mix(hash ^ load<u64>(at), K1);
    hash = mix(hash ^ load<u64>(end - 8), K1);
  } else if (length > 0) hash = mix(hash ^ (load<u64>(start) << u64(64 - 8 * length)), K1);
  return u32(mix(hash, K2));
}

// @inline
export function areEqual(a: usize, b: usize, length: usize): bool {
  if (length < 8) return length === 0 || (load<u64>(a) ^ load<u64>(b)) << u64(64 - 8 * length) === 0;
  const last = length - 8;
  for (let i: usize = 0; i < last; i += 8) if (load<u64>(a + i) !== load<u64>(b + i)) return false;
  return load<u64>(a + last) === load<u64>(b + last);
}
