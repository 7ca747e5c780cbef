/** What a request may cost before it is understood, by the cost class of its route: an adapter asks when it has the head. */
import type { Config } from '../admin/config-fields.ts';
import { NS_PER_MS } from '../model/duration.ts';
import type { CostClass, Router } from './routes.ts';

export interface RequestLimits {
  /** Largest body as sent, bytes. */
  readonly maxBodyBytes: number;
  /** The request's signal aborts after this time; 0 is never. */
  readonly deadlineMs: number;
}

export function createRequestLimits<Context>(
  router: Router<Context>,
  config: Pick<Config, 'distributor' | 'frontend' | 'limits'>,
): (method: string, path: string) => RequestLimits {
  const maxBodyBytes = config.frontend.maxBodySize;
  const byCost: Record<CostClass, RequestLimits> = {
    push: { maxBodyBytes: config.distributor.maxRecvMsgSize, deadlineMs: 0 },
    query: { maxBodyBytes, deadlineMs: Number(config.limits.queryTimeoutNs / NS_PER_MS) },
    light: { maxBodyBytes, deadlineMs: 0 },
  };
  return (method, path) => {
    try {
      const match = router.match(method, path);
      return byCost[match.kind === 'route' ? match.route.cost : 'light'];
    } catch {
      // A broken path: dispatch will say so.
      return byCost.light;
    }
  };
}
