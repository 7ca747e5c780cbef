/** Endpoints of a process that is one of several components (docs/dev/operations.md#several-processes). */
import type { ProcessTarget } from '../admin/targets.ts';
import type { Component, Route } from './routes.ts';

/** Components whose endpoints a target exposes, in addition to those that all targets expose. */
const EXPOSED: Readonly<Record<ProcessTarget, readonly Component[]>> = {
  all: ['distributor', 'ingester', 'querier', 'query-frontend', 'index-gateway', 'ruler', 'compactor'],
  read: ['querier', 'query-frontend'],
  write: ['distributor', 'ingester'],
  backend: ['index-gateway', 'compactor'],
  distributor: ['distributor'],
  ingester: ['ingester'],
  // A querier serves everything that a query frontend serves.
  querier: ['querier', 'query-frontend'],
  'query-frontend': ['query-frontend'],
  'index-gateway': ['index-gateway'],
  ruler: ['ruler'],
  compactor: ['compactor'],
};

export function isExposed(target: ProcessTarget, { component }: Pick<Route<never>, 'component'>): boolean {
  return component === 'all' || EXPOSED[target].includes(component);
}

export function routesOf<Context>(
  target: ProcessTarget,
  routes: readonly Route<Context>[],
): readonly Route<Context>[] {
  return routes.filter(route => isExposed(target, route));
}
