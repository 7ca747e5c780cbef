/** Which endpoints a process serves that is one component of several (docs/dev/operations.md#several-processes). */
import type { Target } from '../admin/targets.ts';
import type { Component, Route } from './routes.ts';

/** Which components' endpoints a target exposes, besides those that all expose. */
const EXPOSED: Readonly<Record<Target, readonly Component[]>> = {
  all: ['distributor', 'ingester', 'querier', 'query-frontend', 'index-gateway', 'ruler', 'compactor'],
  read: ['querier', 'query-frontend'],
  write: ['distributor', 'ingester'],
  backend: ['index-gateway', 'compactor'],
  distributor: ['distributor'],
  ingester: ['ingester'],
  // Whatever a front end answers a querier answers too.
  querier: ['querier', 'query-frontend'],
  'query-frontend': ['query-frontend'],
  'index-gateway': ['index-gateway'],
  ruler: ['ruler'],
  compactor: ['compactor'],
};

export function isExposed(target: Target, { component }: Pick<Route<never>, 'component'>): boolean {
  return component === 'all' || EXPOSED[target].includes(component);
}

export function routesOf<Context>(
  target: Target,
  routes: readonly Route<Context>[],
): readonly Route<Context>[] {
  return routes.filter(route => isExposed(target, route));
}
