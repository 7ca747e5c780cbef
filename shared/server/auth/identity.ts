/** Identity of a client according to its token. No part of a request extends it. */

import { ALL_TENANTS, type Scope } from '../../base/model/scopes.ts';
import type { TokenRecord } from '../../storage/catalog/tokens.ts';

export interface Identity {
  readonly tokenId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Tenant names, or only ALL_TENANTS. */
  readonly tenants: readonly string[];
  readonly expiresMs?: number | undefined;
}

export function identityOf({ id, name, scopes, tenants, expiresMs }: TokenRecord): Identity {
  return { tokenId: id, name, scopes, tenants, ...(expiresMs === undefined ? {} : { expiresMs }) };
}

export function isForAllTenants({ tenants }: Identity): boolean {
  return tenants.includes(ALL_TENANTS);
}

export function isForTenant(identity: Identity, tenant: string): boolean {
  return isForAllTenants(identity) || identity.tenants.includes(tenant);
}

/** Tenant of a token with one tenant; `undefined` if a request must name it. */
export function onlyTenant({ tenants }: Identity): string | undefined {
  return tenants.length === 1 && tenants[0] !== ALL_TENANTS ? tenants[0] : undefined;
}
