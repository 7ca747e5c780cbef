/** Memory of the pushes under way in a process. */
import type { MetricsRegistry } from './registry.ts';

/** @param bytes of decompressed bodies and columns, in all threads */
export function addPushMemoryMetrics(registry: MetricsRegistry, bytes: () => number): void {
  registry.gauge({
    name: 'logboom_push_memory_bytes',
    help: 'Decompressed bodies and columns of the pushes under way, in all threads.',
    read: () => [{ labels: {}, value: bytes() }],
  });
}
