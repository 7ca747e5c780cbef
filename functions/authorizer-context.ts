/**
 * What the authorizer tells the functions behind it: whose token it was. API Gateway carries it from one to the other; nothing
 * that a client sends gets in there. One text, because a WebSocket API turns all else into texts.
 */

import { isScope } from '../shared/base/model/scopes.ts';
import type { Identity } from '../shared/server/auth/identity.ts';

/** Name of the value in `requestContext.authorizer`. */
const NAME = 'logboom';

export type AuthorizerContext = Readonly<Record<string, string>>;

export function contextOf(identity: Identity): AuthorizerContext {
  return { [NAME]: JSON.stringify(identity) };
}

/** Undefined where there is none, or none of ours: who asks for one then lets nobody in. */
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
