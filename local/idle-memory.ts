/**
 * Returns memory to the system when a thread comes to rest. V8 collects garbage when it allocates, so a thread that has nothing to do
 * keeps what its last work left behind: the columns of a large push, the states of a query, the code of its start.
 *
 * A thread that stays busy is left alone: it collects by itself. A thread with little work for a long time lets its heap grow
 * to the size at which V8 first collects, 48 MB in each thread, so it is collected after it has grown.
 */
import type { IdleCaches } from '../shared/base/model/idle-caches.ts';
import type { Clock } from '../shared/base/ports/clock.ts';

export interface IdleMemoryParts {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Time that the thread was busy since it was started, ms. */
  readonly busyMs: () => number;
  /** Used bytes of its heap. */
  readonly heapBytes: () => number;
  readonly caches: IdleCaches;
  /** Frees what waits for its next use, collects garbage, and returns the memory of the heap to the system. */
  readonly collectAll: () => void;
  /** Collects garbage only, in less time. */
  readonly collect: () => void;
}

const CHECK_MS = 10_000;
/** A thread that is busy for less than this share of its time is at rest: scrapes and timers go on. */
const REST_SHARE = 0.05;
/** Growth of the heap since it was last collected. A collection takes 40 ms, at 2 MB of pushes/s once in two minutes. */
const GROWTH_BYTES = 8 * 1024 * 1024;
/** A cache that was not used for 10 minutes is emptied. Dashboards refresh more often. */
export const QUIET_CHECKS = 60;

/** Resolves when the signal aborts. */
export async function returnIdleMemory(
  { clock, busyMs, heapBytes, caches, collectAll, collect }: IdleMemoryParts,
  signal: AbortSignal,
): Promise<void> {
  let before = busyMs();
  // What the start left behind counts, too.
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
