/**
 * Queries over so many GB of lines, as the simulated fleet answers them. Written by `npm run simulate -- fleet --model`;
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
    { gb: 10, tasks: 0, calls: 0, gets: 135, seconds: 0.515, workerSeconds: 0 },
    { gb: 100, tasks: 149, calls: 151, gets: 1349, seconds: 0.525, workerSeconds: 13.8 },
    { gb: 400, tasks: 199, calls: 203, gets: 5429, seconds: 0.69, workerSeconds: 25.8 },
    { gb: 1000, tasks: 187, calls: 192, gets: 13752, seconds: 0.766, workerSeconds: 42.8 },
  ],
  'much to look at': [
    { gb: 1, tasks: 44, calls: 44, gets: 206, seconds: 0.569, workerSeconds: 6 },
    { gb: 10, tasks: 200, calls: 206, gets: 1249, seconds: 0.934, workerSeconds: 37.8 },
    { gb: 100, tasks: 149, calls: 153, gets: 11023, seconds: 3.8, workerSeconds: 237 },
    { gb: 400, tasks: 796, calls: 849, gets: 52458, seconds: 12.175, workerSeconds: 1016 },
    { gb: 1000, tasks: 1678, calls: 1743, gets: 126349, seconds: 14.618, workerSeconds: 2440.7 },
  ],
};
