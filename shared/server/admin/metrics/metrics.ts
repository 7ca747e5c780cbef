/** All metrics of a store: held by the HTTP context and printed by `GET /metrics`. */
import type { Limits } from '../../../base/model/limits.ts';
import { NS_PER_SECOND } from '../../../base/model/time-units.ts';
import { buildInfo } from '../build-info.ts';
import { IngestMetrics } from './ingest-metrics.ts';
import { LineLengths } from './line-lengths.ts';
import { QueryMetrics } from './query-metrics.ts';
import { MetricsRegistry } from './registry.ts';
import { RequestMetrics } from './request-metrics.ts';

export interface Metrics {
  /** Registry for metrics of other modules. */
  readonly registry: MetricsRegistry;
  readonly ingest: IngestMetrics;
  readonly lineLengths: LineLengths;
  readonly queries: QueryMetrics;
  readonly requests: RequestMetrics;
}

interface MetricsOptions {
  /** Retention of a tenant's logs in hours. Default: forever. */
  readonly retentionHoursOf?: (tenant: string) => number;
  /** Maximum number of tenants with separate series. */
  readonly maxNamedTenants?: number;
  /** Add process metrics. At most one store of a process may set it. */
  readonly ofProcess?: boolean;
}

const FOR_EVER = () => 0;

/** Value of the label `retention_hours`. */
export function retentionHours({ retentionPeriodNs }: Pick<Limits, 'retentionPeriodNs'>): number {
  return Number(retentionPeriodNs / (3600n * NS_PER_SECOND));
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { retentionHoursOf = FOR_EVER, maxNamedTenants, ofProcess = false } = options;
  const registry = new MetricsRegistry();
  addBuildInfo(registry);
  const metrics = {
    registry,
    ingest: new IngestMetrics(registry, { retentionHoursOf, maxNamedTenants }),
    lineLengths: new LineLengths(registry),
    queries: new QueryMetrics(registry, maxNamedTenants),
    requests: new RequestMetrics(registry),
  };
  if (ofProcess) registry.addProcessMetrics();
  return metrics;
}

function addBuildInfo(registry: MetricsRegistry): void {
  const { version, revision, branch, goVersion: goversion } = buildInfo();
  const info = registry.gauge<'version' | 'revision' | 'branch' | 'goversion'>({
    name: 'loki_build_info',
    help: 'Always 1; the labels have the version.',
    labels: ['version', 'revision', 'branch', 'goversion'],
  });
  info.set({ version, revision, branch, goversion }, 1);
}
