/**
 * HTTP API for tokens (docs/dev/security-review.md). Needs a token for the whole store with the scope
 * `admin`. Only Logboom has this:
 *
 *     POST   /svc/api/v1/tokens        {"name", "scopes", "tenants", "expires"}; the response contains the token, only once
 *     GET    /svc/api/v1/tokens        all of them, without their secrets
 *     DELETE /svc/api/v1/tokens/{id}   revokes one
 *
 * Refused if tokens are disabled: then no client is authenticated, and a token that anyone created would
 * become valid when tokens are enabled.
 */

import { BadRequestError, messageOf, TooLargeError } from '../../../base/model/errors.ts';
import { MS_PER_DAY } from '../../../base/model/time-units.ts';
import type { TokenRecord } from '../../../storage/catalog/tokens.ts';
import { ForbiddenError } from '../../auth/errors.ts';
import type { HttpContext } from '../context.ts';
import { json } from '../respond.ts';
import type { Handler } from '../routes.ts';

/** A name, six scopes and 32 tenants take 6 KB. */
const MAX_BODY_BYTES = 64 * 1024;
const KEYS = new Set(['name', 'scopes', 'tenants', 'expires']);
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

export const createToken: Handler<HttpContext> = async (context, { body, identity, clientAddress }) => {
  refuseWhereOff(context);
  const { tokens, audit } = context.access;
  const { token, record } = await tokens.create(readRequest(body));
  audit.created(record, identity, clientAddress);
  return json({ status: 'success', data: { token, ...shownToken(record, context.clock.nowMs()) } });
};

export const listTokens: Handler<HttpContext> = async context => {
  refuseWhereOff(context);
  const records = await context.access.tokens.list();
  const nowMs = context.clock.nowMs();
  return json({ status: 'success', data: records.map(record => shownToken(record, nowMs)) });
};

export const revokeToken: Handler<HttpContext> = async (context, { pathParams, identity, clientAddress }) => {
  refuseWhereOff(context);
  const { tokens, audit } = context.access;
  const record = await tokens.revoke(pathParams.id);
  audit.revoked(record, identity, clientAddress);
  return json({ status: 'success', data: shownToken(record, context.clock.nowMs()) });
};

export interface ShownToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly tenants: readonly string[];
  readonly state: 'active' | 'expired' | 'revoked';
  /** RFC 3339, or null for a time that does not exist. */
  readonly created: string;
  readonly expires: string | null;
  readonly revoked: string | null;
  /** UTC day. */
  readonly last_used: string | null;
}

/** Token for display, without its hash. */
export function shownToken(record: TokenRecord, nowMs: number): ShownToken {
  const { id, name, scopes, tenants, createdMs, expiresMs, revokedMs, lastUsedDay } = record;
  const isExpired = expiresMs !== undefined && expiresMs <= nowMs;
  return {
    id,
    name,
    scopes,
    tenants,
    state: revokedMs !== undefined ? 'revoked' : isExpired ? 'expired' : 'active',
    created: timeText(createdMs),
    expires: expiresMs === undefined ? null : timeText(expiresMs),
    revoked: revokedMs === undefined ? null : timeText(revokedMs),
    last_used: lastUsedDay === undefined ? null : timeText(lastUsedDay * MS_PER_DAY).slice(0, 10),
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function refuseWhereOff({ config }: HttpContext): void {
  if (config.access.tokensEnabled) return;
  throw new ForbiddenError(
    'tokens are disabled; set auth.tokens_enabled, or run logboom token on the data folder',
  );
}

function readRequest(body: Uint8Array) {
  if (body.length > MAX_BODY_BYTES) {
    throw new TooLargeError(`request body too large: ${body.length} bytes, limit: ${MAX_BODY_BYTES}`);
  }
  const value = readObject(body);
  const strange = Object.keys(value).find(key => !KEYS.has(key));
  if (strange !== undefined)
    throw new BadRequestError(
      `unknown field ${JSON.stringify(strange)}; fields are name, scopes, tenants and expires`,
    );
  const { name, scopes, tenants, expires } = value;
  if (typeof name !== 'string') throw new BadRequestError('name: expected a string');
  return {
    name,
    scopes: texts('scopes', scopes),
    tenants: texts('tenants', tenants),
    expiresMs: timeOf(expires),
  };
}

function readObject(body: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    throw new BadRequestError(`the body is not JSON: ${messageOf(error)}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadRequestError('the body is not a JSON object');
  }
  return value as Record<string, unknown>;
}

function texts(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every(one => typeof one === 'string')) return value;
  throw new BadRequestError(`${name}: expected a list of strings`);
}

function timeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const ms = typeof value === 'string' && RFC3339.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw new BadRequestError('expires: expected a time such as 2027-01-31T00:00:00Z');
  return Math.trunc(ms);
}
