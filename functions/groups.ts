/**
 * Which function serves a route. Functions are cut by what a request may cost, so that each has the memory, the time and
 * the rights of its class and no more. The stack routes by this, and each function knows only its own routes.
 */
import { componentsOf, type Target } from '../shared/server/admin/targets.ts';
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

/** Functions that AWS services call with events of their own; they serve no route. */
export type EventFunctionName = 'cloudwatch-logs' | 's3-objects';

export const EVENT_FUNCTION_NAMES: readonly EventFunctionName[] = ['cloudwatch-logs', 's3-objects'];

/** Functions of the WebSocket API of live tails, and the one that serves them. */
export type TailFunctionName = 'tail-connect' | 'tail-disconnect' | 'tail-default' | 'tail-dispatch';

export const TAIL_FUNCTION_NAMES: readonly TailFunctionName[] = [
  'tail-connect',
  'tail-disconnect',
  'tail-default',
  'tail-dispatch',
];

/** What the query function calls for parts of queries; it serves no route. */
export type WorkerFunctionName = 'query-worker';

export const WORKER_FUNCTION_NAMES: readonly WorkerFunctionName[] = ['query-worker'];

/** Functions of the stack itself: who looks at what is due, asks for tokens, makes the first, tries the store, and fills and empties buckets. */
export type StackFunctionName =
  | 'timer'
  | 'authorizer'
  | 'first-token'
  | 'canary'
  | 'bucket-content'
  | 'all-in-one';

export const STACK_FUNCTION_NAMES: readonly StackFunctionName[] = [
  'timer',
  'authorizer',
  'first-token',
  'canary',
  'bucket-content',
  'all-in-one',
];

export type AnyFunctionName = FunctionName | EventFunctionName | TailFunctionName | WorkerFunctionName;

/**
 * What each function is among the components (docs/dev/operations.md#several-processes), as a process of one machine would be
 * told by `--target`: for names, tags and dashboards.
 */
export const TARGET_OF_FUNCTION: Readonly<Record<AnyFunctionName, Target>> = {
  push: 'write',
  query: 'read',
  maintenance: 'backend',
  // What any component answers, and what tells of others: it is none of them.
  status: 'all',
  'cloudwatch-logs': 'write',
  's3-objects': 'write',
  'tail-connect': 'querier',
  'tail-disconnect': 'querier',
  'tail-default': 'querier',
  'tail-dispatch': 'querier',
  'query-worker': 'querier',
};

/** In whose rings its instances are. */
export function componentsOfFunction(name: AnyFunctionName): readonly string[] {
  return name === 'status' ? [] : componentsOf(TARGET_OF_FUNCTION[name]);
}
