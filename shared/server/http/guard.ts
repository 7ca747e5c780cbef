/**
 * Authenticates and authorizes requests, and resolves their tenants. Handlers run after it and trust
 * `request.tenants`, which only the guard sets. If tokens are enabled, it checks that the token includes each
 * tenant, and removes the credentials.
 *
 * Pitfall: if tokens are enabled, a request that names no tenant is refused. Otherwise a handler that reads
 * the tenant from another place (an attribute of Firehose) could accept any tenant.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Config } from '../admin/config-fields.ts';
import { ForbiddenError, UnauthenticatedError } from '../auth/errors.ts';
import { type Identity, isForAllTenants, isForTenant, onlyTenant } from '../auth/identity.ts';
import type { TicketService } from '../auth/ticket-service.ts';
import type { TokenVerifier } from '../auth/token-verifier.ts';
import { type Access, METRICS, TAIL_LOGS } from './access.ts';
import { AUTHORIZATION, type Credentials, credentialsOf, FIREHOSE_KEY } from './credentials.ts';
import { refuseForeignPage } from './foreign-page.ts';
import type { HttpRequest } from './message.ts';
import { param, parseParams } from './params.ts';
import type { Match, Router } from './routes.ts';
import { resolveNamed, resolveTenants, splitTenants, TENANT_HEADER, type TenantConfig } from './tenant.ts';

export interface Guard {
  /** Returns the request for its handler. Throws ClientError 401, 403 or 429, or the errors of the table. */
  admit(access: Access, request: HttpRequest): Promise<HttpRequest>;
}

/**
 * Checks the head of a request before its body is read. Unknown routes and unreadable paths pass, because
 * dispatch reports them. Requests with tickets are skipped: a check would use the ticket up, and they have no
 * body.
 */
export function headCheck<Context>(
  router: Router<Context>,
  guard: Guard,
): (head: Omit<HttpRequest, 'body' | 'signal'>) => Promise<void> {
  return async head => {
    const match = matchOf(router, head);
    if (match?.kind !== 'route' || match.route.access === TAIL_LOGS) return;
    await guard.admit(match.route.access, { ...head, body: NO_BODY, signal: NO_SIGNAL });
  };
}

function matchOf<Context>(
  router: Router<Context>,
  { method, path }: Pick<HttpRequest, 'method' | 'path'>,
): Match<Context> | undefined {
  try {
    return router.match(method, path);
  } catch {
    return undefined;
  }
}

interface GuardParts {
  readonly verifier: TokenVerifier;
  readonly tickets: TicketService;
  readonly config: TenantConfig & Pick<Config, 'access'>;
  readonly clock: Clock;
  /**
   * True if an authorizer has verified the token before this process (functions/authorizer-handler.ts).
   * Requests without a verified identity are refused.
   */
  readonly trustsAuthorizer: boolean;
}

const UNAUTHENTICATED =
  'authentication required: send a token as the password of HTTP Basic, or as Bearer token';
const NOT_NAMED = 'no org id: name the tenant as the user of HTTP Basic or in X-Scope-OrgID';
const TICKET = 'ticket';
const NO_BODY = new Uint8Array(0);
const NO_SIGNAL = new AbortController().signal;

export function createGuard(parts: GuardParts): Guard {
  const { config } = parts;
  const { tokensEnabled, allowedOrigins } = config.access;
  return {
    async admit(access, request) {
      refuseForeignPage(access, request, allowedOrigins);
      if (!tokensEnabled) {
        return {
          ...request,
          identity: undefined,
          tenants: resolveTenants(request.headers[TENANT_HEADER], config),
        };
      }
      if (access.kind === 'open' || (access === METRICS && config.access.metricsPublic)) {
        return withoutCredentials(request, undefined, [], config);
      }
      const { identity, user } = await identify(parts, access, request);
      if (access.kind === 'known') {
        return withoutCredentials(
          request,
          identity,
          requestedTenants(request, user, identity, config),
          config,
        );
      }
      const { scope, over } = access;
      if (!identity.scopes.includes(scope)) {
        throw new ForbiddenError(`the token does not have the scope ${scope}; use a token that has it`);
      }
      if (over === 'none') return withoutCredentials(request, identity, [], config);
      if (over === 'store') {
        if (isForAllTenants(identity)) return withoutCredentials(request, identity, [], config);
        throw new ForbiddenError(
          'this endpoint is for the whole store and needs a token for all tenants (*)',
        );
      }
      const tenants = requestedTenants(request, user, identity, config);
      if (tenants.length === 0) throw new UnauthenticatedError(NOT_NAMED);
      return withoutCredentials(request, identity, tenants, config);
    },
  };
}

interface IdentifiedClient {
  readonly identity: Identity;
  /** Tenants that the credentials name. */
  readonly user: string | undefined;
}

async function identify(parts: GuardParts, access: Access, request: HttpRequest): Promise<IdentifiedClient> {
  const { headers, identity: given, clientAddress = '' } = request;
  const credentials = credentialsOf(headers);
  if (parts.trustsAuthorizer) {
    if (given === undefined) throw new UnauthenticatedError(UNAUTHENTICATED);
    if (given.expiresMs !== undefined && given.expiresMs <= parts.clock.nowMs()) {
      throw new UnauthenticatedError('the token has expired');
    }
    return { identity: given, user: credentials?.user };
  }
  if (credentials === undefined) {
    const ticket = access === TAIL_LOGS ? ticketOf(request) : '';
    if (ticket === '') throw new UnauthenticatedError(UNAUTHENTICATED);
    return { identity: await parts.tickets.redeem(ticket, clientAddress), user: undefined };
  }
  return { identity: await verified(parts, credentials, clientAddress), user: credentials.user };
}

function verified({ verifier }: GuardParts, { token }: Credentials, address: string): Promise<Identity> {
  return verifier.verify(token, address);
}

function ticketOf(request: HttpRequest): string {
  return param(parseParams({ ...request, body: NO_BODY }), TICKET);
}

/**
 * Tenants of the request, all included in the token. Empty if it names none and the token has several. The
 * handler checks their form, and whether the endpoint accepts several.
 */
function requestedTenants(
  { headers }: HttpRequest,
  user: string | undefined,
  identity: Identity,
  { auth }: TenantConfig,
): readonly string[] {
  const claimed = user === undefined ? [] : splitTenants(user);
  // With a single tenant, the header is ignored, as in the reference.
  const named = auth.authEnabled ? splitTenants(headers[TENANT_HEADER] ?? '') : [];
  if (claimed.length > 0 && named.length > 0 && !isSame(claimed, named)) {
    throw new ForbiddenError('the header X-Scope-OrgID names other tenants than the user of HTTP Basic');
  }
  const tenants = claimed.length > 0 ? claimed : named;
  if (!auth.authEnabled) {
    const other = tenants.find(tenant => tenant !== auth.noAuthTenant);
    if (other !== undefined) throw notFor(other);
    if (!isForTenant(identity, auth.noAuthTenant)) throw notFor(auth.noAuthTenant);
    return [auth.noAuthTenant];
  }
  const excluded = tenants.find(tenant => !isForTenant(identity, tenant));
  if (excluded !== undefined) throw notFor(excluded);
  if (tenants.length > 0) return tenants;
  const only = onlyTenant(identity);
  return only === undefined ? [] : [only];
}

/** Does not reveal whether the tenant exists. */
function notFor(tenant: string): ForbiddenError {
  return new ForbiddenError(`the token is not for the tenant ${JSON.stringify(tenant.slice(0, 200))}`);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every(tenant => others.includes(tenant));
}

/** Removes credentials and the tenant header, so that no later code can log, forward or trust them. */
function withoutCredentials(
  request: HttpRequest,
  identity: Identity | undefined,
  named: readonly string[],
  config: TenantConfig,
): HttpRequest {
  const headers: Record<string, string> = { ...request.headers };
  delete headers[AUTHORIZATION];
  delete headers[FIREHOSE_KEY];
  delete headers[TENANT_HEADER];
  return { ...request, headers, identity, tenants: resolveNamed(named, config) };
}
