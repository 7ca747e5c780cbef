/**
 * Further front threads, managed by the first one. Each listens on the same port, receives bodies, and feeds
 * its own ingest threads (front-thread.ts). The first front provides commits, rate limits, and responses to
 * all requests except pushes. Sockets of live tails stay with the front that accepted them.
 */

import type { ConnectionInfo, Connections, PostOutcome } from '../../shared/base/ports/connections.ts';
import type { TailRequest } from '../../shared/read/tail/tail-service.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import type { FrontAnswer, FrontAsk, FrontCall, FrontData, ToldFront } from './front-messages.ts';
import { type Moved, ownBytes } from './messages.ts';
import { ThreadClient, type ThreadHub } from './thread-client.ts';
import { type ThreadEntry, threadEntry } from './thread-entry.ts';
import type { CountingThread } from './thread-figures.ts';
import type { ThreadLog } from './thread-log.ts';
import { within } from './within.ts';

export interface FrontsParts {
  /** Start data of a front, created at each start. */
  readonly data: (index: number) => FrontData;
  /** Handles requests of ingest threads. */
  readonly hub: ThreadHub;
  /** Handles a request that is not a push. Never throws. */
  readonly answer: (request: HttpRequest) => Promise<HttpResponse>;
  /** See RoleThreads. */
  readonly openTail: (request: TailRequest, connectionId: string) => Promise<string | undefined>;
  readonly closeTail: (tenant: string, connectionId: string) => Promise<void>;
  /** Called when a front ended unexpectedly with its ingest threads. It is restarted. Must not throw. */
  readonly onLost: (index: number) => void;
  readonly log: Pick<ThreadLog, 'debug' | 'warn' | 'error'>;
  /** Time for running requests to complete at a stop. */
  readonly drainMs: number;
  /** File of the threads, for tests. Default: the one next to this module. */
  readonly entry?: ThreadEntry;
}

type FrontThread = ThreadClient<FrontCall, FrontAnswer>;

/** JavaScript heap in MiB, for waiting requests and their headers. */
const HEAP_MB = 512;
/** Time for ingest threads to end after the requests. */
const STOP_MS = 10_000;
/** See RoleThreads. */
const USAGE_MS = 2_000;

export class Fronts {
  readonly #parts: FrontsParts;
  readonly #threads: FrontThread[] = [];
  /** Live tails of their sockets, by connection. The fronts limit their number. */
  readonly #tails = new Map<string, { readonly front: FrontThread; readonly tenant: string }>();

  constructor(parts: FrontsParts) {
    this.#parts = parts;
  }

  get threads(): readonly FrontThread[] {
    return this.#threads;
  }

  /** Threads with metrics. Each also reports its ingest threads. */
  get counting(): readonly CountingThread[] {
    return this.#threads.map(thread => ({
      name: thread.name,
      starts: thread.starts,
      text: async () => (await thread.call({ kind: 'metrics' })).text!,
    }));
  }

  /** Resolves when `count` fronts listen. Rejects if one cannot. */
  async start(count: number): Promise<void> {
    while (this.#threads.length < count) this.#threads.push(this.#thread(this.#threads.length + 1));
    await Promise.all(this.#threads.map(thread => thread.ready()));
  }

  /** Stops accepting, and completes running requests. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map(thread => thread.stop()));
  }

  tell(told: ToldFront): void {
    for (const thread of this.#threads) thread.tell(told);
  }

  async writeUsage(): Promise<void> {
    await Promise.all(this.#threads.map(thread => within(USAGE_MS, thread.call({ kind: 'write-usage' }))));
  }

  /** Ends all tails after their thread was lost. */
  endTails(): void {
    for (const thread of this.#threads) thread.call({ kind: 'end-tails' }).catch(() => undefined);
  }

  /** All sockets of the process. Sockets that belong to no other front are `own`. */
  connectionsWith(own: Connections): Connections {
    const frontOf = (connectionId: string) => this.#tails.get(connectionId)?.front;
    return {
      async post(connectionId, message): Promise<PostOutcome> {
        const front = frontOf(connectionId);
        if (front === undefined) return own.post(connectionId, message);
        // The sockets of a lost front are closed.
        const gone = (): FrontAnswer => ({ outcome: 'gone' });
        return (await front.call({ kind: 'post', connectionId, message }).catch(gone)).outcome!;
      },
      async get(connectionId): Promise<ConnectionInfo | undefined> {
        const front = frontOf(connectionId);
        if (front === undefined) return own.get(connectionId);
        const nothing = (): FrontAnswer => ({});
        return (await front.call({ kind: 'connection', connectionId }).catch(nothing)).info;
      },
      async close(connectionId, options) {
        const front = frontOf(connectionId);
        if (front === undefined) return own.close(connectionId, options);
        await front.call({ kind: 'close', connectionId, options }).catch(() => undefined);
      },
    };
  }

  #thread(index: number): FrontThread {
    const { data, onLost, log, drainMs, entry = threadEntry('front-thread') } = this.#parts;
    const name = `front-${index}`;
    const thread: FrontThread = new ThreadClient<FrontCall, FrontAnswer>({
      name,
      entry,
      data: () => data(index),
      maxHeapMb: HEAP_MB,
      times: { stopMs: drainMs + STOP_MS },
      hub: {
        reply: (ask, signal) => this.#reply(thread, ask as FrontAsk, signal),
        hear: tell => this.#parts.hub.hear(tell),
      },
      onReady: () => log.debug({ thread: name }, 'thread ready'),
      onLost: error => {
        log.error({ err: error, thread: name }, 'thread ended; restarting it');
        onLost(index);
        this.#forgetTailsOf(thread);
      },
    });
    return thread;
  }

  async #reply(front: FrontThread, ask: FrontAsk, signal: AbortSignal): Promise<Moved<unknown>> {
    const { hub, answer, openTail, closeTail } = this.#parts;
    switch (ask.kind) {
      case 'request': {
        const response = await answer({ ...ask.request, signal });
        const { body } = response;
        if (typeof body === 'string' || response.isBodyShared) return { value: response };
        const bytes = ownBytes(body);
        return { value: { ...response, body: bytes }, moved: [bytes.buffer] };
      }
      case 'open-tail':
        this.#tails.set(ask.connectionId, { front, tenant: ask.request.tenant });
        return { value: await openTail(ask.request, ask.connectionId) };
      case 'close-tail':
        this.#tails.delete(ask.connectionId);
        await closeTail(ask.tenant, ask.connectionId);
        return { value: undefined };
      default:
        return hub.reply(ask, signal);
    }
  }

  #forgetTailsOf(lost: FrontThread): void {
    const { closeTail, log } = this.#parts;
    for (const [connectionId, { front, tenant }] of this.#tails) {
      if (front !== lost) continue;
      this.#tails.delete(connectionId);
      closeTail(tenant, connectionId).catch((error: unknown) =>
        log.warn({ err: error }, 'recording the end of a tail failed'),
      );
    }
  }
}
