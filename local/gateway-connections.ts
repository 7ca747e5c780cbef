/**
 * Connections of the gateway, with time limits: for a request to arrive, for a response to be read, and for
 * the next request to start.
 *
 * - Node measures the times of heads, bodies and idleness, and reports data that is not HTTP. If a body is
 * broken, its
 *    request gets the error, and earlier requests on the connection are answered first. Otherwise the error is
 *    written directly.
 * - A sweep ends connections that exceed these times anyway. - At the connection limit, connections without a
 * complete request are closed for new ones, starting with the
 *    oldest of the address that has the most.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addressKey } from './address-key.ts';
import { type BrokenRequestError, brokenBy, writeFinalError } from './gateway-broken.ts';
import type { Exchange } from './gateway-exchange.ts';
import { oldestOfHeaviest } from './oldest-of-heaviest.ts';
import { timerWhile } from './timer-while.ts';

export interface ConnectionTimes {
  /** Time for a whole request to arrive. */
  readonly readTimeoutMs: number;
  /** Time for a response to make progress. */
  readonly writeTimeoutMs: number;
  /** Time for the next request of a connection to start. */
  readonly idleTimeoutMs: number;
}

export interface GatewayConnections {
  /**
   * Registers a request. Call the returned function after the response. `onGone` is called if the connection
   * closes first, because Node notifies only the first of several pending responses.
   */
  begin(exchange: Exchange, onGone: () => void): () => void;
  /** Number of open exchanges on the connection of this exchange. */
  openOnConnection(exchange: Exchange): number;
  /** Closes connections that never sent a byte. Node does not count them as idle. */
  destroyUnused(): void;
  destroyAll(): void;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Open requests, each with the callback for a closed connection. */
  readonly open: Map<Exchange, () => void>;
  /** Time when it was opened or its last request was answered. */
  sinceMs: number;
  /** Bytes read until that time. */
  readBytes: number;
  /** True after the handover to the WebSocket server. */
  isUpgraded: boolean;
  /** Error to write after the open requests are answered. */
  broken?: BrokenRequestError;
}

export const MAX_CONNECTIONS = 10_000;
/** The data of the process uses the other open files. */
const SHARE_OF_FILES = 0.5;
/** Share of connections that are closed at a time, so that selecting them costs little per connection. */
const CLOSED_AT_ONCE = 0.01;
/**
 * Limit for the memory of all incomplete heads. It allows 1,000 heads of 64 KB, which no usual client sends.
 */
const MAX_HEAD_BYTES = 64 * 1024 * 1024;
const SWEEP_MS = 250;
/** The sweep runs later than Node's own timers, which check once a second. */
const SWEEP_SLACK_MS = 2_500;

/** Maximum number of connections. Lower if the limit of open files is low. */
export function maxConnections(): number {
  const limit = openFileLimit();
  return limit === undefined
    ? MAX_CONNECTIONS
    : Math.min(MAX_CONNECTIONS, Math.floor(limit * SHARE_OF_FILES));
}

/** `undefined` if the system does not report it. Node has already raised the limit to its maximum. */
function openFileLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}

/**
 * Attaches to the server. Afterwards connections are not closed silently, and their errors do not end the
 * process.
 */
export function watchConnections(server: Server, times: ConnectionTimes, most: number): GatewayConnections {
  const connections = new Map<Duplex, Connection>();
  const { readTimeoutMs, writeTimeoutMs, idleTimeoutMs } = times;
  const longestWaitMs = Math.max(readTimeoutMs, idleTimeoutMs) + SWEEP_SLACK_MS;
  const sweeping = timerWhile(() => connections.size > 0, sweep, Math.min(SWEEP_MS, readTimeoutMs));

  server.on('connection', (socket: Socket) => {
    if (connections.size >= most && !closeSome()) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      address: addressKey(socket.remoteAddress),
      open: new Map(),
      sinceMs: performance.now(),
      readBytes: 0,
      isUpgraded: false,
    };
    connections.set(socket, connection);
    sweeping.start();
    socket.once('close', () => forget(connection));
    socket.on('error', () => {});
  });
  server.on('upgrade', ({ socket }) => {
    const connection = connections.get(socket);
    if (connection !== undefined) connection.isUpgraded = true;
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const connection = connections.get(socket);
    if (connection === undefined || !socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else if (connection.broken === undefined) failConnection(connection, brokenBy(error));
  });
  // Node fires this after the timeout set for the socket without progress: between requests, or during a
  // write.
  server.on('timeout', (socket: Socket) => {
    const first = connections.get(socket)?.open.keys().next().value;
    if (first === undefined || first.isLeaving) socket.destroy();
    // The timeout belongs to an earlier large response. The current response is not complete yet.
    else socket.setTimeout(0);
  });
  server.once('close', () => sweeping.stop());

  function forget(connection: Connection): void {
    connections.delete(connection.socket);
    for (const onGone of [...connection.open.values()]) onGone();
  }

  function failConnection(connection: Connection, broken: BrokenRequestError): void {
    connection.broken = broken;
    if (connection.open.size === 0) {
      writeFinalError(connection.socket, broken);
      return;
    }
    const last = [...connection.open.keys()].at(-1)!;
    if (last.isArriving) last.interrupt(broken);
  }

  /** Returns false if every connection has a complete request in progress. */
  function closeSome(): boolean {
    const waiting = [...connections.values()].filter(
      ({ open, isUpgraded }) => !isUpgraded && [...open.keys()].every(({ isUpToClient }) => isUpToClient),
    );
    const chosen = oldestOfHeaviest(waiting, Math.max(1, Math.floor(most * CLOSED_AT_ONCE)));
    for (const connection of chosen) {
      connection.socket.destroy();
      // Removed now, because the close event comes later.
      forget(connection);
    }
    return chosen.length > 0;
  }

  function sweep(): void {
    const nowMs = performance.now();
    const heads: { readonly socket: Socket; readonly bytes: number }[] = [];
    let headBytes = 0;
    for (const { socket, open, sinceMs, readBytes, isUpgraded } of connections.values()) {
      if (isUpgraded) continue;
      if (open.size === 0) {
        const bytes = socket.bytesRead - readBytes;
        headBytes += bytes;
        if (bytes > 0) heads.push({ socket, bytes });
        if (nowMs - sinceMs > longestWaitMs) socket.destroy();
        continue;
      }
      const [first] = open.keys();
      if (first.isLeaving && socket.timeout !== writeTimeoutMs) socket.setTimeout(writeTimeoutMs);
      const last = [...open.keys()].at(-1)!;
      if (last.isArriving && nowMs - last.startedMs > readTimeoutMs + SWEEP_SLACK_MS) socket.destroy();
    }
    if (headBytes <= MAX_HEAD_BYTES) return;
    for (const { socket, bytes } of heads.sort((a, b) => b.bytes - a.bytes)) {
      socket.destroy();
      headBytes -= bytes;
      if (headBytes <= MAX_HEAD_BYTES / 2) return;
    }
  }

  return {
    begin(exchange, onGone) {
      const connection = connections.get(exchange.incoming.socket);
      if (connection === undefined) {
        queueMicrotask(onGone);
        return () => {};
      }
      connection.open.set(exchange, onGone);
      return () => {
        const isLast = connection.open.delete(exchange) && connection.open.size === 0;
        if (!isLast) return;
        connection.sinceMs = performance.now();
        connection.readBytes = connection.socket.bytesRead;
        if (connection.broken !== undefined) writeFinalError(connection.socket, connection.broken);
      };
    },
    openOnConnection: ({ incoming }) => connections.get(incoming.socket)?.open.size ?? 0,
    destroyUnused() {
      for (const { socket } of connections.values()) if (socket.bytesRead === 0) socket.destroy();
    },
    destroyAll() {
      for (const { socket } of connections.values()) socket.destroy();
    },
  };
}
