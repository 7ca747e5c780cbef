/** What the memory of a thread is used for. With the caches (cache-metrics.ts, page-cache-metrics.ts) it accounts for most of a process. */
import type { MetricsRegistry } from './registry.ts';

/** Bytes. */
export interface MemoryFigures {
  /** The JavaScript heap as V8 has it from the system. */
  readonly heapTotal: number;
  readonly heapUsed: number;
  /** Memory outside the heap that V8 knows of: buffers, contexts of zlib and zstd, memories of WebAssembly as reserved. */
  readonly external: number;
  /** The part of `external` that buffers take. */
  readonly arrayBuffers: number;
  /** The part of the buffers that waits for its next use. */
  readonly pooled: number;
  /** The part of `external` that kernels and lines of cached pages have reserved; only what was written takes memory. */
  readonly kernels: number;
}

/** @param thread for example `ingest-0`; registries of other threads have the same metric with another one */
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
