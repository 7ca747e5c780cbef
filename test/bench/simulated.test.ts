/** Queries of the cost model are those of the simulated fleet, with the program as it is. */
import { expect, test } from '@jest/globals';
import { SIMULATED } from '../../bench/model/simulated.ts';
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
