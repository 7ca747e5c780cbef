/**
 * Roles of threads on one machine. Like functions in an AWS account, they are divided by the cost of
 * requests.
 *
 *     front     accepts HTTP and WebSockets, routes, serves the status of the process; no work that grows with a request
 *     ingest    decodes, validates, encodes and writes pushes
 *     query     plans and scans; serves live tails, evaluates rules
 *     upkeep    compaction, deletion, retention, index sync, garbage collection
 *     table     commits to SQLite (table-thread.ts)
 */
import { availableParallelism } from 'node:os';
import { type ProcessTarget, workOf } from '../../shared/server/admin/targets.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import type { Route } from '../../shared/server/http/routes.ts';
import { isExposed } from '../../shared/server/http/targets.ts';

export type Role = 'ingest' | 'query' | 'upkeep';

export const ROLES: readonly Role[] = ['ingest', 'query', 'upkeep'];

/** Light routes that still parse client input or read stored data, so query threads serve them. */
const TO_QUERY =
  /^\/(?:(?:svc\/api\/v1|api\/compat)\/rules|compat\/api\/v1\/|svc\/api\/v1\/(?:delete|status\/deletes|cache|format_query|ui\/))/;
const TO_UPKEEP = /^\/(?:flush|sync-indexes|svc\/api\/v1\/status\/maintenance)/;
/** Routes that the front serves after all threads have written their counts. */
const TO_FRONT = new Set(['/svc/api/v1/usage']);

/** Role that serves a route; `undefined` if the front thread serves it. */
export function roleOf({ path, cost }: Pick<Route<never>, 'path' | 'cost'>): Role | undefined {
  if (TO_FRONT.has(path)) return undefined;
  if (cost === 'push') return 'ingest';
  if (cost === 'query' || TO_QUERY.test(path)) return 'query';
  return TO_UPKEEP.test(path) ? 'upkeep' : undefined;
}

/** Roles that a process of this target needs, for requests or for background work. */
export function rolesOf(target: ProcessTarget): ReadonlySet<Role> {
  const roles = new Set<Role>();
  for (const route of ROUTES) {
    const role = isExposed(target, route) ? roleOf(route) : undefined;
    if (role !== undefined) roles.add(role);
  }
  const { maintains, syncsIndexes, evaluatesRules, tails } = workOf(target);
  if (maintains || syncsIndexes) roles.add('upkeep');
  if (evaluatesRules || tails) roles.add('query');
  return roles;
}

/** Receiving and routing takes a seventh of the CPU of a push of 256 KB (docs/dev/threads.md#scaling). */
const CORES_OF_A_FRONT = 7;

/**
 * Number of front threads of a process that accepts pushes. Further ones listen on the same port and have
 * their own ingest threads (front-thread.ts). Only Linux distributes the connections of a port among several
 * listeners.
 */
export function frontsOf(target: ProcessTarget, cores = availableParallelism()): number {
  if (process.platform !== 'linux' || !rolesOf(target).has('ingest')) return 1;
  return Math.ceil(cores / CORES_OF_A_FRONT);
}

/**
 * Maximum threads of a role on a machine with `cores` cores. One core is for the front, which feeds all
 * others. Ingest and query share the other cores, as the system schedules them. Further threads start when
 * all others are busy. Queries have an additional spare thread (role-pool.ts). Upkeep has up to half of the
 * cores, because merging takes about as much CPU as ingest (docs/dev/threads.md#scaling).
 */
export function threadsOf(role: Role, cores = availableParallelism()): number {
  return Math.max(1, role === 'upkeep' ? cores >> 1 : cores - 1);
}
