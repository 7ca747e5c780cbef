/**
 * Copies bytes from and to shared memory. `set` and `copy` move shared memory word by word, or byte by byte if
 * source and target are not aligned with each other, because another thread may write at the same time. 550 KB
 * take 50 to 220 µs that way. `fill` with bytes is one `memcpy`: 18 µs, as for memory of one thread.
 *
 * Pitfall: no other thread may write to either range meanwhile.
 */

/** Writes all of `source` to `target`, from `at` on. The target must have that space. */
export function copyBytes(source: Uint8Array, target: Buffer, at: number): void {
  // An empty value has no bytes to fill with, and Node.js refuses it.
  if (source.length > 0) target.fill(source, at, at + source.length);
}
