/**
 * Admission control of a process: limits concurrent queries and pushes, and queues the rest with fair
 * scheduling of tenants. A request over several tenants counts as a separate tenant.
 */

import { AdmissionQueue } from '../../base/scheduling/admission-queue.ts';
import type { Config } from '../admin/config-fields.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import type { Admit } from './dispatch.ts';
import type { CostClass } from './routes.ts';
import { tenantsKey } from './tenant.ts';

/**
 * Share of the slots that one tenant never gets, because its requests may hold theirs for a whole request
 * timeout.
 */
const RESERVED_FOR_OTHERS = 0.25;

/**
 * Share of the request slots of the process that waiting requests of one tenant and cost class may use. It is
 * half of the slots of a class (local/gateway-slots.ts), so that requests of another tenant get past the
 * gateway.
 */
const WAITING_SHARE = 0.25;

interface AdmissionParts {
  readonly config: Config;
  /** Pushes that are decoded and written concurrently. */
  readonly pushSlots: number;
  /** Registry for metrics of running and waiting requests. */
  readonly registry?: MetricsRegistry;
}

export function createAdmission({ config, pushSlots, registry }: AdmissionParts): Admit {
  const { querier, frontend, logboom } = config;
  const maxWaiting = Math.min(
    frontend.maxOutstandingPerTenant,
    Math.ceil(logboom.maxConcurrentRequests * WAITING_SHARE),
  );
  const queueOf = (slots: number) =>
    new AdmissionQueue({
      slots,
      maxWaiting,
      keptForOthers: Math.floor(slots * RESERVED_FOR_OTHERS),
    });
  const queries = queueOf(querier.maxConcurrent);
  const pushes = queueOf(pushSlots);
  const queues: Partial<Record<CostClass, AdmissionQueue>> = { query: queries, push: pushes };
  for (const [kind, queue] of [
    ['query', queries],
    ['push', pushes],
  ] as const) {
    registry?.gauge<'state'>({
      name: `logboom_${kind}_requests`,
      help: `Requests of kind ${kind}, running and waiting (fair scheduling of tenants).`,
      labels: ['state'],
      read: () => [
        { labels: { state: 'running' }, value: queue.active },
        { labels: { state: 'waiting' }, value: queue.length },
      ],
    });
  }
  return (cost, task, request) =>
    queues[cost]?.run(tenantsKey(request, config), request.signal, task) ?? task();
}
