/** Seeds of runs: 32 bits. */
export const SEEDS = 0x1_0000_0000;

/**
 * The first and the last of `count` seeds that begin at a random one. So each run of the tests takes others, and the name of
 * the test or the message of its failure tells which: `npm run simulate -- --seed 4711` takes one again.
 */
export function newSeeds(count: number): [first: number, last: number] {
  const first = Math.floor(Math.random() * (SEEDS - count));
  return [first, first + count - 1];
}
