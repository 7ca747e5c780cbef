/**
 * Roles of a process if several share the work (docs/dev/operations.md#several-processes), and the background work of each. All of them
 * use the same stores, so any number of each may run. shared/server/http/targets.ts lists the endpoints of
 * each.
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
export type ProcessTarget = (typeof TARGETS)[number];

/** Background work of a target. */
interface TargetWork {
  /** Compaction, deletion, retention, garbage collection. */
  readonly maintains: boolean;
  readonly syncsIndexes: boolean;
  readonly evaluatesRules: boolean;
  /** Serves live tails. */
  readonly tails: boolean;
}

export function workOf(target: ProcessTarget): TargetWork {
  const is = (...targets: readonly ProcessTarget[]) => target === 'all' || targets.includes(target);
  return {
    maintains: is('compactor', 'backend'),
    syncsIndexes: is('index-gateway', 'backend'),
    // The reference's backend includes a ruler, although the contract gives the ruler's endpoints to the
    // ruler alone.
    evaluatesRules: is('ruler', 'backend'),
    tails: is('querier', 'read'),
  };
}

/**
 * Components of the reference that run in a process of the target. The process reports them to other members.
 */
export function componentsOf(target: ProcessTarget): readonly string[] {
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
