/**
 * Returns memory to the system when a thread becomes idle. V8 collects garbage when it allocates, so an idle
 * thread keeps the memory of its last work: the columns of a large push, the states of a query, the code of
 * its start.
 *
 * A busy thread needs no help, because V8 collects its garbage. A thread with little work for a long time
 * lets its heap grow to the size at which V8 first collects, 48 MB per thread. So it is collected after its
 * heap has grown.
 */
import type { IdleCaches } from '../shared/base/model/idle-caches.ts';
import type { Clock } from '../shared/base/ports/clock.ts';

interface IdleMemoryParts {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Busy time of the thread since its start, ms. */
  readonly busyMs: () => number;
  /** Used bytes of its heap. */
  readonly heapBytes: () => number;
  readonly caches: IdleCaches;
  /** Frees pooled memory, collects garbage, and returns the memory of the heap to the system. */
  readonly collectAll: () => void;
  /** Only collects garbage, which is faster. */
  readonly collect: () => void;
}

const CHECK_MS = 10_000;
/** A thread that is busy for less than this share of its time is idle. Scrapes and timers may run. */
const REST_SHARE = 0.05;
/**
 * Growth of the heap since its last collection. A collection takes 40 ms, once in two minutes at 2 MB of
 * pushes per second.
 */
const GROWTH_BYTES = 8 * 1024 * 1024;
/** Checks without use, 10 minutes, after which a cache is emptied. Dashboards refresh more often. */
export const QUIET_CHECKS = 60;

/** Resolves when the signal aborts. */
export async function returnIdleMemory(
  { clock, busyMs, heapBytes, caches, collectAll, collect }: IdleMemoryParts,
  signal: AbortSignal,
): Promise<void> {
  let before = busyMs();
  // True at first, to free the memory of the start.
  let hasWorked = true;
  let collectedBytes = Number.POSITIVE_INFINITY;
  while (await sleeps(clock, signal)) {
    const now = busyMs();
    const isAtRest = now - before < REST_SHARE * CHECK_MS;
    before = now;
    if (caches.check() > 0) hasWorked = true;
    if (!isAtRest) {
      hasWorked = true;
      continue;
    }
    if (hasWorked) collectAll();
    else if (heapBytes() - collectedBytes > GROWTH_BYTES) collect();
    else continue;
    hasWorked = false;
    collectedBytes = heapBytes();
  }
}

async function sleeps(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(CHECK_MS, signal).catch(() => undefined);
  return !signal.aborted;
}
