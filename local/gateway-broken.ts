/**
 * Errors of requests that are not valid HTTP or do not arrive in time. They are written without a response
 * object.
 */
import type { Duplex } from 'node:stream';
import { ClientError } from '../shared/base/model/errors.ts';
import { hardenedHeaders } from '../shared/server/http/hardening.ts';

/** Status 400, 408, 413 or 431. No further request can be read from this connection. */
export class BrokenRequestError extends ClientError {}

/** Time for the peer to read the error before the socket is destroyed. */
const LAST_READ_MS = 500;

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** Converts an error of Node's parser or timers to a response. */
export function brokenBy({ code = '' }: NodeJS.ErrnoException): BrokenRequestError {
  const status = STATUSES[code] ?? 400;
  return new BrokenRequestError(status, REASONS[status]);
}

/** Writes the error to a socket without pending responses, and ends it. */
export function writeFinalError(socket: Duplex, { status, message }: BrokenRequestError): void {
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
  destroySoon(socket);
}

/** Destroys an ended socket after a delay, even if the peer keeps its side open. */
export function destroySoon(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LAST_READ_MS).unref();
}
