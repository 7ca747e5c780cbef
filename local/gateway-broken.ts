/** What is no HTTP, or does not arrive in time: the errors, and how they are written where there is no response to put them into. */
import type { Duplex } from 'node:stream';
import { ClientError } from '../shared/base/model/errors.ts';
import { hardenedHeaders } from '../shared/server/http/hardening.ts';

/** 400, 408, 413 or 431: nothing more can be read from this connection. */
export class BrokenRequestError extends ClientError {}

/** For the peer to read the error before the socket is gone. */
const LAST_WORDS_MS = 500;

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

/** The error of node's parser, or of its timers, as a response. */
export function brokenBy({ code = '' }: NodeJS.ErrnoException): BrokenRequestError {
  const status = STATUSES[code] ?? 400;
  return new BrokenRequestError(status, REASONS[status]);
}

/** Writes the error onto a socket whose requests are all answered, and ends it. */
export function sayLast(socket: Duplex, { status, message }: BrokenRequestError): void {
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

/** Ends a socket that has been told the last, also where its peer keeps its own side open. */
export function destroySoon(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
}
