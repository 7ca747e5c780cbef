/** Metrics of a long-lived process other than requests: logged lines, disk and connections. */
import type { MetricsRegistry } from './registry.ts';

export function addLogMetrics(registry: MetricsRegistry, lines: () => ReadonlyMap<string, number>): void {
  registry.counter<'level'>({
    name: 'loki_internal_log_messages_total',
    help: 'Log messages, by level.',
    labels: ['level'],
    read: () => [...lines()].map(([level, value]) => ({ labels: { level }, value })),
  });
}

/** @param isWritable `undefined` if the store has no disk on this machine */
export function addDiskMetrics(registry: MetricsRegistry, isWritable: (() => boolean) | undefined): void {
  if (isWritable === undefined) return;
  registry.gauge({
    name: 'logboom_disk_writable',
    help: '1 if the disk accepts new entries, 0 if it is full or read-only.',
    labels: [],
    read: () => [{ labels: {}, value: isWritable() ? 1 : 0 }],
  });
}

export function addConnectionMetrics(registry: MetricsRegistry, connections: () => number): void {
  registry.gauge<'protocol'>({
    name: 'loki_tcp_connections',
    help: 'Open connections.',
    labels: ['protocol'],
    read: () => [{ labels: { protocol: 'http' }, value: connections() }],
  });
}
