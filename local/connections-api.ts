/**
 * Management API of the gateway's WebSockets, compatible with API Gateway. It lets you test programs on one
 * machine that post to connections through the AWS SDK:
 *
 *     POST   /@connections/{id}   sends the body as a message: 200; 410 if the connection is closed, 413 if it is too large
 *     GET    /@connections/{id}   200 with the times of the connection; 410
 *     DELETE /@connections/{id}   closes it: 204; 410
 *
 * Pitfall: signatures are not checked, so a client of this API can write to every live tail. It is off unless
 * `logboom.connections_api` is set, and accepts only requests from this machine.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connections } from '../shared/base/ports/connections.ts';
import { hardenedHeaders } from '../shared/server/http/hardening.ts';

const PREFIX = '/@connections/';
/** Same limit as API Gateway. */
const MAX_MESSAGE_BYTES = 128 * 1024;
const NORMAL_CLOSE = 1000;
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** Handles a request of the API. Returns false for other requests. */
export function createConnectionsApi(
  connections: Connections,
): (incoming: IncomingMessage, outgoing: ServerResponse) => boolean {
  return (incoming, outgoing) => {
    const path = (incoming.url ?? '').split('?', 1)[0];
    if (!path.startsWith(PREFIX)) return false;
    for (const [name, value] of Object.entries(hardenedHeaders({}))) outgoing.setHeader(name, value);
    outgoing.on('error', () => {});
    incoming.on('error', () => {});
    if (!LOOPBACK.test(incoming.socket.remoteAddress ?? '')) {
      fail(outgoing, 403, 'ForbiddenException');
      return true;
    }
    answer(connections, path.slice(PREFIX.length), incoming, outgoing).catch(() => {
      if (!outgoing.headersSent) fail(outgoing, 500, 'InternalServerErrorException');
    });
    return true;
  };
}

async function answer(
  connections: Connections,
  encodedId: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const connectionId = decoded(encodedId);
  const info = connectionId === undefined ? undefined : await connections.get(connectionId);
  if (connectionId === undefined || info === undefined) {
    incoming.resume();
    return fail(outgoing, 410, 'GoneException');
  }
  switch (incoming.method) {
    case 'POST': {
      const body = await readMessage(incoming);
      const outcome = body === undefined ? 'too large' : await connections.post(connectionId, body);
      if (outcome === 'gone') return fail(outgoing, 410, 'GoneException');
      if (outcome === 'too large') return fail(outgoing, 413, 'PayloadTooLargeException');
      outgoing.writeHead(200).end();
      return;
    }
    case 'GET': {
      const { connectedMs, lastActiveMs } = info;
      const times = {
        connectedAt: new Date(connectedMs).toISOString(),
        lastActiveAt: new Date(lastActiveMs).toISOString(),
      };
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(times));
      return;
    }
    case 'DELETE':
      await connections.close(connectionId, { code: NORMAL_CLOSE, reason: '' });
      outgoing.writeHead(204).end();
      return;
    default:
      outgoing.writeHead(405, { allow: 'DELETE, GET, POST' }).end();
  }
}

/** `undefined` for an invalid escape: no connection has such an ID. */
function decoded(encodedId: string): string | undefined {
  try {
    return decodeURIComponent(encodedId);
  } catch {
    return undefined;
  }
}

/**
 * `undefined` if the message is too large. The rest is still read, so that the client receives the response.
 */
async function readMessage(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes <= MAX_MESSAGE_BYTES) parts.push(part);
  }
  return bytes <= MAX_MESSAGE_BYTES ? Buffer.concat(parts) : undefined;
}

function fail(outgoing: ServerResponse, status: number, name: string): void {
  const headers = { 'content-type': 'application/json', 'x-amzn-errortype': name };
  outgoing.writeHead(status, headers).end(JSON.stringify({ message: name }));
}
