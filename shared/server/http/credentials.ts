/**
 * What a request says of who sends it, not verified yet:
 *
 *     Authorization: Basic base64(TENANT:TOKEN)     several tenants with | where several are possible; the tenant may be empty
 *     Authorization: Bearer TOKEN                   the tenant stands in X-Scope-OrgID
 *     X-Amz-Firehose-Access-Key: TENANT:TOKEN       or TOKEN: Firehose can send nothing else
 */

import type { Config } from '../admin/config-fields.ts';
import { UnauthenticatedError } from '../auth/errors.ts';
import type { HttpRequest, RequestTenants } from './message.ts';
import { resolveTenants, TENANT_HEADER } from './tenant.ts';

export const AUTHORIZATION = 'authorization';
export const FIREHOSE_KEY = 'x-amz-firehose-access-key';

export interface Credentials {
  readonly token: string;
  /** Undefined where the request names none here. */
  readonly user?: string | undefined;
}

/** Longer is no token with any tenants; decoding it would be work for nobody. */
const MAX_CREDENTIALS_CHARACTERS = 32 * 1024;
const FORM = /^(basic|bearer) +([^ ]+) *$/i;
const MALFORMED = 'the header Authorization has neither the form "Basic ..." nor "Bearer ..."';

/** Undefined where there are none. Throws UnauthenticatedError where they have no form. */
export function credentialsOf(headers: HttpRequest['headers']): Credentials | undefined {
  const authorization = headers[AUTHORIZATION];
  if (authorization === undefined || authorization === '') {
    const key = headers[FIREHOSE_KEY];
    return key === undefined || key === '' ? undefined : split(key);
  }
  if (authorization.length > MAX_CREDENTIALS_CHARACTERS) throw new UnauthenticatedError(MALFORMED);
  const [, scheme, value] = FORM.exec(authorization) ?? [];
  if (scheme === undefined || value === undefined) throw new UnauthenticatedError(MALFORMED);
  if (scheme.toLowerCase() === 'bearer') return { token: value };
  const text = Buffer.from(value, 'base64').toString('utf8');
  if (!text.includes(':')) throw new UnauthenticatedError(MALFORMED);
  return split(text);
}

/** No tenant and no token contains a colon. */
function split(text: string): Credentials {
  const colon = text.indexOf(':');
  if (colon === -1) return { token: text };
  const user = text.slice(0, colon);
  return { token: text.slice(colon + 1), user: user === '' ? undefined : user };
}

/**
 * Resolves the tenants that the head of a request claims, before the guard verifies them. An adapter estimates the timeout
 * of a query from them.
 *
 * Pitfall: the claim is unverified. Do not use it to show or change data.
 */
export function claimedTenants(
  headers: HttpRequest['headers'],
  config: Pick<Config, 'access' | 'auth'>,
): RequestTenants {
  const named = headers[TENANT_HEADER];
  return resolveTenants(named ?? (config.access.tokensEnabled ? claimedUser(headers) : undefined), config);
}

function claimedUser(headers: HttpRequest['headers']): string | undefined {
  try {
    return credentialsOf(headers)?.user;
  } catch {
    return undefined;
  }
}
