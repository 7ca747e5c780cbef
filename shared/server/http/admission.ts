/**
 * Admission control of a process: so many queries and so many pushes run at once, the others wait, tenants in turns. A request over
 * several tenants waits as one more tenant.
 */

import { AdmissionQueue } from '../../base/scheduling/admission-queue.ts';
import type { Config } from '../admin/config-fields.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import type { Admit } from './dispatch.ts';
import type { CostClass } from './routes.ts';
import { tenantsKey } from './tenant.ts';

/** Share of the slots that one tenant never gets: its requests may hold theirs for as long as a request may take. */
const KEPT_FOR_OTHERS = 0.25;

/**
 * Share of the places for requests of the process that waiting requests of one tenant and kind may take: half of what a kind may have
 * of them (local/gateway-places.ts), so that another tenant's request comes as far as here.
 */
const SHARE_OF_PLACES = 0.25;

export interface AdmissionParts {
  readonly config: Config;
  /** Pushes that are decoded and written at once. */
  readonly pushSlots: number;
  /** Shows what runs and what waits. */
  readonly registry?: MetricsRegistry;
}

export function createAdmission({ config, pushSlots, registry }: AdmissionParts): Admit {
  const { querier, frontend, logboom } = config;
  const maxWaiting = Math.min(
    frontend.maxOutstandingPerTenant,
    Math.ceil(logboom.maxConcurrentRequests * SHARE_OF_PLACES),
  );
  const queueOf = (slots: number) =>
    new AdmissionQueue({
      slots,
      maxWaiting,
      keptForOthers: Math.floor(slots * KEPT_FOR_OTHERS),
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
