/**
 * What a process serves that is one component of several (contract, 1): its endpoints, and the work that it does by
 * itself. All of them work on the same stores, so any number of each may run.
 */
import type { Component, Route } from './routes.ts';

export const TARGETS = [
  'all',
  'read',
  'write',
  'backend',
  'distributor',
  'ingester',
  'querier',
  'query-frontend',
  'index-gateway',
  'ruler',
  'compactor',
] as const;
export type Target = (typeof TARGETS)[number];

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

/** Scheduled work of a target. */
export interface TargetWork {
  /** Compaction, deletion, retention, collection. */
  readonly maintains: boolean;
  readonly syncsIndexes: boolean;
  readonly evaluatesRules: boolean;
  /** Serves live tails. */
  readonly tails: boolean;
}

export function isExposed(target: Target, { component }: Pick<Route<never>, 'component'>): boolean {
  return component === 'all' || EXPOSED[target].includes(component);
}

export function routesOf<Context>(
  target: Target,
  routes: readonly Route<Context>[],
): readonly Route<Context>[] {
  return routes.filter(route => isExposed(target, route));
}

export function workOf(target: Target): TargetWork {
  const is = (...targets: readonly Target[]) => target === 'all' || targets.includes(target);
  return {
    maintains: is('compactor', 'backend'),
    syncsIndexes: is('index-gateway', 'backend'),
    // The reference's back end has a ruler in it, although the contract gives its endpoints to the ruler alone.
    evaluatesRules: is('ruler', 'backend'),
    tails: is('querier', 'read'),
  };
}
