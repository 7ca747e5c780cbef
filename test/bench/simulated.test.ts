/** Queries, merging and indexing of the cost model are those of the simulated fleet, with the program as it is. */
import { expect, test } from '@jest/globals';
import { SIMULATED } from '../../bench/model/simulated.ts';
import { mergingOf } from '../../shared/server/usage/merging.ts';
import { compactFleet } from '../simulation/fleet/compact-fleet.ts';
import { MODEL_GB, MODEL_KINDS, modelPoint } from '../simulation/fleet/model-points.ts';

test.each(Object.entries(SIMULATED))(
  '%s: the points of bench/model/simulated.ts (npm run simulate -- fleet --model)',
  async (kind, points) => {
    expect(Object.keys(MODEL_KINDS)).toContain(kind);
    expect(points.map(({ gb }) => gb)).toEqual([...MODEL_GB]);
    // The larger ones take the same code, and longer.
    for (const point of points.slice(0, 3)) expect(await modelPoint(kind, point.gb)).toEqual(point);
  },
);

/** Part by which the estimate of merging may differ, because its terms are fitted to several sizes. */
const MERGING_TOLERANCE = 0.2;
/** Merges for an hour follow its end. */
const MERGED_MINUTES = 140;

// [KB of a push, GB a day]
test.each([
  [10, 50],
  [100, 50],
  [500, 500],
  [1000, 500],
])(
  'merging and indexing pushes of %i KB, %i GB a day, as shared/server/usage/merging.ts has it',
  async (kb, gbPerDay) => {
    const asked = {
      bytesPerDay: gbPerDay * 1e9,
      pushBytes: kb * 1000,
      minutes: MERGED_MINUTES,
      functions: 32,
    };
    const { pushes, mergedBytes, requests, leaseWrites, functionMs } = await compactFleet(asked);
    const gb = mergedBytes / 1e9;
    const expected = mergingOf({ gb, pushes, objects: pushes, writeUnits: 0 });
    for (const [counted, estimated] of [
      [requests.gets, expected.gets],
      [requests.puts, expected.puts],
      [requests.writeUnits + leaseWrites, expected.writeUnits],
      [functionMs / 1000, expected.seconds],
    ]) {
      expect(counted / estimated).toBeGreaterThan(1 - MERGING_TOLERANCE);
      expect(counted / estimated).toBeLessThan(1 + MERGING_TOLERANCE);
    }
  },
);
