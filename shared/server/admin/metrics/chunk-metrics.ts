/**
 * Metrics of chunks that pushes write, under the reference's names for its ingesters
 * (docs/dev/wire-format.md#metrics). Logboom has no ingester: a chunk is written before its pushes are acknowledged, so its age is
 * milliseconds and nothing is idle.
 *
 * Pitfall: a chunk of Logboom has all streams of a group commit and a day, but a chunk of the reference has
 * one stream. Sizes, entries and limits refer to Logboom's chunks.
 */
import { NS_OF_SECOND, SECONDS_PER_HOUR } from '../../../base/model/time-units.ts';
import type { WrittenGroup } from '../../../write/ingest/group-commit.ts';
import { BoundedNames } from './bounded-names.ts';
import { MAX_NAMED_TENANTS } from './ingest-metrics.ts';
import type { MetricSeries, MetricsRegistry } from './registry.ts';

const KIB = 1024;
const SIZES = [1, 4, 16, 64, 256, 1024, 4096, 16_384].map(kib => kib * KIB);
const SHARES = [0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 1];
const ENTRIES = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const AGES = [0.002, 0.005, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];
const SPANS = [0.01, 0.1, 0.5, 1, 2, 4, 8, 12, 24].map(hours => hours * SECONDS_PER_HOUR);

/** Current load of the push path. */
interface CommitLoad {
  /** Number of group commits that are being written, and of those that wait. */
  readonly writing: number;
  readonly waiting: number;
}

interface ChunkMetricsSources {
  /** Raw bytes of lines of a full group commit. */
  readonly maxGroupBytes: number;
  readonly load: () => CommitLoad;
}

interface StreamMetricsSources {
  /**
   * Active streams by tenant, and number of streams created since the start; nothing if streams are not
   * limited.
   */
  readonly streams: () => Iterable<readonly [tenant: string, active: number]>;
  readonly created: () => Iterable<readonly [tenant: string, created: number]>;
  readonly maxNamedTenants?: number;
}

export class ChunkMetrics {
  readonly written: (group: WrittenGroup) => void;
  readonly failed: () => void;

  constructor(registry: MetricsRegistry, { maxGroupBytes, load }: ChunkMetricsSources) {
    // Prepared, because a push counts all of them.
    const histogram = (name: string, help: string, buckets: readonly number[]) =>
      registry
        .preparedHistogram<never>({ name: `loki_ingester_chunk_${name}`, help, labels: [], buckets })
        .series({});
    const flushed = { full: 0, max_age: 0 };
    registry.counter<'reason'>({
      name: 'loki_ingester_chunks_flushed_total',
      help: 'Chunks written by pushes, by reason: the group commit was full, or its wait ended (max_age).',
      labels: ['reason'],
      read: () =>
        Object.entries(flushed)
          .filter(([, value]) => value > 0)
          .map(([reason, value]) => ({ labels: { reason }, value })),
    });
    const size = histogram('size_bytes', 'Stored size of chunks written by pushes.', SIZES);
    const utilization = histogram(
      'utilization',
      'Size of lines of chunks written by pushes, relative to a full group commit.',
      SHARES,
    );
    const entries = histogram('entries', 'Entries of chunks written by pushes.', ENTRIES);
    const age = histogram(
      'age_seconds',
      'Time from the creation of a group commit to its durable chunks, in seconds.',
      AGES,
    );
    // The reference uses hours, which is not a base unit of Prometheus.
    const bounds = histogram(
      'bounds_seconds',
      'Time between the first and the last entry of chunks written by pushes, in seconds.',
      SPANS,
    );
    const failures = registry.counter<'ingester'>({
      name: 'loki_distributor_ingester_append_failures_total',
      help: 'Pushes that failed to be stored.',
      labels: ['ingester'],
    });
    registry.gauge({
      name: 'loki_ingester_memory_chunks',
      help: 'Group commits that are written or wait; their pushes are not acknowledged yet.',
      read: () => [{ labels: {}, value: load().writing + load().waiting }],
    });
    registry.gauge({
      name: 'loki_ingester_flush_queue_length',
      help: 'Group commits that wait to be written.',
      read: () => [{ labels: {}, value: load().waiting }],
    });
    this.written = ({ records, seconds, isFull }) => {
      flushed[isFull ? 'full' : 'max_age'] += records.length;
      for (const { storedBytes, lineBytes, rows, first, last } of records) {
        size.observe(storedBytes);
        utilization.observe(lineBytes / maxGroupBytes);
        entries.observe(rows);
        age.observe(seconds);
        bounds.observe((last - first) / NS_OF_SECOND);
      }
    };
    this.failed = () => failures.inc({ ingester: 'store' });
  }
}

export function addStreamMetrics(
  registry: MetricsRegistry,
  { streams, created, maxNamedTenants = MAX_NAMED_TENANTS }: StreamMetricsSources,
): void {
  const tenants = new BoundedNames(maxNamedTenants);
  registry.gauge<'tenant'>({
    name: 'loki_ingester_memory_streams',
    help: 'Active streams of tenants that this process knows.',
    labels: ['tenant'],
    read: () => named(tenants, streams()),
  });
  registry.counter<'tenant'>({
    name: 'loki_ingester_streams_created_total',
    help: 'Streams that became active by pushes to this process.',
    labels: ['tenant'],
    read: () => named(tenants, created()),
  });
}

/** Combines tenants without a separate name into one series. */
function named(
  tenants: BoundedNames,
  values: Iterable<readonly [tenant: string, value: number]>,
): Iterable<MetricSeries<'tenant'>> {
  const sums = new Map<string, number>();
  for (const [tenant, value] of values) {
    const name = tenants.of(tenant);
    sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return [...sums].map(([tenant, value]) => ({ labels: { tenant }, value }));
}
