/**
 * Queries over these GB of lines, as the simulated fleet answers them. Written by `npm run simulate -- fleet --model`;
 * test/bench/simulated.test.ts compares it.
 */
import type { SimulatedQuery } from './model.ts';

export const SIMULATED: Readonly<Record<string, readonly SimulatedQuery[]>> = {
  counts: [
    { gb: 1, tasks: 0, calls: 0, gets: 2, seconds: 0.06, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 15, seconds: 0.179, workerSeconds: 0 },
    { gb: 100, tasks: 1, calls: 1, gets: 2, seconds: 0.125, workerSeconds: 0.1 },
    { gb: 400, tasks: 2, calls: 2, gets: 4, seconds: 0.169, workerSeconds: 0.3 },
    { gb: 1000, tasks: 3, calls: 3, gets: 8, seconds: 0.172, workerSeconds: 0.4 },
  ],
  'rare text': [
    { gb: 1, tasks: 0, calls: 0, gets: 18, seconds: 0.098, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 120, seconds: 0.312, workerSeconds: 0 },
    { gb: 100, tasks: 149, calls: 150, gets: 1204, seconds: 0.48, workerSeconds: 11.8 },
    { gb: 400, tasks: 199, calls: 201, gets: 4860, seconds: 0.471, workerSeconds: 16.8 },
    { gb: 1000, tasks: 187, calls: 190, gets: 12167, seconds: 0.542, workerSeconds: 18.7 },
  ],
  'much to look at': [
    { gb: 1, tasks: 44, calls: 44, gets: 206, seconds: 0.513, workerSeconds: 6 },
    { gb: 10, tasks: 200, calls: 203, gets: 1237, seconds: 0.871, workerSeconds: 36.5 },
    { gb: 100, tasks: 149, calls: 151, gets: 4650, seconds: 3.558, workerSeconds: 225 },
    { gb: 400, tasks: 796, calls: 843, gets: 25263, seconds: 11.218, workerSeconds: 964.8 },
    { gb: 1000, tasks: 1678, calls: 1739, gets: 61437, seconds: 12.999, workerSeconds: 2318.7 },
  ],
};
