/** Live tails of one machine: what holds their sockets, opens them and serves them. */
import type { Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import { addOpenTails } from '../shared/admin/metrics/tail-metrics.ts';
import { KNOWN_MS } from '../shared/catalog/tail-log.ts';
import { assembleTails, ONLY_OWNER, ownerOfProcess, SOCKET_FRAMES } from '../shared/http/assemble-tail.ts';
import type { HttpContext } from '../shared/http/context.ts';
import type { Ids } from '../shared/ports/clock.ts';
import { TailServer } from '../shared/tail/tail-server.ts';
import type { Log } from './log.ts';
import { startTailSockets } from './websocket.ts';
import { type SocketConnections, socketConnections } from './websocket-connections.ts';

export interface LocalTailsOptions {
  readonly context: HttpContext;
  readonly ids: Ids;
  readonly log: Log;
  /** Other processes push into the same store. */
  readonly isShared: boolean;
}

export interface LocalTails {
  readonly connections: SocketConnections;
  /** Takes the sockets of a server. */
  serve(server: Server): void;
  stop(): Promise<void>;
}

/** Commits of this process are told at once; those of others are looked for as often. */
const SHARED_POLL_MS = 500;
/** Where there are no others: only what is to be renewed. */
const OWN_POLL_MS = 5_000;
/** Clocks run at slightly different speeds. */
const SHARED_JOIN_MS = KNOWN_MS * 1.25;

/** Tells how much of the time since the last call the thread's event loop has worked. */
function busyShareOfThread(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

export function startLocalTails({ context, ids, log, isShared }: LocalTailsOptions): LocalTails {
  const { access, clock, config } = context;
  const connections = socketConnections(clock, SOCKET_FRAMES.maxBytes);
  addOpenTails(context.metrics.registry, () => connections.size);
  const { service, parts } = assembleTails(context, {
    connections,
    owner: isShared ? ownerOfProcess(ids) : ONLY_OWNER,
    frames: SOCKET_FRAMES,
    log,
    joinMs: isShared ? SHARED_JOIN_MS : 0,
    savesCursor: false,
    hearsAll: !isShared,
  });
  const tails = new TailServer({
    ...parts,
    pollMs: isShared ? SHARED_POLL_MS : OWN_POLL_MS,
    busyShare: busyShareOfThread(),
  });
  const stops: (() => Promise<void>)[] = [];
  return {
    connections,
    serve(server) {
      stops.push(
        startTailSockets({ server, connections, service, tails, config, access, clock, ids, log }).stop,
      );
    },
    async stop() {
      for (const stop of stops) await stop();
      await tails.stop();
    },
  };
}
