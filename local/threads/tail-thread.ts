/**
 * Live tails in a query thread: standing queries over committed chunks. The front thread holds the sockets.
 * This thread posts through it, like functions post through API Gateway.
 */

import { SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { TailServer } from '../../shared/read/tail/tail-server.ts';
import type { TailRequest, TailService } from '../../shared/read/tail/tail-service.ts';
import {
  assembleTails,
  ONLY_OWNER,
  ownerOfProcess,
  SOCKET_FRAMES,
} from '../../shared/server/http/assemble-tail.ts';
import type { HttpContext } from '../../shared/server/http/context.ts';
import { decodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { MARKER_KNOWN_MS } from '../../shared/storage/catalog/tail-log.ts';
import { remoteConnections } from './remote-connections.ts';
import type { CommittedChunk, RoleAsk } from './role-messages.ts';
import type { ThreadReaders } from './shared-readers.ts';
import type { ThreadLog } from './thread-log.ts';

interface TailThreadParts {
  readonly context: HttpContext;
  readonly ask: (question: RoleAsk, options?: { moved?: ArrayBuffer[] }) => Promise<unknown>;
  readonly log: ThreadLog;
  /** True if no other process commits to this store. */
  readonly isAlone: boolean;
  /** A tail is a reader of objects while it is open. */
  readonly readers?: Pick<ThreadReaders, 'begin'> | undefined;
}

/** Interval for reading commits of other processes. */
const SHARED_POLL_MS = 500;
/** Interval without other processes, only for renewals. */
const OWN_POLL_MS = 5_000;
/** Adds 25 %, because clocks differ slightly in speed. */
const SHARED_JOIN_MS = MARKER_KNOWN_MS * 1.25;

export class TailThread {
  readonly #context: HttpContext;
  readonly #service: TailService;
  readonly #server: TailServer;
  readonly #log: ThreadLog;
  readonly #readers: TailThreadParts['readers'];
  /** Ends the reader of each open tail. */
  readonly #reading = new Map<string, () => void>();
  /** Pending relays, in commit order. */
  #relayed: Promise<void> = Promise.resolve();

  constructor({ context, ask, log, isAlone, readers }: TailThreadParts) {
    this.#readers = readers;
    const { service, parts } = assembleTails(context, {
      connections: remoteConnections(ask),
      owner: isAlone ? ONLY_OWNER : ownerOfProcess(SYSTEM_IDS),
      frames: SOCKET_FRAMES,
      log,
      joinMs: isAlone ? 0 : SHARED_JOIN_MS,
      savesCursor: false,
      hearsAll: isAlone,
    });
    this.#context = context;
    this.#service = service;
    this.#log = log;
    this.#server = new TailServer({
      ...parts,
      pollMs: isAlone ? OWN_POLL_MS : SHARED_POLL_MS,
      busyShare: busyShareOfThread(),
    });
  }

  /** Resolves to the reason why the tail cannot be served, or to `undefined`. */
  async open(request: TailRequest, connectionId: string): Promise<string | undefined> {
    const end = this.#readers?.begin();
    if (end !== undefined) this.#reading.set(connectionId, end);
    const refusal = await this.#service.open(request, connectionId);
    if (refusal === undefined) this.#server.opened(request.tenant);
    return refusal;
  }

  async close(tenant: string, connectionId: string): Promise<void> {
    this.#reading.get(connectionId)?.();
    this.#reading.delete(connectionId);
    this.#server.closed(tenant, connectionId);
    await this.#service.close(connectionId);
  }

  /** Receives commits of another thread of this process. `logged` is true if the tail log contains them. */
  async committed(chunks: readonly CommittedChunk[], logged: boolean): Promise<void> {
    const { tailLog } = this.#context.reading.catalog;
    const relay = () => {
      const told = chunks.map(({ tenant, day, stampMs, body }) => ({
        stampMs,
        record: decodeRecord(tenant, day, body),
      }));
      return tailLog.relay(told, logged);
    };
    this.#relayed = this.#relayed
      .then(relay)
      .catch((error: unknown) => this.#log.error({ err: error }, 'delivery of commits to live tails failed'));
    await this.#relayed;
  }

  /** Called if the tail log has commits of the tenant that were not relayed. */
  overflowed(tenant: string): void {
    this.#server.logged(tenant);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }
}

/** Returns a function for the busy share of this thread's event loop since the last call. */
function busyShareOfThread(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
