/**
 * Queries over these GB of lines, as the simulated fleet answers them. Written by `npm run simulate -- fleet --model`;
 * test/bench/simulated.test.ts compares it.
 */
import type { SimulatedQuery } from './model.ts';

export const SIMULATED: Readonly<Record<string, readonly SimulatedQuery[]>> = {
  counts: [
    { gb: 1, tasks: 0, calls: 0, gets: 2, seconds: 0.067, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 12, seconds: 0.183, workerSeconds: 0 },
    { gb: 100, tasks: 1, calls: 1, gets: 2, seconds: 0.121, workerSeconds: 0.1 },
    { gb: 400, tasks: 1, calls: 1, gets: 2, seconds: 0.157, workerSeconds: 0.1 },
    { gb: 1000, tasks: 3, calls: 3, gets: 8, seconds: 0.17, workerSeconds: 0.4 },
  ],
  'rare text': [
    { gb: 1, tasks: 0, calls: 0, gets: 18, seconds: 0.105, workerSeconds: 0 },
    { gb: 10, tasks: 0, calls: 0, gets: 96, seconds: 0.312, workerSeconds: 0 },
    { gb: 100, tasks: 120, calls: 120, gets: 984, seconds: 0.403, workerSeconds: 10.4 },
    { gb: 400, tasks: 159, calls: 162, gets: 3898, seconds: 0.542, workerSeconds: 15.6 },
    { gb: 1000, tasks: 199, calls: 201, gets: 9720, seconds: 0.603, workerSeconds: 23.3 },
  ],
  'much to look at': [
    { gb: 1, tasks: 55, calls: 56, gets: 157, seconds: 0.296, workerSeconds: 8.7 },
    { gb: 10, tasks: 200, calls: 203, gets: 626, seconds: 0.889, workerSeconds: 43 },
    { gb: 100, tasks: 120, calls: 122, gets: 2074, seconds: 4.343, workerSeconds: 236 },
    { gb: 400, tasks: 636, calls: 652, gets: 12670, seconds: 6.235, workerSeconds: 918.4 },
    { gb: 1000, tasks: 1392, calls: 1423, gets: 31520, seconds: 13.336, workerSeconds: 2296.2 },
  ],
};
