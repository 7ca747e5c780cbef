/**
 * Connections in memory, for tests to post to and inspect. A connection can be slow, gone, or limited in
 * message size.
 */
import type { Clock } from '../clock.ts';
import type { CloseOptions, ConnectionInfo, Connections, PostOutcome } from '../connections.ts';

export interface MemoryConnection {
  readonly messages: string[];
  closed: CloseOptions | undefined;
  /** Promise to await before a message is accepted; simulates a slow client. */
  gate: Promise<void> | undefined;
}

export interface MemoryConnections extends Connections {
  open(connectionId: string): MemoryConnection;
  /** Disconnects the client. */
  leave(connectionId: string): void;
}

interface MemoryConnectionsOptions {
  readonly clock: Clock;
  /** Maximum message size, bytes. Default: no limit. */
  readonly maxMessageBytes?: number;
}

export function memoryConnections({
  clock,
  maxMessageBytes = Infinity,
}: MemoryConnectionsOptions): MemoryConnections {
  const open = new Map<string, MemoryConnection & { connectedMs: number; lastActiveMs: number }>();
  return {
    open(connectionId) {
      const nowMs = clock.nowMs();
      const connection = {
        messages: [],
        closed: undefined,
        gate: undefined,
        connectedMs: nowMs,
        lastActiveMs: nowMs,
      };
      open.set(connectionId, connection);
      return connection;
    },

    leave(connectionId) {
      open.delete(connectionId);
    },

    async post(connectionId, message): Promise<PostOutcome> {
      await open.get(connectionId)?.gate;
      const connection = open.get(connectionId);
      if (connection === undefined) return 'gone';
      if (message.byteLength > maxMessageBytes) return 'too large';
      connection.messages.push(Buffer.from(message).toString());
      connection.lastActiveMs = clock.nowMs();
      return 'ok';
    },

    async get(connectionId): Promise<ConnectionInfo | undefined> {
      const connection = open.get(connectionId);
      if (connection === undefined) return undefined;
      const { connectedMs, lastActiveMs } = connection;
      return { connectedMs, lastActiveMs };
    },

    async close(connectionId, options) {
      const connection = open.get(connectionId);
      if (connection === undefined) return;
      connection.closed = options;
      open.delete(connectionId);
    },
  };
}
