/**
 * Identity that the authorizer passes to the functions behind it. API Gateway transports it, and clients
 * cannot set it. It is a single string, because a WebSocket API converts every other type to a string.
 */

import { isScope } from '../shared/base/model/scopes.ts';
import type { Identity } from '../shared/server/auth/identity.ts';

/** Name of the value in `requestContext.authorizer`. */
const NAME = 'logboom';

export type AuthorizerContext = Readonly<Record<string, string>>;

export function contextOf(identity: Identity): AuthorizerContext {
  return { [NAME]: JSON.stringify(identity) };
}

/**
 * Returns `undefined` if the context holds no valid identity. Callers that need an identity then refuse the
 * request.
 */
export function identityIn(context: unknown): Identity | undefined {
  const text = (context as Record<string, unknown> | null | undefined)?.[NAME];
  if (typeof text !== 'string') return undefined;
  let value: Partial<Identity> | null;
  try {
    value = JSON.parse(text) as Partial<Identity> | null;
  } catch {
    return undefined;
  }
  const { tokenId, name, scopes, tenants, expiresMs } = value ?? {};
  if (typeof tokenId !== 'string' || typeof name !== 'string') return undefined;
  if (!areTexts(scopes) || !areTexts(tenants)) return undefined;
  if (expiresMs !== undefined && typeof expiresMs !== 'number') return undefined;
  return {
    tokenId,
    name,
    scopes: scopes.filter(isScope),
    tenants,
    ...(expiresMs === undefined ? {} : { expiresMs }),
  };
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(one => typeof one === 'string');
}
