/**
 * Metrics of delete requests (docs/dev/wire-format.md#metrics). Pending ones are those of the job's last run for
 * each tenant.
 */

import type { Clock } from '../../../base/ports/clock.ts';
import type { DeletionObserver } from '../../../upkeep/maintenance/deletion-job.ts';
import { BoundedNames } from './bounded-names.ts';
import { MAX_NAMED_TENANTS } from './ingest-metrics.ts';
import type { MetricsRegistry } from './registry.ts';

interface DeleteMetrics extends DeletionObserver {
  received(tenant: string): void;
}

export function addDeleteMetrics(
  registry: MetricsRegistry,
  {
    clock,
    maxNamedTenants = MAX_NAMED_TENANTS,
  }: { readonly clock: Clock; readonly maxNamedTenants?: number },
): DeleteMetrics {
  const tenants = new BoundedNames(maxNamedTenants);
  let count = 0;
  let oldestMs: number | undefined;
  const requests = (name: string, help: string) =>
    registry.counter<'user'>({
      name: `loki_compactor_delete_requests_${name}_total`,
      help,
      labels: ['user'],
    });
  const received = requests('received', 'Created delete requests.');
  const processed = requests('processed', 'Processed delete requests.');
  registry.untyped({
    name: 'loki_compactor_pending_delete_requests_count',
    help: 'Unprocessed delete requests at the last run of the job.',
    read: () => [{ labels: {}, value: count }],
  });
  registry.gauge({
    name: 'loki_compactor_oldest_pending_delete_request_age_seconds',
    help: 'Age of the oldest unprocessed delete request in seconds; 0 without one.',
    read: () => {
      const value = oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestMs) / 1000;
      return [{ labels: {}, value }];
    },
  });
  return {
    received: tenant => received.inc({ user: tenants.of(tenant) }),
    processed: (tenant, done) => processed.inc({ user: tenants.of(tenant) }, done),
    pending(now) {
      count = now.count;
      oldestMs = now.oldestMs;
    },
  };
}
