/**
 * Implements the Connections port on the management API of an API Gateway WebSocket API.
 *
 * The gateway closes a connection without a reason. The reason is therefore posted first, as a message:
 * `{"streams":[],"error":"..."}`.
 *
 * Pitfall:
 * - A post without a response may have arrived. It is not retried, because the client would see its entries
 *   twice. Only a refused post (429) is retried.
 * - A connection cannot be posted to during `$connect`. The gateway responds with 410, as if it were gone.
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

/** Default quota of an account: 10,000 posts per second. A post takes a few milliseconds. */
export const CONNECTIONS_LIMITS: CallLimits = Object.freeze({
  maxAttempts: 6,
  firstPauseMs: 50,
  maxPauseMs: 1_000,
  attemptTimeoutMs: 5_000,
  totalTimeoutMs: 15_000,
  maxRunning: 64,
  maxWaiting: 10_000,
});

interface ApiGatewayConnectionsOptions {
  /** Returns the client, created on first use. */
  readonly client: () => ApiGatewayManagementApiClient;
  readonly call: Caller;
}

const GONE = 410;
const TOO_LARGE = 413;
const CONNECTION_TIMEOUT_MS = 2_000;
/** Region for signatures when an emulator is used. Emulators accept any region. */
const REGION_OF_EMULATORS = 'us-east-1';

/** @param endpoint URL of the stage, for example `https://abc.execute-api.eu-central-1.amazonaws.com/live` */
export function createConnectionsClient({
  endpoint,
  region,
}: {
  readonly endpoint: string;
  readonly region?: string;
}): ApiGatewayManagementApiClient {
  const isAws = /\.amazonaws\.com(\.cn)?(\/|$)/.test(endpoint);
  const signingRegion = isAws ? region : (region ?? REGION_OF_EMULATORS);
  return new ApiGatewayManagementApiClient({
    ...(signingRegion === undefined ? {} : { region: signingRegion }),
    endpoint,
    // The caller retries, and knows when a retry is unsafe.
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
        if (mayHaveHappened) throw new OutcomeUnknownError('an earlier post received no response');
        try {
          await client().send(new PostToConnectionCommand({ ConnectionId, Data }), { abortSignal: signal });
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
          const { ConnectedAt, LastActiveAt } = await client().send(
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
        // The connection ends whether the reason arrives or not.
        const outcome = await post(ConnectionId, Buffer.from(errorFrame(reason))).catch(() => 'ok' as const);
        if (outcome === 'gone') return;
      }
      await call({ operation: 'DeleteConnection', target: ConnectionId }, async ({ signal }) => {
        try {
          await client().send(new DeleteConnectionCommand({ ConnectionId }), { abortSignal: signal });
        } catch (error) {
          if (describe(error).status !== GONE) throw error;
        }
      });
    },
  };
}

/** Frame that carries the reason of a close. Clients that do not know it see a frame without entries. */
function errorFrame(reason: string): string {
  return JSON.stringify({ streams: [], error: reason });
}
