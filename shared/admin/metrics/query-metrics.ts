/** Queries that were answered, and what they read, by tenant. A query over several tenants counts for each of them. */
import { BoundedNames } from './bounded-names.ts';
import { MAX_NAMED_TENANTS } from './ingest-metrics.ts';
import type { MetricsRegistry, Series } from './registry.ts';

interface Totals {
  queries: number;
  bytes: number;
}

export class QueryMetrics {
  private readonly totals = new Map<string, Totals>();
  private readonly tenants: BoundedNames;

  constructor(registry: MetricsRegistry, maxNamedTenants: number = MAX_NAMED_TENANTS) {
    this.tenants = new BoundedNames(maxNamedTenants);
    registry.counter<'tenant'>({
      name: 'logboom_queries_total',
      help: 'Log and metric queries that were answered.',
      labels: ['tenant'],
      read: () => this.series(({ queries }) => queries),
    });
    registry.counter<'tenant'>({
      name: 'logboom_query_bytes_total',
      help: 'Stored bytes that queries read.',
      labels: ['tenant'],
      read: () => this.series(({ bytes }) => bytes),
    });
  }

  /** `bytes`: stored bytes read, of this tenant. */
  answered(tenant: string, bytes: number): void {
    const name = this.tenants.of(tenant);
    let totals = this.totals.get(name);
    if (totals === undefined) {
      totals = { queries: 0, bytes: 0 };
      this.totals.set(name, totals);
    }
    totals.queries++;
    totals.bytes += bytes;
  }

  private *series(pick: (totals: Totals) => number): Iterable<Series<'tenant'>> {
    for (const [tenant, totals] of this.totals) yield { labels: { tenant }, value: pick(totals) };
  }
}
