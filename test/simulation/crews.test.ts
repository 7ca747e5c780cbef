/**
 * Runs in which processes merge for the one that holds a day. `npm run simulate -- --crews` runs more seeds.
 */
import { describe, expect, test } from '@jest/globals';
import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { bySuite } from '../support/suite.ts';
import { testSeeds } from './seeds.ts';
import { simulate } from './simulate.ts';

/** Number of runs of one test. A run takes about 50 ms of one core, 100 with delete requests. */
const RUNS = bySuite({ fast: 15, full: 150 });
const REPLAYED = 3;

describe.each([false, true])('simulated runs with merges by several processes, removal %s', removes => {
  const runs = removes ? RUNS / 3 : RUNS;

  test.each([[0, runs - 1], testSeeds(runs)])('keep every invariant, seeds %i to %i', async (first, last) => {
    const total = { kills: 0, swaps: 0, syncs: 0, helped: 0, divided: 0, acknowledged: 0 };
    for (let seed = first; seed <= last; seed++) {
      const result = await simulate({ seed, removes, crews: true });
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += result[name];
    }
    expect(total.helped).toBeGreaterThan(runs);
    expect(total.divided).toBeGreaterThan(runs / 8);
    expect(total.kills).toBeGreaterThan(runs / 8);
    expect(total.swaps).toBeGreaterThan(runs / 2);
    expect(total.syncs).toBeGreaterThan(runs / 8);
    expect(total.acknowledged).toBeGreaterThan(5 * runs);
  });

  test('a seed gives the same calls again', async () => {
    for (let seed = 0; seed < REPLAYED; seed++) {
      const [once, again] = [
        await simulate({ seed, removes, crews: true }),
        await simulate({ seed, removes, crews: true }),
      ];
      mustHold(INVARIANTS.runsRepeat, once.hash === again.hash, `seed ${seed}`);
      expect(again).toEqual(once);
    }
  });
});
