/** Sockets of live tails on one machine. A query thread serves the tails (threads/tail-thread.ts). */
import type { Server } from 'node:http';
import type { Ids } from '../shared/base/ports/clock.ts';
import type { ServerLog } from '../shared/base/runtime/log.ts';
import type { Config } from '../shared/server/admin/config-fields.ts';
import { addOpenTails } from '../shared/server/admin/metrics/tail-metrics.ts';
import { SOCKET_FRAMES } from '../shared/server/http/assemble-tail.ts';
import type { HttpContext } from '../shared/server/http/context.ts';
import type { RoleThreads } from './threads/role-threads.ts';
import { startTailSockets, TRY_AGAIN_LATER } from './websocket.ts';
import { type SocketConnections, socketConnections } from './websocket-connections.ts';

interface LocalTailsOptions {
  readonly context: HttpContext;
  /** Configuration of this front. */
  readonly config: Config;
  readonly ids: Ids;
  readonly log: ServerLog;
  readonly threads: () => Pick<RoleThreads, 'openTail' | 'closeTail'>;
}

export interface LocalTails {
  readonly connections: SocketConnections;
  /** Accepts the WebSockets of a server. */
  serve(server: Server): void;
  /** Closes all tails after their thread was lost. Clients reconnect. */
  endAll(): void;
  stop(): Promise<void>;
}

export function startLocalTails({ context, config, ids, log, threads }: LocalTailsOptions): LocalTails {
  const { access, clock } = context;
  const connections = socketConnections(clock, SOCKET_FRAMES.maxBytes);
  addOpenTails(context.metrics.registry, () => connections.size);
  const stops: (() => Promise<void>)[] = [];
  return {
    connections,
    serve(server) {
      const tails = {
        open: threads().openTail.bind(threads()),
        close: threads().closeTail.bind(threads()),
      };
      stops.push(startTailSockets({ server, connections, tails, config, access, clock, ids, log }).stop);
    },
    endAll: () => endAllTails(connections, log),
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

/** Closes the tails with a code that makes clients reconnect. */
export function endAllTails(connections: SocketConnections, log: Pick<ServerLog, 'warn'>): void {
  const reason = 'the server closed the tail after an error; reconnect';
  for (const [id] of connections.entries()) {
    connections
      .close(id, { code: TRY_AGAIN_LATER, reason })
      .catch((error: unknown) => log.warn({ err: error }, 'closing a tail failed'));
  }
}
