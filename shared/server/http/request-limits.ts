/**
 * Limits of a request before it is parsed, by the cost class of its route. An adapter reads them when it has
 * the head.
 */

import type { Limits } from '../../base/model/limits.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import { combineLimits } from '../../read/query/query-limits.ts';
import type { Config } from '../admin/config-fields.ts';
import { claimedTenants } from './credentials.ts';
import type { HttpRequest } from './message.ts';
import type { CostClass, Router } from './routes.ts';
import { queriedTenants, type TenantConfig } from './tenant.ts';

export interface RequestLimits {
  /** Cost class of the route. Unknown routes and status endpoints are light. */
  readonly cost: CostClass;
  /** Maximum body size as sent, bytes. */
  readonly maxBodyBytes: number;
  /** Time after which the request's signal aborts; 0 is never. */
  readonly deadlineMs: number;
}

/** Limits by method, path and headers: queries have the timeout of their tenants. */
export type RequestLimitsOf = (
  method: string,
  path: string,
  headers: HttpRequest['headers'],
) => RequestLimits;

export function createRequestLimits<Context>(
  router: Router<Context>,
  config: Pick<Config, 'access' | 'distributor' | 'frontend' | 'limits'> & TenantConfig,
  limitsOf: (tenant: string) => Limits = () => config.limits,
): RequestLimitsOf {
  const maxBodyBytes = config.frontend.maxBodySize;
  const byCost: Record<CostClass, RequestLimits> = {
    push: { cost: 'push', maxBodyBytes: config.distributor.maxRecvMsgSize, deadlineMs: 0 },
    query: { cost: 'query', maxBodyBytes, deadlineMs: timeoutMs(config.limits) },
    light: { cost: 'light', maxBodyBytes, deadlineMs: 0 },
    maintenance: { cost: 'maintenance', maxBodyBytes, deadlineMs: 0 },
  };
  const ofQuery = (headers: HttpRequest['headers']): RequestLimits => {
    try {
      const { ids } = queriedTenants({ tenants: claimedTenants(headers, config) }, config);
      const limits = combineLimits(ids.map(limitsOf));
      return { cost: 'query', maxBodyBytes, deadlineMs: timeoutMs(limits) };
    } catch {
      // No tenant, or an invalid one, which the handler reports.
      return byCost.query;
    }
  };
  return (method, path, headers) => {
    try {
      const match = router.match(method, path);
      if (match.kind !== 'route' || match.route.isStatus) return byCost.light;
      const { cost } = match.route;
      return cost === 'query' ? ofQuery(headers) : byCost[cost];
    } catch {
      // An invalid path, which dispatch reports.
      return byCost.light;
    }
  };
}

function timeoutMs({ queryTimeoutNs }: Limits): number {
  return Number(queryTimeoutNs / NS_PER_MS);
}
