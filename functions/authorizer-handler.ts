/**
 * Lambda authorizer of both APIs: identifies the token of a request. The functions behind it check scopes and
 * tenants, because they know the route and the tenant header. The result depends on the token alone, so the
 * gateway may cache it for requests with the same `Authorization` header.
 *
 * - HTTP API, payload format 2.0 with simple responses: `isAuthorized: false` becomes status 403.
 * - WebSocket API, at `$connect`: returns a policy. A policy that denies becomes status 403. Status 401 would
 *   need an
 *   exception, which counts as a failed invocation. This API also accepts a ticket, which is used up.
 *
 * Pitfall: a revoked token works for as long as the gateway caches results. The authorizer caches nothing
 * itself, because both times would add up.
 */

import { openAwsStorage } from '../shared/aws/storage.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import { ClientError } from '../shared/base/model/errors.ts';
import type { Clock, Ids } from '../shared/base/ports/clock.ts';
import type { Table } from '../shared/base/ports/table.ts';
import { createLazyLog, type Log } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import type { Config } from '../shared/server/admin/config-fields.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../shared/server/auth/errors.ts';
import { TAIL_LOGS } from '../shared/server/http/access.ts';
import { assembleAccess } from '../shared/server/http/assemble-access.ts';
import type { AccessServices } from '../shared/server/http/context.ts';
import { credentialsOf } from '../shared/server/http/credentials.ts';
import { Tickets } from '../shared/storage/catalog/tickets.ts';
import { Tokens } from '../shared/storage/catalog/tokens.ts';
import { type AuthorizerContext, contextOf } from './authorizer-context.ts';
import { headersOf } from './event-adapter.ts';
import { type HttpApiEvent, isHttpApiEvent } from './lambda-event.ts';
import { readSettings } from './settings.ts';
import { connectRequestOf, type WebSocketEvent } from './websocket-event.ts';

export interface SimpleResponse {
  readonly isAuthorized: boolean;
  readonly context?: AuthorizerContext;
}

export interface PolicyResponse {
  readonly principalId: string;
  readonly policyDocument: {
    readonly Version: '2012-10-17';
    readonly Statement: readonly [
      { readonly Action: 'execute-api:Invoke'; readonly Effect: 'Allow' | 'Deny'; readonly Resource: string },
    ];
  };
  readonly context?: AuthorizerContext;
}

export type AuthorizerHandler = (event: unknown) => Promise<SimpleResponse | PolicyResponse>;

type ConnectEvent = WebSocketEvent & { readonly methodArn: string };

const NO_EVENT =
  'this function accepts events of a REQUEST authorizer: HTTP API 2.0, or $connect of a WebSocket API';
const NOBODY = 'nobody';

/** Uses the stores named by the environment. Throws if the environment is invalid, which ends the start. */
export function createAuthorizer(environment: Environment): AuthorizerHandler {
  const settings = readSettings(environment);
  const { table } = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const log = createLazyLog(settings.config.server.logLevel);
  return assembleAuthorizer({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, config: settings.config, log });
}

interface AuthorizerParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly config: Config;
  readonly log: Pick<Log, 'error'>;
}

/**
 * Same as createAuthorizer, with a given table. Rejects if the table fails, and the gateway then denies the
 * request.
 */
export function assembleAuthorizer({ table, clock, ids, config, log }: AuthorizerParts): AuthorizerHandler {
  const access = assembleAccess({
    config: { ...config, access: { ...config.access, tokensEnabled: true } },
    catalog: { tokens: new Tokens({ table }), tickets: new Tickets({ table, clock }) },
    clock,
    ids,
    maxAgeMs: 0,
  });
  return async event => {
    try {
      if (isHttpApiEvent(event)) return await authorizeHttp(access, event);
      if (isConnectEvent(event)) return await authorizeConnect(access, event);
    } catch (error) {
      log.error({ err: error }, 'authorizer failed');
      throw error;
    }
    throw new Error(NO_EVENT);
  };
}

async function authorizeHttp({ verifier }: AccessServices, event: HttpApiEvent): Promise<SimpleResponse> {
  try {
    const credentials = credentialsOf(headersOf(event));
    if (credentials === undefined) return { isAuthorized: false };
    const identity = await verifier.verify(credentials.token, event.requestContext.http.sourceIp ?? '');
    return { isAuthorized: true, context: contextOf(identity) };
  } catch (error) {
    if (error instanceof UnauthenticatedError || error instanceof TooManyAttemptsError) {
      return { isAuthorized: false };
    }
    throw error;
  }
}

/** Checks the whole request, including tickets: the gateway caches no result of `$connect`. */
async function authorizeConnect({ guard }: AccessServices, event: ConnectEvent): Promise<PolicyResponse> {
  const { requestId = event.requestContext.connectionId } = event.requestContext;
  try {
    const { identity } = await guard.admit(TAIL_LOGS, connectRequestOf(event, requestId));
    if (identity === undefined) return policy('Deny', NOBODY, event);
    return { ...policy('Allow', identity.tokenId, event), context: contextOf(identity) };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return policy('Deny', NOBODY, event);
  }
}

function policy(effect: 'Allow' | 'Deny', principalId: string, { methodArn }: ConnectEvent): PolicyResponse {
  const statement = { Action: 'execute-api:Invoke', Effect: effect, Resource: methodArn } as const;
  return { principalId, policyDocument: { Version: '2012-10-17', Statement: [statement] } };
}

function isConnectEvent(event: unknown): event is ConnectEvent {
  const { methodArn, requestContext } = (event ?? {}) as Partial<ConnectEvent>;
  return typeof methodArn === 'string' && typeof requestContext?.connectionId === 'string';
}
