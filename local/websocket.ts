/**
 * Live tails over WebSockets, on the port of the gateway. Errors in a request are answered by HTTP before the
 * upgrade. Later errors use a close code (docs/dev/wire-format.md#before-the-upgrade, #after-the-upgrade).
 *
 * Pitfall: Node gives every upgrade request to the `upgrade` listeners, whatever its path. So the gateway
 * selects these requests with `isTailUpgrade`, and handles all others normally.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ClientError } from '../shared/base/model/errors.ts';
import type { Clock, Ids } from '../shared/base/ports/clock.ts';
import type { ServerLog } from '../shared/base/runtime/log.ts';
import { CLOSE_ERROR } from '../shared/read/tail/reasons.ts';
import type { TailRequest } from '../shared/read/tail/tail-service.ts';
import type { Config } from '../shared/server/admin/config-fields.ts';
import { TAIL_LOGS } from '../shared/server/http/access.ts';
import type { AccessServices } from '../shared/server/http/context.ts';
import { OVERLOADED, responseOfError } from '../shared/server/http/errors.ts';
import { refuseForeignSocket } from '../shared/server/http/foreign-page.ts';
import { hardenedHeaders } from '../shared/server/http/hardening.ts';
import type { HttpRequest, HttpResponse } from '../shared/server/http/message.ts';
import { isTailPath, tailRequestOf } from '../shared/server/http/tail-request.ts';
import { destroySoon } from './gateway-broken.ts';
import { timerWhile } from './timer-while.ts';
import { type TokenWatch, watchTokens } from './token-watch.ts';
import { CLOSE_TIMEOUT_MS, type SocketConnections } from './websocket-connections.ts';

interface TailSocketsOptions {
  readonly server: Server;
  readonly connections: SocketConnections;
  /** Opens and ends tails; see RoleThreads. */
  readonly tails: {
    open(request: TailRequest, connectionId: string): Promise<string | undefined>;
    close(tenant: string, connectionId: string): Promise<void>;
  };
  readonly config: Config;
  readonly access: AccessServices;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: ServerLog;
}

interface TailSockets {
  /** Closes all connections and stops. */
  stop(): Promise<void>;
}

/** Same interval as the reference. Proxies that drop idle connections wait longer. */
const PING_MS = 1_000;
/** Time without a pong after which a client counts as disconnected. */
const PONG_TIMEOUT_MS = 30_000;
/**
 * Time without progress after which a slow client counts as disconnected. Longer than a tail waits for a
 * frame to be accepted (shared/read/tail/bounds.ts, STUCK_MS).
 */
const SILENT_MS = 180_000;
/** Limit for messages of a client, which are ignored. */
const MAX_CLIENT_MESSAGE_BYTES = 64 * 1024;
/** Limit for frames of any kind between two pings. Clients send a ping occasionally. */
const MAX_CLIENT_FRAMES = 1_000;
/** Above this amount of unsent data, pings of the client are not answered. */
const MAX_UNSENT_PONG_BYTES = 64 * 1024;
const GOING_AWAY = 1001;
/** Registered with IANA, in addition to the codes of RFC 6455. */
export const TRY_AGAIN_LATER = 1013;
/** Close code if the token is not valid any more. */
const POLICY_VIOLATION = 1008;
/** Time for clients to answer the close. */
const STOP_MS = 1_000;

/**
 * Checks whether to hand a request over as a socket. A request with a body does not qualify: its frames would
 * come only after the whole body.
 */
export function isTailUpgrade({ url = '', headers, method }: IncomingMessage): boolean {
  const path = url.split('?', 1)[0];
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  return method === 'GET' && isTailPath(path) && headers.upgrade?.toLowerCase() === 'websocket';
}

export function startTailSockets(options: TailSocketsOptions): TailSockets {
  const { server, connections, log, ids } = options;
  // Declared as a constant, because the types of `ws` lack some of these options.
  const how = {
    noServer: true,
    maxPayload: MAX_CLIENT_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
    autoPong: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
  };
  const sockets = new WebSocketServer(how);
  let isStopping = false;
  const pongs = new Map<string, number>();
  /** Frames per client since the last ping. */
  const frames = new Map<string, number>();

  const tokens: TokenWatch = watchTokens({
    verifier: options.access.verifier,
    end: (connectionId, reason) => connections.close(connectionId, { code: POLICY_VIOLATION, reason }),
    log,
  });

  function checkCapacity(): void {
    const { maxWebSockets } = options.config.logboom;
    if (isStopping || connections.size >= maxWebSockets) throw new ClientError(503, OVERLOADED);
  }

  async function onUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const id = ids.randomHex(8);
    const { config, access, clock } = options;
    try {
      // Only old versions of Node, which do not check first, pass other requests.
      if (!isTailUpgrade(incoming)) throw new ClientError(400, 'Bad Request');
      checkCapacity();
      const asked = requestOf(incoming, id);
      refuseForeignSocket(asked, config.access.allowedOrigins);
      const admitted = await access.guard.admit(TAIL_LOGS, asked);
      // Checked again, because other connections may have opened meanwhile.
      checkCapacity();
      const request = tailRequestOf(admitted, clock.nowNs());
      sockets.handleUpgrade(incoming, socket, head, client => {
        serve(client, socket, request, admitted.identity?.tokenId).catch((error: unknown) => {
          log.error({ requestId: id, err: error }, 'opening a tail failed');
          client.close(CLOSE_ERROR, `internal error, request id ${id}`);
        });
      });
    } catch (error) {
      writeResponse(socket, responseOfError(error, { style: 'query', requestId: id, log }));
    }
  }

  async function serve(
    client: WebSocket,
    stream: Duplex,
    request: TailRequest,
    tokenId: string | undefined,
  ): Promise<void> {
    const { tails, clock } = options;
    const connectionId = ids.randomHex(16);
    connections.add(connectionId, client, stream);
    pinging.start();
    if (tokenId !== undefined) tokens.add(connectionId, tokenId);
    pongs.set(connectionId, clock.nowMs());
    const count = () => {
      const sent = (frames.get(connectionId) ?? 0) + 1;
      frames.set(connectionId, sent);
      if (sent > MAX_CLIENT_FRAMES) client.terminate();
    };
    client.on('message', () => {
      connections.touch(connectionId);
      count();
    });
    client.on('ping', data => {
      if (client.bufferedAmount < MAX_UNSENT_PONG_BYTES) client.pong(data);
      count();
    });
    client.on('pong', () => {
      pongs.set(connectionId, clock.nowMs());
      count();
    });
    // A close event follows.
    client.on('error', error => log.debug({ err: error }, 'WebSocket failed'));
    let opening: Promise<string | undefined> | undefined;
    client.once('close', () => {
      connections.remove(connectionId);
      tokens.remove(connectionId);
      pongs.delete(connectionId);
      frames.delete(connectionId);
      const forget = async (): Promise<void> => {
        await opening?.catch(() => undefined);
        await tails.close(request.tenant, connectionId);
      };
      forget().catch((error: unknown) => log.warn({ err: error }, 'recording the end of a tail failed'));
    });
    opening = tails.open(request, connectionId);
    const refusal = await opening;
    if (refusal !== undefined) await connections.close(connectionId, { code: CLOSE_ERROR, reason: refusal });
  }

  const ping = (): void => {
    const nowMs = options.clock.nowMs();
    frames.clear();
    for (const [id, client] of connections.entries()) {
      // A slow client answers late. While bytes are unsent, its tail decides whether to close it.
      const silentMs = nowMs - (pongs.get(id) ?? nowMs);
      const timeoutMs = client.bufferedAmount === 0 ? PONG_TIMEOUT_MS : SILENT_MS;
      if (silentMs > timeoutMs) client.terminate();
      else if (client.bufferedAmount === 0) client.ping();
    }
  };
  const pinging = timerWhile(() => connections.size > 0, ping, PING_MS);
  const upgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
    void onUpgrade(incoming, socket, head);
  server.on('upgrade', upgrade);

  return {
    async stop() {
      isStopping = true;
      server.off('upgrade', upgrade);
      pinging.stop();
      tokens.stop();
      const open = [...connections.entries()];
      const closed = open.map(([, client]) => new Promise(resolve => client.once('close', resolve)));
      for (const [id] of open)
        await connections.close(id, { code: GOING_AWAY, reason: 'the server is shutting down' });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise(resolve => (timer = setTimeout(resolve, STOP_MS)));
      await Promise.race([Promise.all(closed), late]);
      clearTimeout(timer);
      for (const [, client] of open) client.terminate();
      sockets.close();
    },
  };
}

function requestOf({ url = '/', headers, method = 'GET', socket }: IncomingMessage, id: string): HttpRequest {
  const { remoteAddress: clientAddress } = socket;
  const mark = url.indexOf('?');
  return {
    method,
    path: mark === -1 ? url : url.slice(0, mark),
    rawQuery: mark === -1 ? '' : url.slice(mark + 1),
    headers: headers as Record<string, string>,
    body: new Uint8Array(0),
    signal: new AbortController().signal,
    id,
    clientAddress,
  };
}

/** Writes a response by hand: a socket after handover has no response object of Node. */
function writeResponse(socket: Duplex, { status, headers, body }: HttpResponse): void {
  if (!socket.writable) return;
  const head = [`HTTP/1.1 ${status} ${REASONS.get(status) ?? 'Error'}`];
  for (const [name, value] of Object.entries(hardenedHeaders(headers))) head.push(`${name}: ${value}`);
  head.push(`content-length: ${Buffer.byteLength(body)}`, 'connection: close');
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]));
  // The gateway does not count the socket any more, and the client may keep its side open.
  destroySoon(socket);
}

const REASONS = new Map<number, string>([
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [429, 'Too Many Requests'],
  [500, 'Internal Server Error'],
  [503, 'Service Unavailable'],
]);
