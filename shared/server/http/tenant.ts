/**
 * Tenants of a request: the header `X-Scope-OrgID` (docs/dev/wire-format.md#tenants). IDs are
 * separated by `|`. An empty ID together with others is a tenant without data: `a|` names two tenants, as in
 * the reference. A colon is refused (difference D15).
 */

import { BadRequestError, ClientError, invariant } from '../../base/model/errors.ts';
import { NO_TENANT, tenantIdFault } from '../../base/model/tenant-id.ts';
import type { Config } from '../admin/config-fields.ts';
import type { HttpRequest, RequestTenants, ResolvedTenants } from './message.ts';

export const TENANT_HEADER = 'x-scope-orgid';
/** Maximum tenants per request. A query runs once per tenant, and a header of 64 KB could name thousands. */
export const MAX_TENANTS_PER_REQUEST = 100;

const SEVERAL = 'multiple org IDs present';

export type TenantConfig = Pick<Config, 'auth'> & {
  readonly querier: Pick<Config['querier'], 'multiTenantQueriesEnabled'>;
};
type Resolved = Pick<HttpRequest, 'tenants'>;

/** @param header names of the tenants, separated by `|`; `undefined` if the request has none */
export function resolveTenants(header: string | undefined, { auth }: Pick<Config, 'auth'>): RequestTenants {
  if (!auth.authEnabled) return resolved([auth.noAuthTenant]);
  if (header === undefined || header === '') {
    return { kind: 'refused', isUnnamed: header === undefined, status: 401, message: 'no org id' };
  }
  return checked(splitTenants(header), header.split('|').includes(''));
}

/** @param named tenants of credentials or header, checked by the guard; empty if the request names none */
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
export function tenantsOf(request: Resolved): readonly string[] {
  return resolvedTenants(request).ids;
}

function resolvedTenants({ tenants }: Resolved): ResolvedTenants {
  invariant(tenants !== undefined, 'the guard has resolved the tenants of a request');
  if (tenants.kind === 'resolved') return tenants;
  if (tenants.status === 401) throw new ClientError(401, tenants.message);
  throw new BadRequestError(tenants.message);
}

/** The tenants of a query. Throws ClientError 401 or 400. */
export function queriedTenants(request: Resolved, config: TenantConfig): ResolvedTenants {
  const tenants = resolvedTenants(request);
  if (tenants.ids.length > 1 && !config.querier.multiTenantQueriesEnabled) throw new BadRequestError(SEVERAL);
  return tenants;
}

/** Key of the tenants for queues. Empty if the handler will refuse the request. */
export function tenantsKey({ tenants }: Resolved, config: TenantConfig): string {
  if (tenants?.kind !== 'resolved') return '';
  return tenants.ids.length > 1 && !config.querier.multiTenantQueriesEnabled ? '' : tenants.key;
}

/** Tenant of endpoints that accept only one: push, tail, deletes, rules. Throws ClientError 401 or 400. */
export function singleTenant(request: Resolved): string {
  const ids = tenantsOf(request);
  if (ids.length > 1) throw new BadRequestError(SEVERAL);
  return ids[0];
}

/** Splits the header without duplicates and empty IDs, in the given order. Does not validate them. */
export function splitTenants(header: string): readonly string[] {
  return [...new Set(header.split('|'))].filter(id => id !== '');
}
