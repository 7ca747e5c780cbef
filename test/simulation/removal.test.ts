/**
 * Runs that delete and expire, with processes that die at any of their calls. `npm run simulate -- --removal`
 * runs more seeds.
 */
import { describe, expect, test } from '@jest/globals';
import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { bySuite } from '../support/suite.ts';
import { testSeeds } from './seeds.ts';
import { simulate } from './simulate.ts';

/** Number of runs of one test. A run takes about 100 ms of one core. */
const RUNS = bySuite({ fast: 10, full: 40 });
const REPLAYED = 3;

describe('simulated runs with delete requests and retention keep every invariant', () => {
  test.each([[0, RUNS - 1], testSeeds(RUNS)])('seeds %i to %i', async (first, last) => {
    const total = { kills: 0, swaps: 0, acknowledged: 0, removed: 0, processed: 0 };
    for (let seed = first; seed <= last; seed++) {
      const result = await simulate({ seed, removes: true });
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += result[name];
    }
    expect(total.kills).toBeGreaterThan(RUNS / 8);
    expect(total.swaps).toBeGreaterThan(RUNS);
    expect(total.acknowledged).toBeGreaterThan(5 * RUNS);
    expect(total.removed).toBeGreaterThan(RUNS);
    expect(total.processed).toBeGreaterThan(RUNS / 2);
  });

  test('a seed gives the same calls again', async () => {
    for (let seed = 0; seed < REPLAYED; seed++) {
      const [once, again] = [
        await simulate({ seed, removes: true }),
        await simulate({ seed, removes: true }),
      ];
      mustHold(INVARIANTS.runsRepeat, once.hash === again.hash, `seed ${seed}`);
      expect(again).toEqual(once);
    }
  });
});
