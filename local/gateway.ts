/**
 * HTTP on one machine: turns node:http requests into plain values and back, and holds what a server must hold whatever
 * is sent to it: sizes, times, the number of requests at once, the bytes of their bodies. No route is known here.
 *
 * What a reader would get wrong: an answer that comes before the end of a body (413, 503) must not close the socket
 * while the client still sends, or the client sees a reset instead of the answer; such a body is drained for a while.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorResponse, OVERLOADED, responseOfError } from '../shared/http/errors.ts';
import { hardenedHeaders } from '../shared/http/hardening.ts';
import type { Request, Response } from '../shared/http/message.ts';
import type { RequestLimitsOf } from '../shared/http/request-limits.ts';
import { ClientError } from '../shared/model/errors.ts';
import {
  type Body,
  BodyInterruptedError,
  createBodyBudget,
  declaredLength,
  NO_BODY,
  readBody,
  recycleBody,
  tooLarge,
} from './gateway-body.ts';
import { BrokenRequestError, type Connections, watchConnections } from './gateway-broken.ts';
import type { Log } from './log.ts';

export interface GatewayLimits {
  /** Asked when the head of a request is there. */
  readonly ofRequest: RequestLimitsOf;
  readonly maxConcurrentRequests: number;
  readonly maxBufferedBodyBytes: number;
  /** For a whole request to arrive. */
  readonly readTimeoutMs: number;
  /** For an answer to make progress. */
  readonly writeTimeoutMs: number;
  /** For the next request of a connection to begin. */
  readonly idleTimeoutMs: number;
  /** For running requests to end once the gateway stops. */
  readonly drainTimeoutMs: number;
}

/** A request whose body is not here yet. */
export type RequestHead = Omit<Request, 'body' | 'signal'>;

export interface GatewayOptions {
  /** Empty: all addresses. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dispatch: (request: Request) => Promise<Response>;
  /** Asked before a body is read, so that nobody makes us hold what is not let in. Rejects with ClientError. */
  readonly admit?: ((head: RequestHead) => Promise<void>) | undefined;
  readonly limits: GatewayLimits;
  readonly log: Log;
  /** Requests that are handed over as sockets, to whoever listens to `upgrade` of the server. Default: none. */
  readonly isUpgrade?: (incoming: IncomingMessage) => boolean;
  /** Asked first: true where it answers the request itself. */
  readonly intercept?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
}

export interface Gateway {
  /** For example `http://127.0.0.1:3100`. */
  readonly url: string;
  readonly port: number;
  /** For upgrades to WebSocket: whoever takes a socket over also closes it. */
  readonly server: Server;
  /** Accepts nothing new, lets running requests end, then cuts what is left. The same promise each time. */
  stop(): Promise<void>;
}

/** Longer than any selector by GET that a client makes; node's own 16 KB is not. */
const MAX_HEADER_BYTES = 128 * 1024;
const MAX_CONNECTIONS = 10_000;
/** An unwanted body is read so that the client gets to its answer: until it pauses, and only so long and so far. */
const DRAIN_PAUSE_MS = 500;
const DRAIN_BODY_MS = 10_000;
const DRAIN_BODY_BYTES = 256 * 1024 * 1024;
const TIMEOUT_CHECK_MS = 1000;

/** Resolves when it listens; rejects with the error of `listen`, for example EADDRINUSE. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host, port, limits, log, isUpgrade = () => false, intercept = () => false } = options;
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: limits.readTimeoutMs,
    headersTimeout: limits.readTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, limits.readTimeoutMs),
    shouldUpgradeCallback: isUpgrade,
  });
  server.maxConnections = MAX_CONNECTIONS;
  const service = createService(options, watchConnections(server));
  server.on('request', (request, response) => {
    if (!intercept(request, response)) service.handle(request, response, false);
  });
  server.on('checkContinue', (request, response) => service.handle(request, response, true));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host === '' ? undefined : host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', error => log.error({ err: error }, 'server error'));
  const address = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  return {
    url: `http://${shownHost(host)}:${address.port}`,
    port: address.port,
    server,
    stop() {
      stopped ??= service.stop(server);
      return stopped;
    },
  };
}

function shownHost(host: string): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

interface Service {
  /** `awaited`: the client waits for `100 Continue` before it sends the body. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse, awaited: boolean): void;
  stop(server: Server): Promise<void>;
}

function createService({ dispatch, admit, limits, log }: GatewayOptions, connections: Connections): Service {
  const budget = createBodyBudget(limits.maxBufferedBodyBytes);
  const overloaded = new ClientError(503, OVERLOADED);
  const running = new Set<AbortController>();
  const nextId = createIds();
  let stopping = false;
  let afterRequest = () => {};

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse, awaited: boolean): Promise<void> {
    const id = nextId();
    const startedMs = performance.now();
    const method = incoming.method ?? 'GET';
    const { path, rawQuery } = splitTarget(incoming.url ?? '/');
    const headers = incoming.headers as Record<string, string>;
    const { maxBodyBytes, deadlineMs } = limits.ofRequest(method, path, headers);
    const controller = new AbortController();
    const admitted = running.size < limits.maxConcurrentRequests;
    if (admitted) running.add(controller);
    const answered = new Promise<void>(resolve => {
      const end = connections.begin(incoming.socket, onClose);
      outgoing.once('close', onClose);
      function onClose(): void {
        if (!outgoing.writableFinished) {
          controller.abort(new DOMException('the client went away', 'AbortError'));
        }
        end();
        resolve();
      }
    });
    outgoing.setHeader('x-request-id', id);
    const head = { method, path, rawQuery, headers, id, clientAddress: incoming.socket.remoteAddress };

    let body: Body = NO_BODY;
    let timer: NodeJS.Timeout | undefined;
    try {
      if (!admitted) throw overloaded;
      if (admit !== undefined && declaredLength(incoming) !== 0) await admit(head);
      body = await receive(incoming, outgoing, maxBodyBytes, awaited);
      if (deadlineMs > 0) {
        const late = new DOMException(`over ${deadlineMs} ms`, 'TimeoutError');
        timer = setTimeout(() => controller.abort(late), deadlineMs);
      }
      const { signal } = controller;
      const response = await dispatch({ ...head, body: body.bytes, signal });
      send(outgoing, response);
      // An error may come before all that was begun has ended.
      if (response.status < 300) recycleBody(body);
    } catch (error) {
      if (error instanceof ClientError) {
        refuse(incoming, outgoing, error, responseOfError(error, { style: 'push', requestId: id, log }));
      } else if (error instanceof BodyInterruptedError) outgoing.destroy();
      else {
        // Dispatch answers its own errors: this is a defect of an answer.
        log.error({ requestId: id, err: error }, 'request failed');
        if (outgoing.headersSent) outgoing.destroy();
        else send(outgoing, errorResponse(500, `internal error, request id ${id}`, 'push'));
      }
    } finally {
      clearTimeout(timer);
      budget.give(body.heldBytes);
    }
    await answered;
    running.delete(controller);
    afterRequest();
    if (log.isLevelEnabled('debug')) {
      const ms = Math.round(performance.now() - startedMs);
      log.debug({ requestId: id, method, path, status: outgoing.statusCode, ms }, 'request');
    }
  }

  /** The body, once nothing speaks against reading it. */
  async function receive(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    maxBytes: number,
    awaited: boolean,
  ): Promise<Body> {
    const declared = declaredLength(incoming);
    if (declared === 0) return NO_BODY;
    if (declared !== undefined && declared > maxBytes) throw tooLarge(declared, maxBytes);
    if (awaited) outgoing.writeContinue();
    const { socket } = incoming;
    const onReading = (interrupt?: (error: Error) => void) => connections.reading(socket, interrupt);
    return readBody(incoming, { maxBytes, budget, overloaded, onReading });
  }

  function send(outgoing: ServerResponse, { status, headers, body }: Response): void {
    if (outgoing.destroyed) return;
    if (stopping) outgoing.shouldKeepAlive = false;
    const hardened = hardenedHeaders(headers);
    for (const name in hardened) outgoing.setHeader(name, hardened[name]);
    const hasBody = status !== 204 && status !== 304;
    if (hasBody) outgoing.setHeader('content-length', Buffer.byteLength(body));
    outgoing.writeHead(status);
    if (hasBody && body.length > 0) outgoing.end(body);
    else outgoing.end();
    const socket = outgoing.socket;
    // Node watches for progress of the write and destroys the socket; the next request or idleness resets it.
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(limits.writeTimeoutMs);
  }

  return {
    handle(incoming, outgoing, awaited) {
      // A socket that fails later must not end the process.
      outgoing.on('error', () => {});
      incoming.on('error', () => {});
      serve(incoming, outgoing, awaited).catch((error: unknown) => {
        log.error({ err: error }, 'request failed');
        incoming.socket.destroy();
      });
    },
    async stop(server) {
      stopping = true;
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      connections.destroyUnused();
      // A connection whose answer was under way when the gateway stopped is idle once it has been sent.
      afterRequest = () => setImmediate(() => server.closeIdleConnections());
      const timer = setTimeout(() => {
        for (const controller of running)
          controller.abort(new DOMException('the server stops', 'AbortError'));
        connections.destroyAll();
      }, limits.drainTimeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Answers before the body was read: in full, then reads on for a while, then closes. */
function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  error: ClientError,
  { status, headers, body }: Response,
): void {
  const unread = !incoming.complete && declaredLength(incoming) !== 0;
  if (unread) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(status, { ...hardenedHeaders(headers), 'content-length': Buffer.byteLength(body) });
  if (!unread || error instanceof BrokenRequestError) {
    outgoing.end(body);
    return;
  }
  // With its declared length the answer is complete for the client; ending it here would close the socket.
  outgoing.write(body);
  const latestMs = performance.now() + DRAIN_BODY_MS;
  let left = DRAIN_BODY_BYTES;
  const finish = () => {
    clearTimeout(timer);
    outgoing.end();
  };
  const timer = setTimeout(finish, DRAIN_PAUSE_MS);
  incoming.on('data', (chunk: Buffer) => {
    timer.refresh();
    left -= chunk.length;
    if (left < 0 || performance.now() > latestMs) incoming.destroy();
  });
  incoming.once('end', finish).once('close', finish);
  incoming.resume();
}

/** Unique among all processes for practical purposes, and cheap: random once, then counted. */
function createIds(): () => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}

/** Path and query of a request target, which may be a whole URL. Node lets only ASCII through. */
function splitTarget(target: string): { path: string; rawQuery: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = local.indexOf('?');
  if (mark === -1) return { path: local || '/', rawQuery: '' };
  return { path: local.slice(0, mark) || '/', rawQuery: local.slice(mark + 1) };
}
