/**
 * Queries over these GB of lines, as the simulated fleet answers them. Written by `npm run simulate -- fleet --model`;
 * test/bench/simulated.test.ts compares it.
 */
import type { SimulatedQuery } from './model.ts';

export const SIMULATED: Readonly<Record<string, readonly SimulatedQuery[]>> = {
  counts: [
    { gb: 1, tasks: 0, calls: 0, gets: 2, seconds: 0.06, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 15, seconds: 0.179, workerSeconds: 0 },
    { gb: 100, tasks: 149, calls: 150, gets: 149, seconds: 0.337, workerSeconds: 9.5 },
    { gb: 400, tasks: 199, calls: 203, gets: 597, seconds: 0.616, workerSeconds: 19.1 },
    { gb: 1000, tasks: 187, calls: 191, gets: 1515, seconds: 0.731, workerSeconds: 34.1 },
  ],
  'rare text': [
    { gb: 1, tasks: 0, calls: 0, gets: 18, seconds: 0.098, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 120, seconds: 0.312, workerSeconds: 0 },
    { gb: 100, tasks: 149, calls: 150, gets: 1204, seconds: 0.417, workerSeconds: 11.4 },
    { gb: 400, tasks: 199, calls: 202, gets: 4860, seconds: 0.56, workerSeconds: 17 },
    { gb: 1000, tasks: 187, calls: 189, gets: 12167, seconds: 0.656, workerSeconds: 19.5 },
  ],
  'much to look at': [
    { gb: 1, tasks: 44, calls: 44, gets: 206, seconds: 0.569, workerSeconds: 6 },
    { gb: 10, tasks: 200, calls: 206, gets: 1249, seconds: 0.934, workerSeconds: 37.8 },
    { gb: 100, tasks: 149, calls: 153, gets: 4681, seconds: 3.648, workerSeconds: 227.3 },
    { gb: 400, tasks: 796, calls: 847, gets: 25306, seconds: 11.68, workerSeconds: 967.8 },
    { gb: 1000, tasks: 1678, calls: 1740, gets: 61375, seconds: 13.925, workerSeconds: 2319.3 },
  ],
};
