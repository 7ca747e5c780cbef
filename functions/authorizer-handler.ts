/**
 * Lambda authorizer of both APIs: says whose token a request carries. Scopes and tenants are for the functions behind it, which
 * know the route and the tenant header; so its answer depends on the token alone, and the gateway may keep it for others of
 * the same `Authorization`.
 *
 *  - HTTP API, payload format 2.0 with simple responses: `isAuthorized: false` becomes 403 there.
 *  - WebSocket API, at `$connect`: a policy. One that denies becomes 403; 401 would take an exception, and each of those
 *    counts as a failure of the function. Here a ticket counts as well, and is used up.
 *
 * What a reader would get wrong: where the gateway keeps answers, a revoked token works for as long as it does; so nothing is
 * kept here as well, or both times would add up.
 */

import { openAwsStorage } from '../shared/aws/storage.ts';
import { ClientError } from '../shared/base/model/errors.ts';
import type { Clock, Ids } from '../shared/base/ports/clock.ts';
import type { Table } from '../shared/base/ports/table.ts';
import { createLog, type Log } from '../shared/base/runtime/log.ts';
import { systemClock, systemIds } from '../shared/base/runtime/system-clock.ts';
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
import { type Environment, readSettings } from './settings.ts';
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
  'this function takes events of a REQUEST authorizer: HTTP API 2.0, or $connect of a WebSocket API';
const NOBODY = 'nobody';

/** Over the stores that the environment names. Throws where it is wrong, which ends the start. */
export function createAuthorizer(environment: Environment): AuthorizerHandler {
  const settings = readSettings(environment);
  const { table } = openAwsStorage({ ...settings, clock: systemClock, ids: systemIds });
  const log = createLog(settings.config.server.logLevel);
  return assembleAuthorizer({ table, clock: systemClock, ids: systemIds, config: settings.config, log });
}

export interface AuthorizerParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly config: Config;
  readonly log: Pick<Log, 'error'>;
}

/** The same over a given table. Rejects where the table fails: nobody is let in then. */
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
      if (isHttpApiEvent(event)) return await ofHttpApi(access, event);
      if (isConnectEvent(event)) return await ofConnect(access, event);
    } catch (error) {
      log.error({ err: error }, 'authorizer failed');
      throw error;
    }
    throw new Error(NO_EVENT);
  };
}

async function ofHttpApi({ verifier }: AccessServices, event: HttpApiEvent): Promise<SimpleResponse> {
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

/** No answer of it is kept by the gateway, so here the request as a whole counts. */
async function ofConnect({ guard }: AccessServices, event: ConnectEvent): Promise<PolicyResponse> {
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
