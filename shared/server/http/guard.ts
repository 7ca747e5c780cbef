/**
 * Admits requests: who calls, whether the endpoint lets them in, and which tenants the request is about. Handlers come after it
 * and believe `request.tenants`, which only the guard writes. With tokens it checks that each tenant is one of the token's, and
 * takes the credentials out.
 *
 * Pitfall: with tokens a request that names no tenant is refused here. A handler that finds a tenant elsewhere (an attribute of
 * Firehose) could otherwise pick any.
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
  /** The request as its handler may see it. Throws ClientError 401, 403 or 429, or what the table throws. */
  admit(access: Access, request: HttpRequest): Promise<HttpRequest>;
}

/**
 * Asks the guard with the head of a request, where a body follows it. Routes that the router does not know, and paths that it
 * cannot read, pass: dispatch says what is wrong with them. Tickets would be used up, but come with no body.
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

export interface GuardParts {
  readonly verifier: TokenVerifier;
  readonly tickets: TicketService;
  readonly config: TenantConfig & Pick<Config, 'access'>;
  readonly clock: Clock;
  /** Something before this process has verified the token (functions/authorizer-handler.ts); what it did not is refused. */
  readonly trustsAuthorizer: boolean;
}

const NOBODY = 'authentication is needed: a token as the password of HTTP Basic, or Bearer';
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
        return handOn(request, undefined, [], config);
      }
      const { identity, user } = await identify(parts, access, request);
      if (access.kind === 'known') {
        return handOn(request, identity, tenantsAsked(request, user, identity, config), config);
      }
      const { scope, over } = access;
      if (!identity.scopes.includes(scope)) {
        throw new ForbiddenError(`the token lacks the scope ${scope}`);
      }
      if (over === 'nobody') return handOn(request, identity, [], config);
      if (over === 'store') {
        if (isForAllTenants(identity)) return handOn(request, identity, [], config);
        throw new ForbiddenError('this is about the whole store: it needs a token for all tenants (*)');
      }
      const tenants = tenantsAsked(request, user, identity, config);
      if (tenants.length === 0) throw new UnauthenticatedError(NOT_NAMED);
      return handOn(request, identity, tenants, config);
    },
  };
}

interface Caller {
  readonly identity: Identity;
  /** Tenants that the credentials name. */
  readonly user: string | undefined;
}

async function identify(parts: GuardParts, access: Access, request: HttpRequest): Promise<Caller> {
  const { headers, identity: given, clientAddress = '' } = request;
  const credentials = credentialsOf(headers);
  if (parts.trustsAuthorizer) {
    if (given === undefined) throw new UnauthenticatedError(NOBODY);
    if (given.expiresMs !== undefined && given.expiresMs <= parts.clock.nowMs()) {
      throw new UnauthenticatedError('the token has expired');
    }
    return { identity: given, user: credentials?.user };
  }
  if (credentials === undefined) {
    const ticket = access === TAIL_LOGS ? ticketOf(request) : '';
    if (ticket === '') throw new UnauthenticatedError(NOBODY);
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
 * The tenants that the request is about, each one of the token's. Empty where it names none and the token has several. Whether
 * they are well-formed, and whether the endpoint takes several, is its handler's to say.
 */
function tenantsAsked(
  { headers }: HttpRequest,
  user: string | undefined,
  identity: Identity,
  { auth }: TenantConfig,
): readonly string[] {
  const asked = user === undefined ? [] : splitTenants(user);
  // With one tenant the header counts for nothing, as the reference has it.
  const named = auth.authEnabled ? splitTenants(headers[TENANT_HEADER] ?? '') : [];
  if (asked.length > 0 && named.length > 0 && !isSame(asked, named)) {
    throw new ForbiddenError('the header X-Scope-OrgID names other tenants than the user of HTTP Basic');
  }
  const tenants = asked.length > 0 ? asked : named;
  if (!auth.authEnabled) {
    const other = tenants.find(tenant => tenant !== auth.noAuthTenant);
    if (other !== undefined) throw notFor(other);
    if (!isForTenant(identity, auth.noAuthTenant)) throw notFor(auth.noAuthTenant);
    return [auth.noAuthTenant];
  }
  const strange = tenants.find(tenant => !isForTenant(identity, tenant));
  if (strange !== undefined) throw notFor(strange);
  if (tenants.length > 0) return tenants;
  const only = onlyTenant(identity);
  return only === undefined ? [] : [only];
}

/** Says nothing of whether there is such a tenant. */
function notFor(tenant: string): ForbiddenError {
  return new ForbiddenError(`the token is not for the tenant ${JSON.stringify(tenant.slice(0, 200))}`);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every(tenant => others.includes(tenant));
}

/** Without credentials and the header that names tenants, so that nothing behind this can log, pass on or believe them. */
function handOn(
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
