/**
 * Limits of a request before it is parsed, by the cost class of its route. An adapter reads them when it has
 * the head.
 */

import type { Config } from '../admin/config-fields.ts';
import type { CostClass, Router } from './routes.ts';

export interface RequestLimits {
  /** Cost class of the route. Unknown routes and status endpoints are light. */
  readonly cost: CostClass;
  /** Maximum body size as sent, bytes. */
  readonly maxBodyBytes: number;
}

/** Limits by method and path. */
export type RequestLimitsOf = (method: string, path: string) => RequestLimits;

export function createRequestLimits<Context>(
  router: Router<Context>,
  config: Pick<Config, 'distributor' | 'frontend'>,
): RequestLimitsOf {
  const maxBodyBytes = config.frontend.maxBodySize;
  const byCost: Record<CostClass, RequestLimits> = {
    push: { cost: 'push', maxBodyBytes: config.distributor.maxRecvMsgSize },
    query: { cost: 'query', maxBodyBytes },
    light: { cost: 'light', maxBodyBytes },
    maintenance: { cost: 'maintenance', maxBodyBytes },
  };
  return (method, path) => {
    try {
      const match = router.match(method, path);
      return match.kind === 'route' && !match.route.isStatus ? byCost[match.route.cost] : byCost.light;
    } catch {
      // An invalid path, which dispatch reports.
      return byCost.light;
    }
  };
}
