/**
 * The gateway's WebSockets behind the connections port. Above UNSENT_BYTES, a post resolves when the socket
 * has passed the message to the system. So a client that does not read makes posts wait, and uses only this
 * memory plus the queue of its tail.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { Clock } from '../shared/base/ports/clock.ts';
import {
  type CloseOptions,
  type ConnectionInfo,
  type Connections,
  closeReason,
  type PostOutcome,
} from '../shared/base/ports/connections.ts';

/**
 * Below this amount of unsent data, a post does not wait. Consecutive posts of a dispatch to one connection
 * then use one system call, which is most of the cost of a post.
 */
const UNSENT_BYTES = 64 * 1024;
/** Time for the client to answer a close before the socket is destroyed. */
export const CLOSE_TIMEOUT_MS = 2_000;

interface OpenSocket {
  readonly socket: WebSocket;
  /** Stream that the socket writes to. */
  readonly stream: Duplex;
  readonly connectedMs: number;
  lastActiveMs: number;
}

export interface SocketConnections extends Connections {
  readonly size: number;
  /** @param stream stream that the socket writes to */
  add(connectionId: string, socket: WebSocket, stream: Duplex): void;
  /** Records activity of the client. */
  touch(connectionId: string): void;
  remove(connectionId: string): void;
  /** IDs and sockets of open connections. */
  entries(): IterableIterator<readonly [string, WebSocket]>;
}

/** @param maxMessageBytes limit for one message to a client */
export function socketConnections(clock: Clock, maxMessageBytes: number): SocketConnections {
  const open = new Map<string, OpenSocket>();
  const isOpen = (one: OpenSocket | undefined): one is OpenSocket =>
    one?.socket.readyState === WebSocket.OPEN;
  return {
    get size() {
      return open.size;
    },

    add(connectionId, socket, stream) {
      const nowMs = clock.nowMs();
      open.set(connectionId, { socket, stream, connectedMs: nowMs, lastActiveMs: nowMs });
    },

    touch(connectionId) {
      const one = open.get(connectionId);
      if (one !== undefined) one.lastActiveMs = clock.nowMs();
    },

    remove(connectionId) {
      open.delete(connectionId);
    },

    *entries() {
      for (const [id, { socket }] of open) yield [id, socket] as const;
    },

    async post(connectionId, message): Promise<PostOutcome> {
      const one = open.get(connectionId);
      if (!isOpen(one)) return 'gone';
      if (message.byteLength > maxMessageBytes) return 'too large';
      const { socket, stream } = one;
      one.lastActiveMs = clock.nowMs();
      if (socket.bufferedAmount + message.byteLength <= UNSENT_BYTES) {
        if (stream.writableCorked === 0) {
          stream.cork();
          process.nextTick(() => stream.uncork());
        }
        socket.send(message, { binary: false });
        return 'ok';
      }
      // Compression is off, so the callback comes when the bytes have left the process or the socket has
      // closed.
      const failed = await new Promise<Error | undefined | null>(resolve =>
        socket.send(message, { binary: false }, resolve),
      );
      return failed ? 'gone' : 'ok';
    },

    async get(connectionId): Promise<ConnectionInfo | undefined> {
      const one = open.get(connectionId);
      if (!isOpen(one)) return undefined;
      const { connectedMs, lastActiveMs } = one;
      return { connectedMs, lastActiveMs };
    },

    async close(connectionId, { code, reason }: CloseOptions) {
      const one = open.get(connectionId);
      if (one === undefined) return;
      const { socket } = one;
      open.delete(connectionId);
      if (socket.readyState === WebSocket.CLOSED) return;
      socket.close(code, closeReason(reason));
      const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
      socket.once('close', () => clearTimeout(timer));
    },
  };
}
