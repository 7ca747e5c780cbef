/**
 * What a process may be when several share the work (docs/dev/operations.md#several-processes), and what it does by itself. All
 * of them work on the same stores, so any number of each may run. Which endpoints each serves is in
 * shared/server/http/targets.ts.
 */
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

/** Scheduled work of a target. */
export interface TargetWork {
  /** Compaction, deletion, retention, collection. */
  readonly maintains: boolean;
  readonly syncsIndexes: boolean;
  readonly evaluatesRules: boolean;
  /** Serves live tails. */
  readonly tails: boolean;
}

export function workOf(target: Target): TargetWork {
  const is = (...targets: readonly Target[]) => target === 'all' || targets.includes(target);
  return {
    maintains: is('compactor', 'backend'),
    syncsIndexes: is('index-gateway', 'backend'),
    // The reference's back end has a ruler in it, although its documentation gives the endpoints to the ruler alone.
    evaluatesRules: is('ruler', 'backend'),
    tails: is('querier', 'read'),
  };
}

/** Components of the reference that run in a process of the target: what it tells other members that it is. */
export function componentsOf(target: Target): readonly string[] {
  switch (target) {
    case 'all':
      return ['distributor', 'ingester', 'querier', 'query-frontend', 'index-gateway', 'ruler', 'compactor'];
    case 'read':
      return ['querier', 'query-frontend'];
    case 'write':
      return ['distributor', 'ingester'];
    case 'backend':
      return ['index-gateway', 'ruler', 'compactor'];
    default:
      return [target];
  }
}
