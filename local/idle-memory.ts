/**
 * Returns memory to the system that V8 would keep.
 *
 * V8 collects garbage when it allocates, so an idle thread keeps the memory of its last work: the columns of
 * a large push, the states of a query, the code of its start. A thread with little work lets its heap grow to
 * the size at which V8 first collects, 48 MB. And V8 hardly counts buffers outside the heap: heap snapshots of
 * a query thread under a steady load held 65 MB of dead buffers and 30 MB of dead objects. It held 131 MB of
 * memory for cached lines that the page cache had released, too. So a thread is collected when it becomes
 * idle, and when what it holds has grown.
 *
 * A busy thread is collected only if V8 has not collected it itself. Optimized code depends on the classes of
 * its objects, and a collection discards the code if it finds no object of the class. A collection between two
 * pieces of work finds few objects. V8 marks step by step while the thread works, so it keeps the code.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { IdleCaches } from '../shared/base/model/idle-caches.ts';
import type { Clock } from '../shared/base/ports/clock.ts';

interface IdleMemoryParts {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Busy time of the thread since its start, ms. */
  readonly busyMs: () => number;
  /** Bytes of its heap, and of its buffers and WebAssembly memories outside the heap. */
  readonly usedBytes: () => number;
  /** Whether the whole heap was collected since the last call, by V8 or by this module. */
  readonly wasCollected: () => boolean;
  readonly caches: IdleCaches;
  /** Frees pooled memory, collects garbage, and returns the memory of the heap to the system. */
  readonly collectAll: () => void;
  /** Only collects garbage, which is faster. */
  readonly collect: () => void;
}

interface ReleaserParts extends Pick<IdleMemoryParts, 'clock' | 'wasCollected' | 'collect'> {
  /** Releases memory that was not used since its last call. */
  readonly release: () => { readonly hasReleased: boolean; readonly hasUnused: boolean };
}

const CHECK_MS = 10_000;
/** A thread that is busy for less than this share of its time is idle. Scrapes and timers may run. */
const IDLE_SHARE = 0.05;
/**
 * Growth since the last collection that is worth another one: it stalls the thread for 25 to 40 ms and makes it
 * compile again. Most large pushes leave less, because their buffers are freed explicitly.
 */
const GROWTH_BYTES = 32 * 1024 * 1024;
/** Merges of pushes follow each other within that time if there are new lines that take the memory of merged ones. */
const RELEASED_WAIT_MS = 5000;
/** Checks without use, 10 minutes, after which a cache is emptied. Dashboards refresh more often. */
export const QUIET_CHECKS = 60;
/** Checks, 5 minutes, within which an entry of a cache in use must be used, or is dropped. */
export const PERIOD_CHECKS = 30;

/** Resolves when the signal aborts. */
export async function returnIdleMemory(
  { clock, busyMs, usedBytes, wasCollected, caches, collectAll, collect }: IdleMemoryParts,
  signal: AbortSignal,
): Promise<void> {
  let before = busyMs();
  // True at first, to free the memory of the start.
  let hasWorked = true;
  let collectedBytes = usedBytes();
  while (await sleeps(clock, signal)) {
    const now = busyMs();
    const isIdle = now - before < IDLE_SHARE * CHECK_MS;
    before = now;
    if (caches.check() > 0 || !isIdle) hasWorked = true;
    const growth = usedBytes() - collectedBytes;
    const isCollected = wasCollected();
    // Memories that `usedBytes` has looked at live until the end of this round.
    await nextRound();
    if (isIdle && hasWorked) {
      collectAll();
      hasWorked = false;
    } else if (growth > GROWTH_BYTES && !isCollected) collect();
    else continue;
    collectedBytes = usedBytes();
  }
}

/**
 * Returns a function that reports whether the whole heap of the calling thread was collected since its last
 * call. Collections of the young generation keep what a `WeakRef` refers to.
 */
export function collectionProbe(): () => boolean {
  let probe = new WeakRef({});
  return () => {
    if (probe.deref() !== undefined) return false;
    probe = new WeakRef({});
    return true;
  };
}

/**
 * Returns a function that collects garbage if the thread holds much more than after the last collection, or
 * than at an earlier call if that was less.
 */
export function collectIfGrown({
  usedBytes,
  collect,
}: Pick<IdleMemoryParts, 'usedBytes' | 'collect'>): () => void {
  let lowestBytes = usedBytes();
  return () => {
    const used = usedBytes();
    lowestBytes = Math.min(lowestBytes, used);
    if (used - lowestBytes < GROWTH_BYTES) return;
    collect();
    lowestBytes = usedBytes();
  };
}

/**
 * Returns a function to call when cached lines were dropped. Until no memory is unused, it releases what stays unused for
 * 5 s. It collects released memory 5 s later, unless V8 did so by then: running queries have left it in that time.
 */
export function unusedMemoryReleaser({
  clock,
  release,
  wasCollected,
  collect,
}: ReleaserParts): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    for (let { hasReleased, hasUnused } = release(); hasReleased || hasUnused; ) {
      // Looked at before the wait, so that it does not count earlier collections.
      if (hasReleased) wasCollected();
      await clock.sleep(RELEASED_WAIT_MS);
      if (hasReleased && !wasCollected()) collect();
      ({ hasReleased, hasUnused } = release());
    }
    isRunning = false;
  };
}

async function sleeps(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(CHECK_MS, signal).catch(() => undefined);
  return !signal.aborted;
}
