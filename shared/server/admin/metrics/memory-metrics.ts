/**
 * Memory of a thread by use. Together with the caches (cache-metrics.ts, page-cache-metrics.ts), this is most
 * of a process.
 */
import type { MetricsRegistry } from './registry.ts';

/** All values in bytes. */
interface MemoryFigures {
  /** JavaScript heap that V8 has allocated from the system. */
  readonly heapTotal: number;
  readonly heapUsed: number;
  /**
   * Memory outside the heap that V8 tracks: buffers, contexts of zlib and zstd, reserved WebAssembly
   * memories.
   */
  readonly external: number;
  /** Part of `external` used by buffers. */
  readonly arrayBuffers: number;
  /** Part of the buffers that is pooled for reuse. */
  readonly pooled: number;
  /** Part of `external` reserved by kernels and lines of cached pages. Only written pages use memory. */
  readonly kernels: number;
}

/**
 * @param thread name such as `ingest-0`; registries of other threads have the same metric with another name
 */
export function addMemoryMetrics(
  registry: MetricsRegistry,
  thread: string,
  figures: () => MemoryFigures,
): void {
  registry.gauge<'thread' | 'part'>({
    name: 'logboom_thread_memory_bytes',
    help: 'Memory of a thread. The heap contains heap_used; external contains buffers and kernels; buffers contain pooled.',
    labels: ['thread', 'part'],
    read: () => {
      const { heapTotal, heapUsed, external, arrayBuffers, pooled, kernels } = figures();
      const parts = {
        heap: heapTotal,
        heap_used: heapUsed,
        external,
        buffers: arrayBuffers,
        pooled,
        kernels,
      };
      return Object.entries(parts).map(([part, value]) => ({ labels: { thread, part }, value }));
    },
  });
}
