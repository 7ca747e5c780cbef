/** The simulation is worth its time only if it finds defects: bugs planted on purpose, one at a time. */
import { describe, expect, test } from '@jest/globals';
import { BrokenInvariantError } from '../../shared/base/model/invariants.ts';
import { sampleOf } from '../support/suite.ts';
import { BUGS } from './planted/index.ts';
import { FailedRunError, simulate } from './simulate.ts';

describe('a planted bug is found', () => {
  test.each(sampleOf(BUGS, 7).map(bug => [bug.name, bug] as const))('%s', async (_name, bug) => {
    const reported = new Set<string>();
    const { knownSeed = 0, maxSeeds } = bug;
    // A change of the simulation gives seeds other runs: then the others must find it.
    for (const seed of new Set([knownSeed, ...Array(maxSeeds).keys()])) {
      try {
        await simulate({ seed, bug });
      } catch (error) {
        if (!(error instanceof FailedRunError)) throw error;
        const { cause } = error;
        reported.add(cause instanceof BrokenInvariantError ? cause.invariant.name : error.message);
        if (bug.breaks.some(name => reported.has(name))) return;
      }
    }
    expect([...reported]).toContain(bug.breaks.join(' or '));
  });
});
