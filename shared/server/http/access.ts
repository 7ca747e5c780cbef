/**
 * Access rule of an endpoint if tokens are enabled (docs/dev/security-review.md): a scope, and the tenants
 * that the token must include. Every route has one. It matters more whose data an endpoint shows than whether
 * it reads or writes.
 */
import type { Scope } from '../../base/model/scopes.ts';

export type Access =
  /** No token needed: the endpoint shows nothing of any tenant. */
  | { readonly kind: 'open' }
  /** Any valid token. The handler describes it to the client. */
  | { readonly kind: 'known' }
  | {
      readonly kind: 'scope';
      readonly scope: Scope;
      /**
       * `tenant`: the token must include each tenant that the request names. `store`: it must include all
       * tenants, because the endpoint shows or changes data beyond one tenant. `none`: the endpoint uses no
       * data, so only the scope counts.
       */
      readonly over: 'tenant' | 'store' | 'none';
    };

function scoped(scope: Scope, over: 'tenant' | 'store' | 'none' = 'tenant'): Access {
  return Object.freeze({ kind: 'scope', scope, over });
}

export const OPEN: Access = Object.freeze({ kind: 'open' });
export const KNOWN: Access = Object.freeze({ kind: 'known' });
export const READ_LOGS = scoped('logs:read');
/** Accepts tickets in addition to tokens. */
export const TAIL_LOGS = scoped('logs:read');
/** Requests that clients send before or between queries. */
export const PREPARE_READ = scoped('logs:read', 'none');
export const WRITE_LOGS = scoped('logs:write');
/** Requests that agents send before they push. */
export const PREPARE_WRITE = scoped('logs:write', 'none');
export const DELETE_LOGS = scoped('logs:delete');
export const READ_RULES = scoped('rules:read');
export const WRITE_RULES = scoped('rules:write');
/**
 * Saved queries and boards that users of a tenant share. Reading them needs only the scope for reading logs.
 */
export const WRITE_BOARDS = scoped('boards:write');
export const ADMIN_TENANT = scoped('admin');
export const ADMIN_STORE = scoped('admin', 'store');
/** Like ADMIN_STORE, unless `auth.metrics_public` opens them, because many scrapers cannot send tokens. */
export const METRICS = scoped('admin', 'store');
