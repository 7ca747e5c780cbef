/**
 * The whole store under faults, deaths, pauses and maintenance, some seeds the same every time. `npm run
 * simulate` runs more seeds.
 */
import { describe, expect, test } from '@jest/globals';
import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { bySuite } from '../support/suite.ts';
import { testSeeds } from './seeds.ts';
import { simulate } from './simulate.ts';

/** Number of runs of one test. A run takes about 40 ms of one core. */
const RUNS = bySuite({ fast: 25, full: 250 });
const REPLAYED = 10;

describe('simulated runs keep every invariant', () => {
  test.each([[0, RUNS - 1], testSeeds(RUNS)])('seeds %i to %i', async (first, last) => {
    const total = { calls: 0, kills: 0, swaps: 0, syncs: 0, entries: 0, acknowledged: 0 };
    for (let seed = first; seed <= last; seed++) {
      const result = await simulate({ seed });
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += result[name];
    }
    // The runs contain the events that they exist for.
    expect(total.calls).toBeGreaterThan(100 * RUNS);
    expect(total.kills).toBeGreaterThan(RUNS / 4);
    expect(total.swaps).toBeGreaterThan(RUNS / 2);
    expect(total.syncs).toBeGreaterThan(RUNS / 4);
    expect(total.acknowledged).toBeGreaterThan(5 * RUNS);
    expect(total.entries).toBeGreaterThan(total.acknowledged);
  });

  test('a seed gives the same calls again, bit by bit', async () => {
    const hashes = new Set<string>();
    for (let seed = 0; seed < REPLAYED; seed++) {
      const [once, again] = [await simulate({ seed }), await simulate({ seed })];
      mustHold(INVARIANTS.runsRepeat, once.hash === again.hash, `seed ${seed}`);
      expect(again).toEqual(once);
      hashes.add(once.hash);
    }
    expect(hashes.size).toBe(REPLAYED);
  });
});
