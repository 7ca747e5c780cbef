/**
 * Maps routes to functions. Functions are split by the cost class of a request, so that each has only the
 * memory, time and permissions of its class. The stack routes by this map, and each function serves only its
 * own routes.
 */
import { componentsOf, type ProcessTarget } from '../shared/server/admin/targets.ts';
import type { CostClass, Route } from '../shared/server/http/routes.ts';

export type FunctionName = 'push' | 'query' | 'status' | 'maintenance';

export const FUNCTION_NAMES: readonly FunctionName[] = ['push', 'query', 'status', 'maintenance'];

const BY_COST: Readonly<Record<CostClass, FunctionName>> = {
  push: 'push',
  query: 'query',
  light: 'status',
  maintenance: 'maintenance',
};

export function functionOf({ cost }: Pick<Route<never>, 'cost'>): FunctionName {
  return BY_COST[cost];
}

/** Functions that AWS services call with their own events. They serve no route. */
export type EventFunctionName = 'cloudwatch-logs' | 's3-objects';

export const EVENT_FUNCTION_NAMES: readonly EventFunctionName[] = ['cloudwatch-logs', 's3-objects'];

/** Functions of the WebSocket API of live tails, and the dispatcher that serves the tails. */
export type TailFunctionName = 'tail-connect' | 'tail-disconnect' | 'tail-default' | 'tail-dispatch';

export const TAIL_FUNCTION_NAMES: readonly TailFunctionName[] = [
  'tail-connect',
  'tail-disconnect',
  'tail-default',
  'tail-dispatch',
];

/** Function that the query function calls for query tasks. It serves no route. */
type WorkerFunctionName = 'query-worker';

export const WORKER_FUNCTION_NAMES: readonly WorkerFunctionName[] = ['query-worker'];

/**
 * Functions of the stack itself: timer, authorizer, first token, canary, contents of buckets, the all-in-one
 * function, and the export of closed days.
 */
export type StackFunctionName =
  | 'timer'
  | 'authorizer'
  | 'first-token'
  | 'canary'
  | 'bucket-content'
  | 'all-in-one'
  | 'export-days';

export const STACK_FUNCTION_NAMES: readonly StackFunctionName[] = [
  'timer',
  'authorizer',
  'first-token',
  'canary',
  'bucket-content',
  'all-in-one',
  'export-days',
];

export type AnyFunctionName = FunctionName | EventFunctionName | TailFunctionName | WorkerFunctionName;

/**
 * Component (docs/dev/operations.md#several-processes) that each function implements, as `--target` of a single process
 * names it. Used for names, tags and dashboards.
 */
export const TARGET_OF_FUNCTION: Readonly<Record<AnyFunctionName, ProcessTarget>> = {
  push: 'write',
  query: 'read',
  maintenance: 'backend',
  // Serves what any component serves, and reports about the others, so it is not one of them.
  status: 'all',
  'cloudwatch-logs': 'write',
  's3-objects': 'write',
  'tail-connect': 'querier',
  'tail-disconnect': 'querier',
  'tail-default': 'querier',
  'tail-dispatch': 'querier',
  'query-worker': 'querier',
};

/** Rings that contain the instances of the function. */
export function componentsOfFunction(name: AnyFunctionName): readonly string[] {
  return name === 'status' ? [] : componentsOf(TARGET_OF_FUNCTION[name]);
}
