/**
 * Extracts the credentials of a request, without verifying them:
 *
 *     Authorization: Basic base64(TENANT:TOKEN)     several tenants separated by | if the endpoint accepts them; may be empty
 *     Authorization: Bearer TOKEN                   X-Scope-OrgID names the tenant
 *     X-Amz-Firehose-Access-Key: TENANT:TOKEN       or TOKEN: Firehose has no other header
 */

import { UnauthenticatedError } from '../auth/errors.ts';
import type { HttpRequest } from './message.ts';

export const AUTHORIZATION = 'authorization';
export const FIREHOSE_KEY = 'x-amz-firehose-access-key';

export interface Credentials {
  readonly token: string;
  /** `undefined` if the credentials name no tenant. */
  readonly user?: string | undefined;
}

/** Longer than any token with its tenants, so that larger values are not decoded. */
const MAX_CREDENTIALS_CHARACTERS = 32 * 1024;
const FORM = /^(basic|bearer) +([^ ]+) *$/i;
const MALFORMED = 'the header Authorization must have the form "Basic ..." or "Bearer ..."';

/** `undefined` without credentials. Throws UnauthenticatedError if they are malformed. */
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

/** Splits at the first colon, because tenants and tokens contain none. */
function split(text: string): Credentials {
  const colon = text.indexOf(':');
  if (colon === -1) return { token: text };
  const user = text.slice(0, colon);
  return { token: text.slice(colon + 1), user: user === '' ? undefined : user };
}
