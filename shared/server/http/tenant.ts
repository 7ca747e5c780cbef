/**
 * Whose logs a request is about: the header `X-Scope-OrgID` (docs/dev/wire-format.md#tenants). Ids are
 * separated by `|`. An empty one beside others is a tenant that has nothing: so `a|` names two tenants, as in the reference. A
 * colon is refused (differences, D15).
 */

import { BadRequestError, ClientError, invariant } from '../../base/model/errors.ts';
import { NO_TENANT, tenantIdFault } from '../../base/model/tenant-id.ts';
import type { Config } from '../admin/config-fields.ts';
import type { HttpRequest, RequestTenants } from './message.ts';

export const TENANT_HEADER = 'x-scope-orgid';
/** A query runs once for each tenant of its header, which at 64 KB could name thousands. */
export const MAX_TENANTS_PER_REQUEST = 100;

const SEVERAL = 'multiple org IDs present';

export type TenantConfig = Pick<Config, 'auth'> & {
  readonly querier: Pick<Config['querier'], 'multiTenantQueriesEnabled'>;
};
type Resolved = Pick<HttpRequest, 'tenants'>;

/** @param header what names the tenants, separated by `|`; undefined if nothing does */
export function resolveTenants(header: string | undefined, { auth }: Pick<Config, 'auth'>): RequestTenants {
  if (!auth.authEnabled) return resolved([auth.noAuthTenant]);
  if (header === undefined || header === '') {
    return { kind: 'refused', isUnnamed: header === undefined, status: 401, message: 'no org id' };
  }
  return checked(splitTenants(header), header.split('|').includes(''));
}

/** @param named by credentials or header, as the guard has checked them; none is a request that says nothing of tenants */
export function resolveNamed(named: readonly string[], config: Pick<Config, 'auth'>): RequestTenants {
  return config.auth.authEnabled && named.length > 0
    ? checked(named, false)
    : resolveTenants(undefined, config);
}

function checked(ids: readonly string[], hasEmpty: boolean): RequestTenants {
  for (const id of ids) {
    const fault = tenantIdFault(id);
    if (fault !== undefined) return refused(fault);
  }
  if (ids.length === 0) return refused('no org id');
  if (ids.length > MAX_TENANTS_PER_REQUEST) {
    return refused(`too many org IDs present: ${ids.length}, limit: ${MAX_TENANTS_PER_REQUEST}`);
  }
  return resolved([...(hasEmpty ? [NO_TENANT] : []), ...ids].sort());
}

function resolved(ids: readonly string[]): RequestTenants {
  return { kind: 'resolved', ids, key: ids.join('|') };
}

function refused(message: string): RequestTenants {
  return { kind: 'refused', isUnnamed: false, status: 400, message };
}

/** The tenants of a request that may name several, whatever the configuration says of queries. Throws ClientError 401 or 400. */
export function tenantsOf({ tenants }: Resolved): readonly string[] {
  invariant(tenants !== undefined, 'the guard has resolved the tenants of a request');
  if (tenants.kind === 'resolved') return tenants.ids;
  if (tenants.status === 401) throw new ClientError(401, tenants.message);
  throw new BadRequestError(tenants.message);
}

/** The tenants of a query. Throws ClientError 401 or 400. */
export function queriedTenants(request: Resolved, config: TenantConfig): readonly string[] {
  const ids = tenantsOf(request);
  if (ids.length > 1 && !config.querier.multiTenantQueriesEnabled) throw new BadRequestError(SEVERAL);
  return ids;
}

/** Whose a request is, for queues. Empty where the handler will refuse it. */
export function tenantsKey({ tenants }: Resolved, config: TenantConfig): string {
  if (tenants?.kind !== 'resolved') return '';
  return tenants.ids.length > 1 && !config.querier.multiTenantQueriesEnabled ? '' : tenants.key;
}

/** The tenant where only one is possible: push, tail, deletes, rules. Throws ClientError 401 or 400. */
export function singleTenant(request: Resolved): string {
  const ids = tenantsOf(request);
  if (ids.length > 1) throw new BadRequestError(SEVERAL);
  return ids[0];
}

/** Each once but for the empty one, in the order given, not checked. */
export function splitTenants(header: string): readonly string[] {
  return [...new Set(header.split('|'))].filter(id => id !== '');
}
