/** Ends queries after the timeout of their tenants (`limits_config.query_timeout`). */

import type { Limits } from '../../base/model/limits.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { combineLimits } from '../../read/query/query-limits.ts';
import type { HttpRequest } from './message.ts';
import type { Route } from './routes.ts';

type TimedRoute = Pick<Route<never>, 'cost' | 'isStatus'>;

/** Runs a request that the guard has admitted, with a signal that also aborts at the timeout of its route. */
export type WithTimeout = <T>(
  route: TimedRoute,
  request: HttpRequest,
  run: (request: HttpRequest) => Promise<T>,
) => Promise<T>;

export const NO_TIMEOUT: WithTimeout = (_route, request, run) => run(request);

export function createQueryTimeout(clock: Clock, limitsOf: (tenant: string) => Limits): WithTimeout {
  return async (route, request, run) => {
    const ms = timeoutMs(route, request, limitsOf);
    if (ms === 0) return run(request);
    const late = new AbortController();
    const ended = new AbortController();
    const abort = () => late.abort(new DOMException(`over ${ms} ms`, 'TimeoutError'));
    // Rejects if the request ends first.
    clock.sleep(ms, ended.signal).then(abort, () => undefined);
    try {
      return await run({
        ...request,
        signal: AbortSignal.any([request.signal, late.signal]),
        deadlineMs: Math.min(request.deadlineMs ?? Infinity, clock.nowMs() + ms),
      });
    } finally {
      ended.abort();
    }
  };
}

/** 0 is no timeout. Tenants that the guard could not resolve have none, because the handler refuses the request. */
function timeoutMs(
  { cost, isStatus }: TimedRoute,
  { tenants }: HttpRequest,
  limitsOf: (tenant: string) => Limits,
): number {
  if (cost !== 'query' || isStatus || tenants?.kind !== 'resolved') return 0;
  return Number(combineLimits(tenants.ids.map(limitsOf)).queryTimeoutNs / NS_PER_MS);
}
