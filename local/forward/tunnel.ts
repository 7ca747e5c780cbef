/**
 * Forwards live tails: opens a WebSocket at the target with the request of the client, and then passes bytes in both
 * directions.
 *
 * Pitfall: the target compares the origin of a page with its own host. So this process compares it with the host that
 * the client used, and removes it if they are equal.
 */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { ClientError } from '../../shared/base/model/errors.ts';
import type { ServerLog } from '../../shared/base/runtime/log.ts';
import { OVERLOADED, responseOfError } from '../../shared/server/http/errors.ts';
import { refuseForeignSocket } from '../../shared/server/http/foreign-page.ts';
import { hardenedHeaders } from '../../shared/server/http/hardening.ts';
import { destroySoon } from '../gateway-broken.ts';
import { endToEndHeaders, forwardedHeaders } from './headers.ts';
import { unreachable } from './send.ts';
import type { TailTarget } from './targets.ts';

interface Tunnels {
  open(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes all tails. Clients reconnect. */
  close(): void;
}

interface TunnelsOptions {
  readonly target: TailTarget;
  readonly maxTunnels: number;
  readonly allowedOrigins: readonly string[];
  readonly log: ServerLog;
}

/** Header for targets whose WebSockets have one path, such as API Gateway (functions/websocket-event.ts). */
const PATH_HEADER = 'x-logboom-path';
/** API Gateway waits 29 s for the function that opens a tail. */
const OPEN_MS = 35_000;
/** A refusal is a short text. */
const MAX_REFUSAL_BYTES = 64 * 1024;

export function createTunnels({ target, maxTunnels, allowedOrigins, log }: TunnelsOptions): Tunnels {
  const { origin, path: onlyPath } = target;
  const request = origin.protocol === 'https:' ? requestHttps : requestHttp;
  const clients = new Set<Duplex>();
  let isClosed = false;

  function ask(incoming: IncomingMessage): ClientRequest {
    if (isClosed || clients.size >= maxTunnels) throw new ClientError(503, OVERLOADED);
    const url = incoming.url!;
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const query = mark === -1 ? '' : url.slice(mark);
    const headers = forwardedHeaders(incoming, origin);
    const { origin: page, host } = incoming.headers;
    refuseForeignSocket({ headers: incoming.headers as Record<string, string> }, allowedOrigins);
    if (page !== undefined && URL.parse(page)?.host === host?.toLowerCase()) delete headers.origin;
    delete headers[PATH_HEADER];
    return request(origin, {
      path: `${onlyPath ?? path}${query}`,
      headers: {
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        ...(onlyPath === undefined ? {} : { [PATH_HEADER]: path }),
      },
      agent: false,
    });
  }

  return {
    open(incoming, socket, head) {
      socket.on('error', () => socket.destroy());
      const fail = (error: unknown) => writeError(socket, error, log);
      let outward: ClientRequest;
      try {
        outward = ask(incoming);
      } catch (error) {
        fail(error);
        return;
      }
      clients.add(socket);
      socket.once('close', () => {
        clients.delete(socket);
        outward.destroy();
      });
      const timer = setTimeout(() => outward.destroy(new Error('timeout')), OPEN_MS);
      const settle = () => clearTimeout(timer);
      outward.once('error', error => {
        settle();
        if (socket.destroyed) return;
        log.warn({ err: error, forwardTo: origin.origin }, 'forwarding a tail failed');
        fail(new ClientError(502, unreachable(error)));
      });
      outward.once('response', response => {
        settle();
        void refuse(response, socket);
      });
      outward.once('upgrade', (response, stream, first) => {
        settle();
        join(response, { client: socket, head }, { client: stream, head: first });
      });
      outward.end();
    },
    close() {
      isClosed = true;
      for (const socket of clients) socket.destroy();
    },
  };
}

interface Side {
  readonly client: Duplex;
  /** Bytes after the head of the request or response. */
  readonly head: Buffer;
}

function join(
  response: IncomingMessage,
  { client, head }: Side,
  { client: target, head: first }: Side,
): void {
  if (client.destroyed) {
    target.destroy();
    return;
  }
  target.on('error', () => target.destroy());
  target.once('close', () => client.destroy());
  client.once('close', () => target.destroy());
  client.write(headOf(response, ['connection: Upgrade', 'upgrade: websocket']));
  if (first.length > 0) client.write(first);
  if (head.length > 0) target.write(head);
  client.pipe(target);
  target.pipe(client);
}

/** Passes on the response of a target that does not open the tail. */
async function refuse(response: IncomingMessage, socket: Duplex): Promise<void> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > MAX_REFUSAL_BYTES) break;
      parts.push(part);
    }
  } catch {
    // The status is the answer; its text is incomplete.
  }
  const body = Buffer.concat(parts);
  finish(socket, headOf(response, [`content-length: ${body.length}`, 'connection: close']), body);
}

function writeError(socket: Duplex, error: unknown, log: ServerLog): void {
  const { status, headers, body } = responseOfError(error, { style: 'query', requestId: '', log });
  const bytes = Buffer.from(body);
  const lines = Object.entries(hardenedHeaders(headers)).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} `, ...lines, `content-length: ${bytes.length}`, 'connection: close'];
  finish(socket, `${head.join('\r\n')}\r\n\r\n`, bytes);
}

function finish(socket: Duplex, head: string, body: Buffer): void {
  if (!socket.writable) return;
  socket.write(head, 'latin1');
  socket.end(body);
  destroySoon(socket);
}

function headOf(response: IncomingMessage, more: readonly string[]): string {
  const lines = [`HTTP/1.1 ${response.statusCode} ${response.statusMessage ?? ''}`];
  for (const [name, values] of Object.entries(endToEndHeaders(response))) {
    if (name !== 'content-length') for (const value of values) lines.push(`${name}: ${value}`);
  }
  return `${[...lines, ...more].join('\r\n')}\r\n\r\n`;
}
