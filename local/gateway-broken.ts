/**
 * What is no HTTP, or does not arrive in time. Requests that came before it on the same connection are answered first;
 * a request whose body it breaks is the one that gets the error; otherwise the error is written as it is.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hardenedHeaders } from '../shared/http/hardening.ts';
import { ClientError } from '../shared/model/errors.ts';

/** 400, 408 or 431: nothing more can be read from this connection. */
export class BrokenRequestError extends ClientError {}

interface Connection {
  /** Of requests that have begun and are not answered: what to call when the connection is gone. */
  readonly open: Set<() => void>;
  /** Ends the reading of a body. */
  interrupt?: (error: BrokenRequestError) => void;
  /** To be written when the open requests are answered. */
  broken?: BrokenRequestError;
}

export interface Connections {
  /**
   * A request has begun; the function that it returns says that it is answered. `onGone` is called where the
   * connection closes before: node tells only the first of several waiting answers.
   */
  begin(socket: Duplex, onGone: () => void): () => void;
  /** Names what a break of the connection interrupts; undefined when the body is complete. */
  reading(socket: Duplex, interrupt: Connection['interrupt']): void;
  /** Those that never sent a byte: node does not count them as idle. */
  destroyUnused(): void;
  destroyAll(): void;
}

/** For the peer to read the error before the socket is gone. */
const LAST_WORDS_MS = 500;

const REASONS = new Map<number, string>([
  [400, 'Bad Request'],
  [408, 'Request Timeout'],
  [413, 'Payload Too Large'],
  [431, 'Request Header Fields Too Large'],
]);

/** Listens on the server, which from now on never closes a connection without a word or ends the process. */
export function watchConnections(server: Server): Connections {
  const connections = new Map<Duplex, Connection & { readonly socket: Socket }>();
  server.on('connection', (socket: Socket) => {
    const open = new Set<() => void>();
    connections.set(socket, { open, socket });
    socket.once('close', () => {
      connections.delete(socket);
      for (const onGone of [...open]) onGone();
    });
    socket.on('error', () => {});
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const connection = connections.get(socket);
    if (connection?.broken !== undefined) return;
    if (connection === undefined || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    connection.broken = brokenBy(error);
    if (connection.interrupt !== undefined) connection.interrupt(connection.broken);
    else if (connection.open.size === 0) sayLast(socket, connection.broken);
  });
  return {
    begin(socket, onGone) {
      const connection = connections.get(socket);
      if (connection === undefined) {
        queueMicrotask(onGone);
        return () => {};
      }
      connection.open.add(onGone);
      return () => {
        const last = connection.open.delete(onGone) && connection.open.size === 0;
        if (last && connection.broken !== undefined) sayLast(socket, connection.broken);
      };
    },
    reading(socket, interrupt) {
      const connection = connections.get(socket);
      if (connection !== undefined) connection.interrupt = interrupt;
    },
    destroyUnused() {
      for (const { socket } of connections.values()) if (socket.bytesRead === 0) socket.destroy();
    },
    destroyAll() {
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}

function brokenBy(error: NodeJS.ErrnoException): BrokenRequestError {
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 431
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 408
        : error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW'
          ? 413
          : 400;
  return new BrokenRequestError(status, REASONS.get(status) ?? '');
}

function sayLast(socket: Duplex, { status, message }: BrokenRequestError): void {
  if (!socket.writable) return;
  const body = `${status} ${message}`;
  const head = [
    `HTTP/1.1 ${status} ${message}`,
    ...Object.entries(hardenedHeaders({})).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
}
