/**
 * Identity of the client, and tickets for browsers (docs/dev/security-review.md). Only Logboom has these:
 *
 *     GET  /svc/api/v1/auth/me       whether tokens are enabled, and what the caller's token allows
 *     POST /svc/api/v1/auth/ticket   a ticket for one tail of the request's tenant, valid for one minute
 */

import { BadRequestError } from '../../../base/model/errors.ts';
import { ALL_TENANTS, SCOPES } from '../../../base/model/scopes.ts';
import { UnauthenticatedError } from '../../auth/errors.ts';
import type { HttpContext } from '../context.ts';
import { json } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

export const showMe: Handler<HttpContext> = async ({ config: { access, auth } }, { identity }) => {
  // A token for all tenants of a single-tenant store is for this one. Without tokens, every client may use
  // any tenant.
  const allTenants = auth.authEnabled ? [ALL_TENANTS] : [auth.noAuthTenant];
  const data = {
    tokens_enabled: access.tokensEnabled,
    auth_enabled: auth.authEnabled,
    scopes: identity?.scopes ?? SCOPES,
    tenants: auth.authEnabled ? (identity?.tenants ?? allTenants) : allTenants,
    token:
      identity === undefined
        ? null
        : {
            id: identity.tokenId,
            name: identity.name,
            expires: identity.expiresMs === undefined ? null : new Date(identity.expiresMs).toISOString(),
          },
  };
  return json({ status: 'success', data });
};

export const giveTicket: Handler<HttpContext> = async ({ access, config }, request) => {
  const { identity } = request;
  if (!config.access.tokensEnabled)
    throw new BadRequestError('tokens are disabled (auth.tokens_enabled), so a live tail needs no ticket');
  if (identity === undefined) throw new UnauthenticatedError('creating a ticket needs a token');
  const tenant = singleTenant(request);
  const { ticket, expiresMs } = await access.tickets.give(identity, [tenant]);
  return json({ status: 'success', data: { ticket, tenant, expires: new Date(expiresMs).toISOString() } });
};
