/**
 * HTTP on one machine: converts node:http requests to plain values and back. Enforces the limits that must
 * hold for any input: sizes, times, concurrent requests, and bytes of their bodies. It knows no routes.
 *
 * Pitfall: a response before the end of a body (413, 503) must not close the socket while the client still
 * sends. Otherwise the client sees a reset instead of the response. Such a body is drained for a limited
 * time.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClientError } from '../shared/base/model/errors.ts';
import { freeLarge } from '../shared/base/model/free-bytes.ts';
import { releaseBody } from '../shared/base/model/shared-bodies.ts';
import type { ServerLog } from '../shared/base/runtime/log.ts';
import { errorResponse, OVERLOADED, responseOfError } from '../shared/server/http/errors.ts';
import { hardenedHeaders } from '../shared/server/http/hardening.ts';
import type { HttpRequest, HttpResponse } from '../shared/server/http/message.ts';
import type { RequestLimitsOf } from '../shared/server/http/request-limits.ts';
import { addressKey } from './address-key.ts';
import type { Forwarding } from './forward/forward.ts';
import {
  type Body,
  BodyInterruptedError,
  bodyTooLarge,
  declaredLength,
  NO_BODY,
  readBody,
  recycleBody,
} from './gateway-body.ts';
import { BrokenRequestError } from './gateway-broken.ts';
import { boundUnsent, createBodyBudget } from './gateway-budget.ts';
import {
  type ConnectionTimes,
  type GatewayConnections,
  maxConnections,
  watchConnections,
} from './gateway-connections.ts';
import { Exchange } from './gateway-exchange.ts';
import { createGatewaySlots } from './gateway-slots.ts';

export interface GatewayLimits extends ConnectionTimes {
  /** Called when the head of a request has arrived. */
  readonly ofRequest: RequestLimitsOf;
  /** Default: derived from the limit of open files. */
  readonly maxConnections?: number;
  readonly maxConcurrentRequests: number;
  readonly maxBufferedBodyBytes: number;
  /** Time for running requests to complete after the gateway stops. */
  readonly drainTimeoutMs: number;
}

/** A request without its body. */
type RequestHead = Omit<HttpRequest, 'body' | 'signal'>;

export interface GatewayOptions {
  /** Empty: all addresses. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /**
   * True if gateways of other threads listen on the same port. The system distributes connections among them,
   * and each gets a share of the limits.
   */
  readonly reusePort?: boolean;
  readonly dispatch: (request: HttpRequest) => Promise<HttpResponse>;
  /** Called before a body is read, so that refused requests use no memory. Rejects with ClientError. */
  readonly admit?: ((head: RequestHead) => Promise<void>) | undefined;
  /** Requests that another process handles. Their bodies are not buffered here. */
  readonly forwarding?: Pick<Forwarding, 'takes' | 'send'> | undefined;
  readonly limits: GatewayLimits;
  readonly log: ServerLog;
  /** Selects requests that go to the `upgrade` listeners of the server as sockets. Default: none. */
  readonly isUpgrade?: (incoming: IncomingMessage) => boolean;
  /** Called first. Returns true if it handles the request itself. */
  readonly intercept?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
}

export interface Gateway {
  /** Address, for example `http://127.0.0.1:3100`. */
  readonly url: string;
  readonly port: number;
  /** Server for upgrades to WebSocket. Code that takes over a socket must also close it. */
  readonly server: Server;
  /**
   * Stops accepting, completes running requests, then closes the remaining connections. Returns the same
   * promise on each call.
   */
  stop(): Promise<void>;
}

/** Fits the longest selector that clients send by GET. Node's default of 16 KB does not. */
export const MAX_HEADER_BYTES = 128 * 1024;
/** Slots per connection: some connections wait for their next request, and new ones need slots too. */
const SLOTS_PER_CONNECTION = 0.75;
/** Concurrent requests of one connection. Clients that pipeline more are disconnected. No agent does this. */
const MAX_PIPELINED = 16;
/** Connections that the system queues until they are accepted. The system may lower it. */
const BACKLOG = 4096;
/**
 * An unwanted body is read, so that the client reads the response: until it pauses, and within these limits
 * of time and size.
 */
const DRAIN_PAUSE_MS = 500;
const DRAIN_BODY_MS = 10_000;
const DRAIN_BODY_BYTES = 256 * 1024 * 1024;
/** Bytes that count per chunk in addition to its size, for the cost of handling it. */
const DRAIN_CHUNK_BYTES = 16 * 1024;
const TIMEOUT_CHECK_MS = 1000;
/** Responses above this size are bounded by their total; smaller ones by the number of requests. */
const LARGE_BYTES = 64 * 1024;

/** Resolves when it listens. Rejects with the error of `listen`, for example EADDRINUSE. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const {
    host,
    port,
    reusePort = false,
    limits,
    log,
    isUpgrade = () => false,
    intercept = () => false,
  } = options;
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: limits.readTimeoutMs,
    headersTimeout: limits.readTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, limits.readTimeoutMs),
    shouldUpgradeCallback: isUpgrade,
  });
  const most = limits.maxConnections ?? maxConnections();
  const service = createService(options, watchConnections(server, limits, most), most);
  server.on('request', (request, response) => {
    if (!intercept(request, response)) service.handle(request, response, 'nothing');
  });
  server.on('checkContinue', (request, response) => service.handle(request, response, 'continue'));
  server.on('checkExpectation', (request, response) => service.handle(request, response, 'unknown'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: host === '' ? undefined : host, backlog: BACKLOG, reusePort }, () => {
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

/** Counts connections opened from now on. */
export function connectionCount(server: Server): () => number {
  let open = 0;
  server.on('connection', socket => {
    open++;
    socket.once('close', () => open--);
  });
  return () => open;
}

function shownHost(host: string): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Response that the client expects before it sends the body, by its header `Expect`. */
type ExpectedResponse = 'nothing' | 'continue' | 'unknown';

interface GatewayService {
  handle(incoming: IncomingMessage, outgoing: ServerResponse, expected: ExpectedResponse): void;
  stop(server: Server): Promise<void>;
}

function createService(
  { dispatch, admit, forwarding, limits, log }: GatewayOptions,
  connections: GatewayConnections,
  maxConnections: number,
): GatewayService {
  const slots = createGatewaySlots(
    Math.min(limits.maxConcurrentRequests, Math.floor(maxConnections * SLOTS_PER_CONNECTION)),
  );
  const budget = createBodyBudget(limits.maxBufferedBodyBytes, slots.all);
  const overloaded = new ClientError(503, OVERLOADED);
  const nextId = createIds();
  let stopping = false;
  let afterRequest = () => {};

  async function serve(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    expected: ExpectedResponse,
  ): Promise<void> {
    const id = nextId();
    const method = incoming.method ?? 'GET';
    const { path, rawQuery } = splitTarget(incoming.url ?? '/');
    const headers = incoming.headers as Record<string, string>;
    const clientAddress = incoming.socket.remoteAddress;
    const ofRequest = limits.ofRequest(method, path);
    const exchange = new Exchange(incoming, outgoing, ofRequest, addressKey(clientAddress));
    const { controller } = exchange;
    if (connections.openOnConnection(exchange) >= MAX_PIPELINED) {
      incoming.socket.destroy();
      return;
    }
    const admitted = slots.take(exchange);
    const answered = new Promise<void>(resolve => {
      const end = connections.begin(exchange, onClose);
      outgoing.once('close', onClose);
      function onClose(): void {
        if (!outgoing.writableFinished) {
          controller.abort(new DOMException('the client disconnected', 'AbortError'));
        }
        exchange.unsentBytes = 0;
        end();
        resolve();
      }
    });
    outgoing.setHeader('x-request-id', id);
    const head = { method, path, rawQuery, headers, id, clientAddress };

    try {
      if (!admitted) throw overloaded;
      if (expected === 'unknown') throw new ClientError(417, 'Expectation Failed');
      if (forwarding?.takes(head)) await pass(exchange, head, expected);
      else await answer(exchange, head, expected);
    } catch (error) {
      if (error instanceof ClientError) {
        refuse(exchange, error, responseOfError(error, { style: 'push', requestId: id, log }));
      } else if (error instanceof BodyInterruptedError) outgoing.destroy();
      else {
        // Dispatch handles its own errors, so this is a defect in a handler.
        log.error({ requestId: id, err: error }, 'request failed');
        if (outgoing.headersSent) outgoing.destroy();
        else send(exchange, errorResponse(500, `internal error, request id ${id}`, 'push'));
      }
    }
    await answered;
    slots.release(exchange);
    afterRequest();
    if (log.isLevelEnabled('debug')) {
      const ms = Math.round(performance.now() - exchange.startedMs);
      log.debug({ requestId: id, method, path, status: outgoing.statusCode, ms }, 'request');
    }
  }

  async function answer(exchange: Exchange, head: RequestHead, expected: ExpectedResponse): Promise<void> {
    let body: Body = NO_BODY;
    try {
      if (admit !== undefined && declaredLength(exchange.incoming) !== 0)
        await exchange.unlessInterrupted(admit(head));
      if (hasBody(exchange, expected)) body = await readBody(exchange, { budget, overloaded });
      const response = await dispatch({ ...head, body: body.bytes, signal: exchange.controller.signal });
      send(exchange, response);
      // After an error, other code may still use the body.
      if (response.status < 300) recycleBody(body);
    } finally {
      budget.give(exchange, body.heldBytes);
    }
  }

  async function pass(exchange: Exchange, head: RequestHead, expected: ExpectedResponse): Promise<void> {
    hasBody(exchange, expected);
    if (stopping) exchange.outgoing.shouldKeepAlive = false;
    await forwarding!.send(exchange, head);
  }

  /** Lets the client send the body after all checks passed. Throws ClientError if it is too large. */
  function hasBody({ incoming, outgoing, limits: { maxBodyBytes } }: Exchange, expected: ExpectedResponse) {
    const declared = declaredLength(incoming);
    if (declared === 0) return false;
    if (declared !== undefined && declared > maxBodyBytes) throw bodyTooLarge(declared, maxBodyBytes);
    if (expected === 'continue') outgoing.writeContinue();
    return true;
  }

  function send(exchange: Exchange, { status, headers, body, isBodyOwn, isBodyShared }: HttpResponse): void {
    const { outgoing } = exchange;
    // Left to the collector, sent bytes would make it mark the whole heap every few responses.
    const sent = () => {
      if (typeof body === 'string') return;
      if (isBodyShared) releaseBody(body);
      else if (isBodyOwn) freeLarge(body);
    };
    if (outgoing.destroyed) {
      sent();
      return;
    }
    if (stopping) outgoing.shouldKeepAlive = false;
    const hardened = hardenedHeaders(headers);
    for (const name in hardened) outgoing.setHeader(name, hardened[name]);
    const hasBody = status !== 204 && status !== 304;
    const bytes = hasBody ? Buffer.byteLength(body) : 0;
    if (hasBody) outgoing.setHeader('content-length', bytes);
    outgoing.writeHead(status);
    exchange.leaves(bytes);
    if (bytes > 0) outgoing.end(body, sent);
    else {
      outgoing.end();
      sent();
    }
    const { socket } = outgoing;
    // Node watches the progress of the write and destroys the socket. The next request or idleness resets the
    // timeout.
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(limits.writeTimeoutMs);
    if (bytes > LARGE_BYTES) boundUnsent(slots.all);
  }

  return {
    handle(incoming, outgoing, expected) {
      // Prevents that a later socket error ends the process.
      outgoing.on('error', () => {});
      incoming.on('error', () => {});
      serve(incoming, outgoing, expected).catch((error: unknown) => {
        log.error({ err: error }, 'request failed');
        incoming.socket.destroy();
      });
    },
    async stop(server) {
      stopping = true;
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      connections.destroyUnused();
      // A connection with a response in progress at the stop becomes idle after the response.
      afterRequest = () => setImmediate(() => server.closeIdleConnections());
      const timer = setTimeout(() => {
        for (const { controller } of slots.all()) {
          controller.abort(new DOMException('the server is shutting down', 'AbortError'));
        }
        connections.destroyAll();
      }, limits.drainTimeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * Responds before the body was read: writes the whole response, drains the body for a limited time, then
 * closes.
 */
function refuse(exchange: Exchange, error: ClientError, { status, headers, body }: HttpResponse): void {
  const { incoming, outgoing } = exchange;
  const bytes = Buffer.byteLength(body);
  const unread = exchange.isArriving && declaredLength(incoming) !== 0;
  if (unread) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(status, { ...hardenedHeaders(headers), 'content-length': bytes });
  exchange.leaves(bytes);
  if (!unread || exchange.isInterrupted || error instanceof BrokenRequestError) {
    outgoing.end(body);
    return;
  }
  // The declared length completes the response for the client. Ending it here would close the socket.
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
    left -= chunk.length + DRAIN_CHUNK_BYTES;
    if (left < 0 || performance.now() > latestMs) incoming.destroy();
  });
  incoming.once('end', finish).once('close', finish);
  incoming.resume();
}

/** Creates IDs that are practically unique across processes, and cheap: a random prefix and a counter. */
function createIds(): () => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}

/** Splits a request target, which may be a whole URL, into path and query. Node accepts only ASCII. */
function splitTarget(target: string): { path: string; rawQuery: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = local.indexOf('?');
  if (mark === -1) return { path: local || '/', rawQuery: '' };
  return { path: local.slice(0, mark) || '/', rawQuery: local.slice(mark + 1) };
}
