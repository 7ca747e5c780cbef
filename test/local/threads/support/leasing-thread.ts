/**
 * Leases and releases bytes of a bound that several threads share, of random sizes, and reports the maximum that it
 * saw leased.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { leasedBytes, SharedBytes, type SharedCounters } from '../../../../local/threads/shared-bytes.ts';
import { seededRandom } from '../../../../shared/base/ports/memory/random.ts';

const { counters, index, rounds } = workerData as {
  counters: SharedCounters;
  index: number;
  rounds: number;
};
const random = seededRandom(index);
const bytes = new SharedBytes(counters, index);
const held: number[] = [];
let most = 0;
let refused = 0;
for (let i = 0; i < rounds; i++) {
  const some = Math.ceil(random() * 3_000_000);
  if (bytes.take(some)) held.push(some);
  else {
    refused++;
    for (const one of held.splice(0)) bytes.give(one);
  }
  most = Math.max(most, leasedBytes(counters));
}
// Half of the threads leave their bytes to the observer of lost threads.
if (index % 2 === 0) for (const one of held) bytes.give(one);
parentPort!.postMessage({ most, refused });
