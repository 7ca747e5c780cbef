/**
 * Allocates small buffers, drops most of them, and prints the process's memory before and after it returns free
 * memory, in MB. Run by allocator-memory.test.ts.
 */
import { returnFreeMemory } from '../../local/allocator-memory.ts';

const BUFFERS = 40_000;
const BUFFER_BYTES = 3000;
/** One of 50 stays, so that the allocator has live buffers up to the end of its arena. */
const STAYS = 50;

const megabytes = () => process.memoryUsage.rss() / 1e6;

let buffers = Array.from({ length: BUFFERS }, () => Buffer.allocUnsafeSlow(BUFFER_BYTES).fill(1));
buffers = buffers.filter((_, index) => index % STAYS === 0);
// V8 frees buffers of dead objects in another thread; the next collection waits for it.
for (let round = 0; round < 3; round++) globalThis.gc!();
const before = megabytes();
const isPossible = returnFreeMemory();
const isPossibleAgain = returnFreeMemory();
process.stdout.write(
  JSON.stringify({ before, after: megabytes(), isPossible, isPossibleAgain, stays: buffers.length }),
);
