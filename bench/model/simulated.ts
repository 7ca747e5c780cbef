/**
 * Queries over these GB of lines, as the simulated fleet answers them. Written by `npm run simulate -- fleet --model`;
 * test/bench/simulated.test.ts compares it.
 */
import type { SimulatedQuery } from './model.ts';

export const SIMULATED: Readonly<Record<string, readonly SimulatedQuery[]>> = {
  counts: [
    { gb: 1, tasks: 0, calls: 0, gets: 2, seconds: 0.067, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 12, seconds: 0.183, workerSeconds: 0 },
    { gb: 100, tasks: 2, calls: 2, gets: 4, seconds: 0.106, workerSeconds: 0.2 },
    { gb: 400, tasks: 8, calls: 8, gets: 16, seconds: 0.329, workerSeconds: 0.9 },
    { gb: 1000, tasks: 8, calls: 8, gets: 32, seconds: 0.37, workerSeconds: 1 },
  ],
  'rare text': [
    { gb: 1, tasks: 0, calls: 0, gets: 18, seconds: 0.105, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 96, seconds: 0.312, workerSeconds: 0 },
    { gb: 100, tasks: 120, calls: 120, gets: 984, seconds: 0.403, workerSeconds: 10.4 },
    { gb: 400, tasks: 160, calls: 162, gets: 3924, seconds: 0.598, workerSeconds: 15.5 },
    { gb: 1000, tasks: 200, calls: 202, gets: 9770, seconds: 0.602, workerSeconds: 23.7 },
  ],
  'much to look at': [
    { gb: 1, tasks: 55, calls: 56, gets: 157, seconds: 0.296, workerSeconds: 8.7 },
    { gb: 10, tasks: 200, calls: 203, gets: 626, seconds: 0.889, workerSeconds: 43 },
    { gb: 100, tasks: 120, calls: 122, gets: 2074, seconds: 4.343, workerSeconds: 236 },
    { gb: 400, tasks: 640, calls: 660, gets: 12748, seconds: 6.431, workerSeconds: 955.2 },
    { gb: 1000, tasks: 1400, calls: 1433, gets: 31685, seconds: 13.651, workerSeconds: 2326 },
  ],
};
