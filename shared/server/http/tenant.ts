/**
 * Whose logs a request is about: the header `X-Scope-OrgID` (wire-format reference, 9; contract, 5 and 8). Ids are
 * separated by `|`. An empty one beside others is a tenant that has nothing: so `a|` names two tenants, as in the reference. A
 * colon is refused (differences, D15).
 */

import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import { checkTenantId, NO_TENANT } from '../../base/model/tenant-id.ts';
import type { Config } from '../admin/config-fields.ts';
import type { HttpRequest } from './message.ts';

export { checkTenantId };

export const TENANT_HEADER = 'x-scope-orgid';
/** A query runs once for each tenant of its header, which at 64 KB could name thousands. */
export const MAX_TENANTS_PER_REQUEST = 100;

const SEVERAL = 'multiple org IDs present';

export type TenantConfig = Pick<Config, 'auth'> & {
  readonly querier: Pick<Config['querier'], 'multiTenantQueriesEnabled'>;
};
type Headers = HttpRequest['headers'];

/** The tenants of a query, at least one, sorted, each once; the empty one only beside others. Throws ClientError 401 or 400. */
export function resolveTenants(headers: Headers, config: TenantConfig): readonly string[] {
  const tenants = readTenants(headers, config);
  if (tenants.length > 1 && !config.querier.multiTenantQueriesEnabled) throw new BadRequestError(SEVERAL);
  return tenants;
}

/** Whose a request is, for queues: its tenants together are one more. Empty where the handler will refuse it. */
export function tenantsKey(headers: Headers, config: TenantConfig): string {
  try {
    return resolveTenants(headers, config).join('|');
  } catch {
    return '';
  }
}

/** The tenant where only one is possible: push, tail, deletes, rules. Throws ClientError 401 or 400. */
export function singleTenant(headers: Headers, config: TenantConfig): string {
  const tenants = readTenants(headers, config);
  if (tenants.length > 1) throw new BadRequestError(SEVERAL);
  return tenants[0];
}

function readTenants(headers: Headers, { auth }: TenantConfig): readonly string[] {
  if (!auth.authEnabled) return [auth.noAuthTenant];
  const header = headers[TENANT_HEADER];
  if (header === undefined || header === '') throw new ClientError(401, 'no org id');
  const ids = splitTenants(header);
  for (const id of ids) checkTenantId(id);
  if (ids.length === 0) throw new BadRequestError('no org id');
  const empty = header.split('|').includes('') ? [NO_TENANT] : [];
  if (ids.length > MAX_TENANTS_PER_REQUEST) {
    throw new BadRequestError(`too many org IDs present: ${ids.length}, limit: ${MAX_TENANTS_PER_REQUEST}`);
  }
  return [...empty, ...ids].sort();
}

/** Each once but for the empty one, in the order given, not checked. */
export function splitTenants(header: string): readonly string[] {
  return [...new Set(header.split('|'))].filter(id => id !== '');
}
