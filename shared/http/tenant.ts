/**
 * Whose logs a request is about: the header `X-Scope-OrgID` (wire-format reference, 9; contract, 5 and 8). Ids are
 * separated by `|`; empty ones do not count. A colon is refused (differences, D15).
 */
import type { Config } from '../admin/config-fields.ts';
import { BadRequestError, ClientError } from '../model/errors.ts';
import type { Request } from './message.ts';

export const TENANT_HEADER = 'x-scope-orgid';
export const MAX_TENANT_BYTES = 150;
/** A query runs once for each tenant of its header, which at 64 KB could name thousands. */
export const MAX_TENANTS_PER_REQUEST = 100;

const UNSUPPORTED = /[^0-9a-zA-Z!\-_.*'()]/;
const SEVERAL = 'multiple org IDs present';

export type TenantConfig = Pick<Config, 'auth'> & {
  readonly querier: Pick<Config['querier'], 'multiTenantQueriesEnabled'>;
};
type Headers = Request['headers'];

/** The tenants of a query, at least one, sorted, each once. Throws ClientError 401 or 400. */
export function resolveTenants(headers: Headers, config: TenantConfig): readonly string[] {
  const tenants = readTenants(headers, config);
  if (tenants.length > 1 && !config.querier.multiTenantQueriesEnabled) throw new BadRequestError(SEVERAL);
  return tenants;
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
  const ids = [...new Set(header.split('|'))].filter(id => id !== '');
  for (const id of ids) checkTenantId(id);
  if (ids.length === 0) throw new BadRequestError('no org id');
  if (ids.length > MAX_TENANTS_PER_REQUEST) {
    throw new BadRequestError(`too many org IDs present: ${ids.length}, limit: ${MAX_TENANTS_PER_REQUEST}`);
  }
  return ids.sort();
}

/** Throws BadRequestError. Characters first, then length, then dots, as the reference. */
export function checkTenantId(id: string): void {
  const strange = UNSUPPORTED.exec(id);
  if (strange !== null) {
    throw new BadRequestError(`tenant ID '${shown(id)}' contains unsupported character '${strange[0]}'`);
  }
  if (id.length > MAX_TENANT_BYTES) {
    throw new BadRequestError(`tenant ID is too long: max ${MAX_TENANT_BYTES} characters`);
  }
  if (id === '.' || id === '..') throw new BadRequestError("tenant ID is '.' or '..'");
}

/** Header values arrive as one character per byte; the message shows the text that the client meant. */
function shown(id: string): string {
  return Buffer.from(id, 'latin1').toString('utf8');
}
