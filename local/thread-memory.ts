/** Memory of the thread that calls: its figures for metrics, and what returns it to the system when the thread is at rest. */
import { performance } from 'node:perf_hooks';
import { addMemoryMetrics } from '../shared/admin/metrics/memory-metrics.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { kernelBytes } from '../shared/kernels/kernels.ts';
import { freePooledBuffers, pooledBytes } from '../shared/model/buffer-pool.ts';
import { IdleCaches } from '../shared/model/idle-caches.ts';
import { QUIET_CHECKS, returnIdleMemory } from './idle-memory.ts';
import { systemClock } from './system-clock.ts';

/** Resolves when the signal aborts. */
export function keepMemorySmall(
  thread: string,
  { metrics, caches: cachesOfThread }: Pick<HttpContext, 'metrics' | 'caches'>,
  signal: AbortSignal,
): Promise<void> {
  addMemoryMetrics(metrics.registry, thread, () => ({
    ...process.memoryUsage(),
    pooled: pooledBytes(),
    kernels: kernelBytes(),
  }));
  const caches = new IdleCaches(QUIET_CHECKS);
  caches.add(...cachesOfThread);
  const busyMs = () => performance.eventLoopUtilization().active;
  return returnIdleMemory({ clock: systemClock, busyMs, caches, collect }, signal);
}

function collect(): void {
  freePooledBuffers();
  // The launcher starts Node with --expose-gc. Without the launcher, V8 collects when it allocates.
  (globalThis as { readonly gc?: (options: object) => void }).gc?.({
    type: 'major',
    execution: 'sync',
    flavor: 'last-resort',
  });
}
