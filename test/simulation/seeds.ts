/** Seeds of runs: 32 bits. */
export const SEEDS = 0x1_0000_0000;

/** The first and the last of `count` seeds that begin at a random one, for long runs by hand. */
export function newSeeds(count: number): [first: number, last: number] {
  const first = Math.floor(Math.random() * (SEEDS - count));
  return [first, first + count - 1];
}

/**
 * Those of the tests: the same in each run, as for properties (test/support/fast-check.mjs), and new ones
 * with `LOGBOOM_SEED=random`. The name of the test or the message of its failure contains the seed: `npm run
 * simulate -- --seed 4711` runs it again.
 */
export function testSeeds(count: number): [first: number, last: number] {
  const seed = process.env.LOGBOOM_SEED ?? '20261123';
  return seed === 'random' ? newSeeds(count) : [Number(seed), Number(seed) + count - 1];
}
