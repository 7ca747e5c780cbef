/** Seeded random generator, so that a simulation repeats bit by bit. Not suitable for secrets. */

/**
 * Returns a function that yields numbers in [0, 1), the same sequence for each seed (a Weyl sequence through
 * a 32-bit finalizer).
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}
