/** Memory of running pushes in a process. */
import type { MetricsRegistry } from './registry.ts';

/** @param bytes size of bodies, decompressed bodies and columns in all threads */
export function addPushMemoryMetrics(registry: MetricsRegistry, bytes: () => number): void {
  registry.gauge({
    name: 'logboom_push_memory_bytes',
    help: 'Memory of running pushes in all threads: bodies, decompressed bodies and columns.',
    read: () => [{ labels: {}, value: bytes() }],
  });
}
