/**
 * Turns for queries: a process works on so many at once, the others wait. Tenants take turns, so that the thousand queries of
 * one never stand before the one of another. A request over several tenants waits as one of its own kind.
 */
import type { Config } from '../admin/config-fields.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import type { ScanTurns } from '../query/scan-turns.ts';
import { FairQueue } from '../query/tasks/fair-queue.ts';
import type { InTurn } from './dispatch.ts';
import type { Request } from './message.ts';
import { resolveTenants } from './tenant.ts';

/** Of the places: queries of one tenant may hold the rest for as long as a query may take. */
const KEPT_FOR_OTHERS = 0.25;

export interface QueryTurnsParts {
  readonly config: Config;
  /** Where the turns are shown. */
  readonly registry?: MetricsRegistry;
  /** Told of each request: it is at hand, and then answered. */
  readonly turns?: Pick<ScanTurns, 'begin'>;
}

export function createQueryTurns({ config, registry, turns }: QueryTurnsParts): InTurn {
  const { querier, frontend } = config;
  const queue = new FairQueue({
    slots: querier.maxConcurrent,
    maxWaiting: frontend.maxOutstandingPerTenant,
    keptForOthers: Math.floor(querier.maxConcurrent * KEPT_FOR_OTHERS),
  });
  registry?.gauge<'state'>({
    name: 'logboom_query_requests',
    help: 'Requests for queries that run, and that wait for their turn among the tenants.',
    labels: ['state'],
    read: () => [
      { labels: { state: 'running' }, value: queue.active },
      { labels: { state: 'waiting' }, value: queue.length },
    ],
  });
  const keyOf = ({ headers }: Request): string => {
    try {
      return resolveTenants(headers, config).join('|');
    } catch {
      // No tenant, or a broken one: the handler will say so.
      return '';
    }
  };
  return (cost, task, request) => {
    const key = keyOf(request);
    const run = async () => {
      const end = turns?.begin(key);
      try {
        return await task();
      } finally {
        end?.();
      }
    };
    return cost === 'query' ? queue.run(key, request.signal, run) : run();
  };
}
