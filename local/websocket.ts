/**
 * Live tails over WebSockets, on the port of the gateway. What is wrong with a request is answered by HTTP before the upgrade,
 * what is found later by a close code (wire-format reference, 4.1 and 4.2).
 *
 * A reader would get wrong: node gives a socket that asks for an upgrade to whoever listens, whatever its path. So the gateway
 * is told which requests those are (`isTailUpgrade`); all others are requests as ever.
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

export interface TailSocketsOptions {
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

export interface TailSockets {
  /** Says goodbye to all clients, and ends. */
  stop(): Promise<void>;
}

/** The reference pings as often; proxies that drop idle connections wait longer. */
const PING_MS = 1_000;
/** A client that answers no ping for so long is gone. */
const PONG_TIMEOUT_MS = 30_000;
/** One that takes nothing for so long is gone, too: longer than a tail waits for a frame to be taken (shared/read/tail/bounds.ts, STUCK_MS). */
const SILENT_MS = 180_000;
/** Messages of a client are ignored, so they need not be large, ... */
const MAX_CLIENT_MESSAGE_BYTES = 64 * 1024;
/** ... nor many: frames of any kind between two pings. Clients send a ping now and then. */
const MAX_CLIENT_FRAMES = 1_000;
/** Pongs for a client that does not take them are left out. */
const MAX_UNSENT_PONG_BYTES = 64 * 1024;
const GOING_AWAY = 1001;
/** Registered with IANA beside the codes of RFC 6455. */
export const TRY_AGAIN_LATER = 1013;
/** The token is good no longer. */
const POLICY_VIOLATION = 1008;
/** For clients to answer the goodbye. */
const STOP_MS = 1_000;

/** Whether a request is to be handed over as a socket. Behind a body would come its frames only once it is whole: none has one. */
export function isTailUpgrade({ url = '', headers, method }: IncomingMessage): boolean {
  const path = url.split('?', 1)[0];
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  return method === 'GET' && isTailPath(path) && headers.upgrade?.toLowerCase() === 'websocket';
}

export function startTailSockets(options: TailSocketsOptions): TailSockets {
  const { server, connections, log, ids } = options;
  // A constant of its own, because the types of `ws` do not name all of it.
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
  /** Frames of each client since the last ping. */
  const frames = new Map<string, number>();

  const tokens: TokenWatch = watchTokens({
    verifier: options.access.verifier,
    end: (connectionId, reason) => connections.close(connectionId, { code: POLICY_VIOLATION, reason }),
    log,
  });

  function checkRoom(): void {
    const { maxWebSockets } = options.config.logboom;
    if (isStopping || connections.size >= maxWebSockets) throw new ClientError(503, OVERLOADED);
  }

  async function onUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const id = ids.randomHex(8);
    const { config, access, clock } = options;
    try {
      // Only a node that is too old to ask first hands over what is none of ours.
      if (!isTailUpgrade(incoming)) throw new ClientError(400, 'Bad Request');
      checkRoom();
      const asked = requestOf(incoming, id);
      refuseForeignSocket(asked, config.access.allowedOrigins);
      const admitted = await access.guard.admit(TAIL_LOGS, asked);
      // Others may have come meanwhile.
      checkRoom();
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
    // A close follows.
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
      // A slow client answers late: as long as bytes wait for it, its tail decides, if it has anything to send.
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
      for (const [id] of open) await connections.close(id, { code: GOING_AWAY, reason: 'the server stops' });
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

/** An answer by hand: there is no node response for a socket that was handed over. */
function writeResponse(socket: Duplex, { status, headers, body }: HttpResponse): void {
  if (!socket.writable) return;
  const head = [`HTTP/1.1 ${status} ${REASONS.get(status) ?? 'Error'}`];
  for (const [name, value] of Object.entries(hardenedHeaders(headers))) head.push(`${name}: ${value}`);
  head.push(`content-length: ${Buffer.byteLength(body)}`, 'connection: close');
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]));
  // The gateway counts it no longer, and the client may keep its side open.
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
