/**
 * What an endpoint asks of who calls it, where tokens are on (docs/dev/security-review.md): a scope, and for whom the token must be.
 * Every route has one of these; what matters less than it looks is whether an endpoint reads or writes, and more whose data it shows.
 */
import type { Scope } from '../../base/model/scopes.ts';

export type Access =
  /** Anybody may call it: it shows nothing of any tenant. */
  | { readonly kind: 'open' }
  /** Whoever has a token; the handler tells them about it. */
  | { readonly kind: 'known' }
  | {
      readonly kind: 'scope';
      readonly scope: Scope;
      /**
       * `tenant`: for each tenant that the request names. `store`: for all, as it shows or changes what is not one tenant's.
       * `nobody`: it touches no data, and the scope alone is asked for.
       */
      readonly over: 'tenant' | 'store' | 'nobody';
    };

function scoped(scope: Scope, over: 'tenant' | 'store' | 'nobody' = 'tenant'): Access {
  return Object.freeze({ kind: 'scope', scope, over });
}

export const OPEN: Access = Object.freeze({ kind: 'open' });
export const KNOWN: Access = Object.freeze({ kind: 'known' });
export const READ_LOGS = scoped('logs:read');
/** Takes tickets besides tokens. */
export const TAIL_LOGS = scoped('logs:read');
/** What a client asks before or beside its queries. */
export const PREPARE_READ = scoped('logs:read', 'nobody');
export const WRITE_LOGS = scoped('logs:write');
/** What an agent asks before it ships. */
export const PREPARE_WRITE = scoped('logs:write', 'nobody');
export const DELETE_LOGS = scoped('logs:delete');
export const READ_RULES = scoped('rules:read');
export const WRITE_RULES = scoped('rules:write');
/** Saved queries and boards that users of a tenant share; who reads logs reads them. */
export const WRITE_BOARDS = scoped('boards:write');
export const ADMIN_TENANT = scoped('admin');
export const ADMIN_STORE = scoped('admin', 'store');
/** As ADMIN_STORE, unless `auth.metrics_public` says that they are open: few scrapers stand where tokens are. */
export const METRICS = scoped('admin', 'store');
