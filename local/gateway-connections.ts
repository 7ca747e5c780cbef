/**
 * The connections of the gateway, and what ends them: nobody holds one longer than a request may take to arrive, a response to be
 * taken, or the next request to begin.
 *
 *  - Node times heads, bodies and idleness and reports what is no HTTP. A request whose body that breaks is the one that gets the
 *    error; requests before it on the same connection are answered first; otherwise the error is written as it is.
 *  - A sweep ends what is open beyond these times all the same.
 *  - When there are too many connections, those without a complete request are closed for newcomers, first of the address that has
 *    most of them.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addressKey } from './address-key.ts';
import { type BrokenRequestError, brokenBy, sayLast } from './gateway-broken.ts';
import type { Exchange } from './gateway-exchange.ts';
import { oldestOfHeaviest } from './oldest-of-heaviest.ts';
import { timerWhile } from './timer-while.ts';

export interface ConnectionTimes {
  /** For a whole request to arrive. */
  readonly readTimeoutMs: number;
  /** For a response to make progress. */
  readonly writeTimeoutMs: number;
  /** For the next request of a connection to begin. */
  readonly idleTimeoutMs: number;
}

export interface Connections {
  /**
   * A request has begun; the function that it returns says that it is answered. `onGone` is called where the
   * connection closes before: node tells only the first of several waiting responses.
   */
  begin(exchange: Exchange, onGone: () => void): () => void;
  /** Exchanges that are open on the connection of this one. */
  openBeside(exchange: Exchange): number;
  /** Those that never sent a byte: node does not count them as idle. */
  destroyUnused(): void;
  destroyAll(): void;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Requests that have begun and are not answered, and what to call when the connection is gone. */
  readonly open: Map<Exchange, () => void>;
  /** When it was opened, or its last request was answered. */
  sinceMs: number;
  /** Bytes that were read by then. */
  readBytes: number;
  /** Handed over to whoever serves WebSockets. */
  isUpgraded: boolean;
  /** To be written when the open requests are answered. */
  broken?: BrokenRequestError;
}

export const MAX_CONNECTIONS = 10_000;
/** The rest of the open files of a process is for its data. */
const SHARE_OF_FILES = 0.5;
/** Closed together when there are too many, so that choosing them costs little for each. */
const CLOSED_AT_ONCE = 0.01;
/** Heads that are not complete may take so much memory together. A thousand of 64 KB, which no usual client sends. */
const MAX_HEAD_BYTES = 64 * 1024 * 1024;
const SWEEP_MS = 250;
/** The sweep comes behind node's own timers, which look once a second. */
const SWEEP_SLACK_MS = 2_500;

/** How many connections the gateway holds: fewer where the system lets the process open few files. */
export function maxConnections(): number {
  const limit = openFileLimit();
  return limit === undefined
    ? MAX_CONNECTIONS
    : Math.min(MAX_CONNECTIONS, Math.floor(limit * SHARE_OF_FILES));
}

/** Undefined where the system does not say. Node has raised it as far as it may. */
function openFileLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}

/** Listens on the server, which from now on never closes a connection without a word or ends the process. */
export function watchConnections(server: Server, times: ConnectionTimes, most: number): Connections {
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
    else if (connection.broken === undefined) breakOff(connection, brokenBy(error));
  });
  // Node asks only after the time without progress that was set for the socket: between requests, or while one is written.
  server.on('timeout', (socket: Socket) => {
    const first = connections.get(socket)?.open.keys().next().value;
    if (first === undefined || first.isLeaving) socket.destroy();
    // The response before it was large; this one is still being made.
    else socket.setTimeout(0);
  });
  server.once('close', () => sweeping.stop());

  function forget(connection: Connection): void {
    connections.delete(connection.socket);
    for (const onGone of [...connection.open.values()]) onGone();
  }

  function breakOff(connection: Connection, broken: BrokenRequestError): void {
    connection.broken = broken;
    if (connection.open.size === 0) {
      sayLast(connection.socket, broken);
      return;
    }
    const last = [...connection.open.keys()].at(-1)!;
    if (last.isArriving) last.interrupt(broken);
  }

  /** False if every connection has a complete request under way. */
  function closeSome(): boolean {
    const waiting = [...connections.values()].filter(
      ({ open, isUpgraded }) => !isUpgraded && [...open.keys()].every(({ isUpToClient }) => isUpToClient),
    );
    const chosen = oldestOfHeaviest(waiting, Math.max(1, Math.floor(most * CLOSED_AT_ONCE)));
    for (const connection of chosen) {
      connection.socket.destroy();
      // Its close event comes later.
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
        if (connection.broken !== undefined) sayLast(connection.socket, connection.broken);
      };
    },
    openBeside: ({ incoming }) => connections.get(incoming.socket)?.open.size ?? 0,
    destroyUnused() {
      for (const { socket } of connections.values()) if (socket.bytesRead === 0) socket.destroy();
    },
    destroyAll() {
      for (const { socket } of connections.values()) socket.destroy();
    },
  };
}
