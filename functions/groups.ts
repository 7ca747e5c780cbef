/**
 * Which function serves a route. Functions are cut by what a request may cost, so that each has the memory, the time and
 * the rights of its class and no more. The stack routes by this, and each function knows only its own routes.
 */
import type { CostClass, Route } from '../shared/http/routes.ts';

export type FunctionName = 'push' | 'query' | 'status';

export const FUNCTION_NAMES: readonly FunctionName[] = ['push', 'query', 'status'];

const BY_COST: Readonly<Record<CostClass, FunctionName>> = { push: 'push', query: 'query', light: 'status' };

export function functionOf({ cost }: Pick<Route<never>, 'cost'>): FunctionName {
  return BY_COST[cost];
}
