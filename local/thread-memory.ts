/** Memory of the calling thread: its figures for metrics, and returning what it does not use to the system. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { kernelBytes } from '../shared/base/kernels/kernels.ts';
import { freePooledBuffers, POOLED_BUFFERS, pooledBytes } from '../shared/base/model/buffer-pool.ts';
import { IdleCaches } from '../shared/base/model/idle-caches.ts';
import type { Clock } from '../shared/base/ports/clock.ts';
import type { PageCache } from '../shared/read/query/page-cache.ts';
import { addMemoryMetrics } from '../shared/server/admin/metrics/memory-metrics.ts';
import type { HttpContext } from '../shared/server/http/context.ts';
import { type BackgroundParts, runInBackground } from './background.ts';
import { saveCompiledCode } from './compiled-code.ts';
import {
  collectIfGrown,
  collectionProbe,
  PERIOD_CHECKS,
  QUIET_CHECKS,
  returnIdleMemory,
  unusedMemoryReleaser,
} from './idle-memory.ts';

/** Resolves when the signal of `background` aborts. */
export function keepMemorySmall(
  thread: string,
  { metrics, caches: cachesOfThread }: Pick<HttpContext, 'metrics' | 'caches'>,
  background: BackgroundParts,
): Promise<void> {
  addMemoryMetrics(metrics.registry, thread, () => ({
    ...process.memoryUsage(),
    pooled: pooledBytes(),
    kernels: kernelBytes(),
  }));
  const caches = new IdleCaches(QUIET_CHECKS, PERIOD_CHECKS);
  caches.add(...cachesOfThread, POOLED_BUFFERS);
  const busyMs = () => performance.eventLoopUtilization().active;
  const { clock, signal } = background;
  return runInBackground(
    'idle-memory',
    () =>
      returnIdleMemory(
        {
          clock,
          busyMs,
          usedBytes,
          wasCollected: collectionProbe(),
          caches,
          collectAll,
          collect: collectHeap,
        },
        signal,
      ),
    background,
  );
}

/** Heap of the calling thread, and buffers and kernel memories outside of it. */
function usedBytes(): number {
  return getHeapStatistics().used_heap_size + process.memoryUsage().arrayBuffers + kernelBytes();
}

/** Returns a function to call after a large push of the calling thread. */
export function collectorAfterLargePushes(): () => void {
  return collectIfGrown({ usedBytes, collect: collectHeap });
}

/** Returns a function to call when the page cache of the calling thread dropped lines. */
export function lineMemoryReleaser(clock: Pick<Clock, 'sleep'>, pages: PageCache): () => Promise<void> {
  const release = () => pages.releaseUnused();
  return unusedMemoryReleaser({ clock, release, wasCollected: collectionProbe(), collect: collectHeap });
}

interface GlobalWithGc {
  readonly gc?: (options?: {
    readonly type: 'major';
    readonly execution: 'sync';
    readonly flavor: 'last-resort';
  }) => void;
}

/**
 * Collects the garbage of this thread in about 40 ms. Does nothing unless Node was started with --expose-gc,
 * as the launcher does.
 */
function collectHeap(): void {
  (globalThis as GlobalWithGc).gc?.();
}

/** Like `collectHeap`, but slower, and returns the memory of the heap to the system. */
function collectAll(): void {
  saveCompiledCode();
  freePooledBuffers();
  (globalThis as GlobalWithGc).gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
