/**
 * The roles of threads on one machine. Each is cut like a function of an account: by what its requests cost.
 *
 *     front     accepts HTTP and WebSockets, routes, answers what tells of the process; no work that grows with a request
 *     ingest    decodes, validates, encodes and writes pushes
 *     query     plans and scans; serves live tails, evaluates rules
 *     upkeep    compaction, deletion, retention, index sync, garbage collection
 *     table     commits to SQLite (table-thread.ts)
 */
import { availableParallelism } from 'node:os';
import { type Target, workOf } from '../../shared/server/admin/targets.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import type { Route } from '../../shared/server/http/routes.ts';
import { isExposed } from '../../shared/server/http/targets.ts';

export type Role = 'ingest' | 'query' | 'upkeep';

export const ROLES: readonly Role[] = ['ingest', 'query', 'upkeep'];

/** Cheap by their cost class, but they parse what clients wrote, or read what tenants stored. */
const TO_QUERY =
  /^\/(?:(?:svc\/api\/v1|api\/compat)\/rules|compat\/api\/v1\/|svc\/api\/v1\/(?:delete|status\/deletes|cache|format_query|ui\/))/;
const TO_UPKEEP = /^\/(?:flush|sync-indexes|svc\/api\/v1\/status\/maintenance)/;
/** Answered from what all threads counted. */
const TO_FRONT = new Set(['/svc/api/v1/usage']);

/** The role that serves a route; undefined: the front thread answers by itself. */
export function roleOf({ path, cost }: Pick<Route<never>, 'path' | 'cost'>): Role | undefined {
  if (TO_FRONT.has(path)) return undefined;
  if (cost === 'push') return 'ingest';
  if (cost === 'query' || TO_QUERY.test(path)) return 'query';
  return TO_UPKEEP.test(path) ? 'upkeep' : undefined;
}

/** Those that a process of this target needs, for requests or for its own work. */
export function rolesOf(target: Target): ReadonlySet<Role> {
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
 * Front threads of a process that takes pushes. Those beyond the first listen on the same port and have ingest threads of their own
 * (front-thread.ts). Only Linux shares the connections of a port among those that listen on it.
 */
export function frontsOf(target: Target, cores = availableParallelism()): number {
  if (process.platform !== 'linux' || !rolesOf(target).has('ingest')) return 1;
  return Math.ceil(cores / CORES_OF_A_FRONT);
}

/**
 * Threads of a role at most, on a machine of so many cores: one core is left to the front, which feeds all others; ingest and query
 * share the rest, as the system schedules them. Threads beyond the first start when all others are busy. Queries have a spare one
 * besides (role-pool.ts).
 */
export function threadsOf(role: Role, cores = availableParallelism()): number {
  return role === 'upkeep' ? 1 : Math.max(1, cores - 1);
}
