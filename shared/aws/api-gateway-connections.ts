/**
 * The Connections port on the management API of an API Gateway WebSocket API.
 *
 * What a reader would get wrong:
 *  - A post that got no answer may have arrived; it is not tried again, because a client would see its entries twice. Only
 *    what was refused (429) is.
 *  - The gateway closes without a reason. So a reason goes before, as a message: `{"streams":[],"error":"..."}`.
 *  - During `$connect` a connection cannot be posted to: that is answered 410, as if it were gone.
 */
import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GetConnectionCommand,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import type { CloseOptions, ConnectionInfo, Connections, PostOutcome } from '../base/ports/connections.ts';
import type { Caller, CallLimits } from './caller.ts';
import { describe, OutcomeUnknownError } from './errors.ts';

/** An account may post 10,000 times a second by default; each takes some milliseconds. */
export const CONNECTIONS_LIMITS: CallLimits = Object.freeze({
  maxAttempts: 6,
  firstPauseMs: 50,
  maxPauseMs: 1_000,
  attemptTimeoutMs: 5_000,
  totalTimeoutMs: 15_000,
  maxRunning: 64,
  maxWaiting: 10_000,
});

export interface ApiGatewayConnectionsOptions {
  readonly client: ApiGatewayManagementApiClient;
  readonly call: Caller;
}

const GONE = 410;
const TOO_LARGE = 413;
const CONNECTION_TIMEOUT_MS = 2_000;
/** Signatures name a region; an emulator takes any. */
const REGION_OF_EMULATORS = 'us-east-1';

/** @param endpoint of the stage, for example `https://abc.execute-api.eu-central-1.amazonaws.com/live` */
export function createConnectionsClient({
  endpoint,
  region,
}: {
  readonly endpoint: string;
  readonly region?: string;
}): ApiGatewayManagementApiClient {
  const isAws = /\.amazonaws\.com(\.cn)?(\/|$)/.test(endpoint);
  const place = isAws ? region : (region ?? REGION_OF_EMULATORS);
  return new ApiGatewayManagementApiClient({
    ...(place === undefined ? {} : { region: place }),
    endpoint,
    // The caller tries again, and knows when not to.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      httpAgent: { keepAlive: true, maxSockets: CONNECTIONS_LIMITS.maxRunning },
      httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS_LIMITS.maxRunning },
    },
  });
}

export function apiGatewayConnections({ client, call }: ApiGatewayConnectionsOptions): Connections {
  const post = (ConnectionId: string, Data: Uint8Array): Promise<PostOutcome> =>
    call(
      { operation: 'PostToConnection', target: ConnectionId, writes: true },
      async ({ signal, mayHaveHappened }): Promise<PostOutcome> => {
        if (mayHaveHappened) throw new OutcomeUnknownError('the post before got no answer');
        try {
          await client.send(new PostToConnectionCommand({ ConnectionId, Data }), { abortSignal: signal });
          return 'ok';
        } catch (error) {
          const { status } = describe(error);
          if (status === GONE) return 'gone';
          if (status === TOO_LARGE) return 'too large';
          throw error;
        }
      },
    );

  return {
    post,

    get(ConnectionId): Promise<ConnectionInfo | undefined> {
      return call({ operation: 'GetConnection', target: ConnectionId }, async ({ signal }) => {
        try {
          const { ConnectedAt, LastActiveAt } = await client.send(
            new GetConnectionCommand({ ConnectionId }),
            {
              abortSignal: signal,
            },
          );
          const connectedMs = ConnectedAt?.getTime() ?? 0;
          return { connectedMs, lastActiveMs: LastActiveAt?.getTime() ?? connectedMs };
        } catch (error) {
          if (describe(error).status === GONE) return undefined;
          throw error;
        }
      });
    },

    async close(ConnectionId, { reason }: CloseOptions) {
      if (reason !== '') {
        // Whether it arrives or not, the connection ends.
        const outcome = await post(ConnectionId, Buffer.from(errorFrame(reason))).catch(() => 'ok' as const);
        if (outcome === 'gone') return;
      }
      await call({ operation: 'DeleteConnection', target: ConnectionId }, async ({ signal }) => {
        try {
          await client.send(new DeleteConnectionCommand({ ConnectionId }), { abortSignal: signal });
        } catch (error) {
          if (describe(error).status !== GONE) throw error;
        }
      });
    },
  };
}

/** Stands for the reason of a close; clients that do not know it see a frame without entries. */
export function errorFrame(reason: string): string {
  return JSON.stringify({ streams: [], error: reason });
}
