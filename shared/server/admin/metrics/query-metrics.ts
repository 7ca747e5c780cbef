/**
 * Completed queries and the data that they read, by tenant. A query over several tenants counts for each of
 * them.
 */
import type { Counter, Histogram } from 'prom-client';
import type { QueryStatistics } from '../../../read/query/statistics.ts';
import { BoundedNames } from './bounded-names.ts';
import { MAX_NAMED_TENANTS } from './ingest-metrics.ts';
import type { MetricSeries, MetricsRegistry } from './registry.ts';

/** Seconds: from a cached result to the longest allowed query. */
const SECONDS = [0.01, 0.05, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128];
const BYTES_PER_SECOND = [1e5, 1e6, 1e7, 5e7, 1e8, 3e8, 6e8, 1e9, 2e9, 5e9];

type StatisticsLabel = 'status_code' | 'type' | 'range';

/** Kind of query, in the terms of the reference's metrics. */
export interface QueryKind {
  readonly type: 'metric' | 'limited';
  readonly range: 'range' | 'instant';
}

interface QueryTotals {
  queries: number;
  bytes: number;
}

export class QueryMetrics {
  readonly #totals = new Map<string, QueryTotals>();
  readonly #tenants: BoundedNames;
  readonly #seconds: Histogram<StatisticsLabel>;
  readonly #bytesPerSecond: Histogram<StatisticsLabel>;
  readonly #downloadSeconds: Histogram<StatisticsLabel>;
  readonly #duplicates: Counter<never>;
  readonly #chunks: Counter<StatisticsLabel>;

  constructor(registry: MetricsRegistry, maxNamedTenants: number = MAX_NAMED_TENANTS) {
    this.#tenants = new BoundedNames(maxNamedTenants);
    registry.counter<'tenant'>({
      name: 'logboom_queries_total',
      help: 'Successful log and metric queries.',
      labels: ['tenant'],
      read: () => this.#series(({ queries }) => queries),
    });
    registry.counter<'tenant'>({
      name: 'logboom_query_bytes_total',
      help: 'Stored bytes that queries read.',
      labels: ['tenant'],
      read: () => this.#series(({ bytes }) => bytes),
    });
    const labels = ['status_code', 'type', 'range'] as const;
    const histogram = (name: string, help: string, buckets: readonly number[]) =>
      registry.histogram<StatisticsLabel>({ name: `loki_logql_querystats_${name}`, help, labels, buckets });
    this.#seconds = histogram('latency_seconds', 'Duration of successful queries in seconds.', SECONDS);
    this.#bytesPerSecond = histogram(
      'bytes_processed_per_seconds',
      'Bytes of lines and structured metadata that successful queries read, per second.',
      BYTES_PER_SECOND,
    );
    this.#downloadSeconds = histogram(
      'chunk_download_latency_seconds',
      'Time that successful queries spent reading pages, in seconds.',
      SECONDS,
    );
    this.#chunks = registry.counter<StatisticsLabel>({
      name: 'loki_logql_querystats_downloaded_chunk_total',
      help: 'Chunks read by successful queries.',
      labels,
    });
    this.#duplicates = registry.counter({
      name: 'loki_logql_querystats_duplicates_total',
      help: 'Duplicate entries skipped by successful queries.',
    });
  }

  /** @param bytes stored bytes read for this tenant */
  answered(tenant: string, bytes: number): void {
    const name = this.#tenants.of(tenant);
    let totals = this.#totals.get(name);
    if (totals === undefined) {
      totals = { queries: 0, bytes: 0 };
      this.#totals.set(name, totals);
    }
    totals.queries++;
    totals.bytes += bytes;
  }

  /**
   * Called once per query, whatever its tenants. Only successful queries are counted, so the status is always
   * 200.
   */
  measured({ type, range }: QueryKind, statistics: QueryStatistics, execNs: number): void {
    const labels = { status_code: '200', type, range };
    const seconds = execNs / 1e9;
    const bytes = statistics.lineBytes + statistics.metadataBytes;
    this.#seconds.observe(labels, seconds);
    if (seconds > 0) this.#bytesPerSecond.observe(labels, bytes / seconds);
    this.#downloadSeconds.observe(labels, statistics.downloadNs / 1e9);
    this.#chunks.inc(labels, statistics.chunksRead);
    this.#duplicates.inc(statistics.duplicates);
  }

  *#series(pick: (totals: QueryTotals) => number): Iterable<MetricSeries<'tenant'>> {
    for (const [tenant, totals] of this.#totals) yield { labels: { tenant }, value: pick(totals) };
  }
}
