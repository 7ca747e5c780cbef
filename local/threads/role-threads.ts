/**
 * The threads of all roles, seen from the front thread: it gives them requests, passes on what they tell each other, and answers what
 * must be in one place.
 */
import type { Target } from '../../shared/admin/targets.ts';
import type { TailLog } from '../../shared/catalog/tail-log.ts';
import type { HttpContext } from '../../shared/http/context.ts';
import { showUsage } from '../../shared/http/handlers/usage.ts';
import type { Request, Response } from '../../shared/http/message.ts';
import type { Route } from '../../shared/http/routes.ts';
import { tenantsKey } from '../../shared/http/tenant.ts';
import { kernelModule } from '../../shared/kernels/kernels.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { TailRequest } from '../../shared/tail/tail-service.ts';
import { FrontHub, type HubParts } from './front-hub.ts';
import type { FrontTell, PlainRequest, RoleAnswer, RoleCall, RoleData, RoleTell } from './role-messages.ts';
import { RolePool } from './role-pool.ts';
import { type Role, roleOf, rolesOf, threadsOf } from './roles.ts';
import { freeLost, sharedCounters } from './shared-bytes.ts';
import { TailRelay } from './tail-relay.ts';
import { TenantCount } from './tenant-count.ts';
import { ThreadClient, type ThreadOptions } from './thread-client.ts';
import { threadEntry } from './thread-entry.ts';
import { lostOf, ThreadLostError } from './thread-errors.ts';
import { ThreadFigures } from './thread-figures.ts';
import { TryAgain } from './try-again.ts';
import { within } from './within.ts';

export interface RoleThreadsParts
  extends Pick<RoleData, 'config' | 'storage' | 'isAlone' | 'isDiskFull' | 'readOnly'>,
    Omit<HubParts, 'pass' | 'task' | 'onCommitted'> {
  readonly target: Target;
  readonly tailLog: TailLog;
  readonly clock: Clock;
  /** The thread that serves live tails was lost: they are to be closed, so that clients come back. */
  readonly endTails: () => void;
  /** See Storage: called before a thread starts. */
  readonly startTableThread?: (() => void) | undefined;
  /** Cores of the machine; default: what the system says. */
  readonly cores?: number | undefined;
  /** For tests in which threads fail. */
  readonly replaced?: ReplacedThreads | undefined;
  /** Debug lines of threads are wanted in the log, until `setDebug` says otherwise. */
  readonly isDebug: boolean;
}

/** Another file for the threads of the roles, which may have a smaller heap and react faster to one that hangs. */
export type ReplacedThreads = Pick<ThreadOptions, 'entry' | 'maxHeapMb' | 'times'>;

type RoleThread = ThreadClient<RoleCall, RoleAnswer>;

/** Heap of a thread, MiB: labels and texts of pushes; series and entries of queries; footers of merges. */
const HEAP_MB: Readonly<Record<Role, number>> = { ingest: 512, query: 1024, upkeep: 1024 };

/** For threads to write down what they counted: one that is at a long step does so with its next minute. */
const USAGE_MS = 2_000;

export class RoleThreads {
  readonly #parts: RoleThreadsParts;
  readonly #pools = new Map<Role, RolePool<RoleThread>>();
  readonly #relay: TailRelay;
  readonly #figures = new ThreadFigures();
  /** A request waits for tasks: each kind has a queue of its own. */
  readonly #requests = new TryAgain();
  readonly #tasks = new TryAgain();
  readonly #running = new TenantCount();
  #isDebug: boolean;
  #isDiskFull: boolean;
  #isStopped = false;

  constructor(parts: RoleThreadsParts) {
    this.#parts = parts;
    this.#isDebug = parts.isDebug;
    this.#isDiskFull = parts.isDiskFull;
    this.#relay = new TailRelay({ ...parts, send: call => this.#tailThread.call(call) });
    for (const role of rolesOf(parts.target)) this.#pools.set(role, this.#poolOf(role));
  }

  /**
   * Starts a thread of each role that has work without any request. Others start with their first request: each takes 15 MB, and a
   * store that nobody uses has none. Resolves when they are ready; rejects if one cannot be.
   */
  async start(working: ReadonlySet<Role>): Promise<void> {
    for (const [role, pool] of this.#pools) if (working.has(role)) pool.at(0);
    await Promise.all([...this.#pools.values()].map(pool => pool.ready()));
  }

  /** For metrics. */
  get threads(): readonly RoleThread[] {
    return [...this.#pools.values()].flatMap(pool => pool.threads);
  }

  /** Pushes that are decoded and written at once, for admission: each waits for a disk or a store most of its time. */
  get pushSlots(): number {
    const PER_THREAD = 64;
    return PER_THREAD * threadsOf('ingest', this.#parts.cores);
  }

  /** The route, answered by the thread of its role; what all threads count is answered when they have written it down. */
  served(route: Route<HttpContext>): Route<HttpContext> {
    const role = roleOf(route);
    if (role === undefined) {
      if (route.handler !== showUsage) return route;
      return {
        ...route,
        handler: async (context, request) => {
          await this.writeUsage();
          return showUsage(context, request);
        },
      };
    }
    return {
      ...route,
      handler: (context, request) => {
        if (role === 'ingest') context.shutdown.refusePushes();
        const answer = this.#request(role, route, request);
        if (route.cost === 'query') return answer;
        // What was stored is to be kept in shape. Behind the request, which does not wait for another thread to start.
        return answer.finally(() => this.#startUpkeep());
      },
    };
  }

  /** What all threads counted, to be added up. Resolves in bounded time, as all that follows. */
  metricsTexts(): Promise<string[]> {
    return this.#figures.texts(
      this.threads.map(thread => ({
        name: thread.name,
        starts: thread.starts,
        text: async () => (await thread.call({ kind: 'metrics' })).text!,
      })),
    );
  }

  /** Resolves when all threads have written down what they counted. */
  async writeUsage(): Promise<void> {
    await Promise.all(this.threads.map(thread => within(USAGE_MS, thread.call({ kind: 'write-usage' }))));
  }

  kick(job: string): void {
    this.#pass({ kind: 'kick', job });
  }

  setDebug(isDebug: boolean): void {
    this.#isDebug = isDebug;
    for (const thread of this.threads) thread.tell({ kind: 'log-level', isDebug } satisfies FrontTell);
  }

  /** Jobs that take space wait as long as the disk has none. */
  setDiskFull(isFull: boolean): void {
    this.#isDiskFull = isFull;
    for (const thread of this.threads) thread.tell({ kind: 'disk', isFull } satisfies FrontTell);
  }

  /** Resolves to why the tail cannot be served, or undefined. */
  async openTail(request: TailRequest, connectionId: string): Promise<string | undefined> {
    // From now on the tail hears of commits; what was committed before, it reads.
    this.#relay.open(request.tenant, connectionId);
    return (await this.#tailThread.call({ kind: 'open-tail', request, connectionId })).text;
  }

  async closeTail(tenant: string, connectionId: string): Promise<void> {
    this.#relay.close(tenant, connectionId);
    await this.#tailThread.call({ kind: 'close-tail', connectionId, tenant });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    // What they ask while they end is answered: the table is closed after them.
    await Promise.all([...this.#pools.values()].map(pool => pool.stop()));
  }

  #startUpkeep(): void {
    if (!this.#isStopped) this.#pools.get('upkeep')?.at(0);
  }

  get #tailThread(): RoleThread {
    return this.#pools.get('query')!.at(0);
  }

  #poolOf(role: Role): RolePool<RoleThread> {
    const { config, storage, isAlone, log, cores } = this.#parts;
    const { queryWorkers } = config.logboom;
    const threads = role === 'query' && queryWorkers > 0 ? queryWorkers : threadsOf(role, cores);
    // The spare thread, too.
    const queryMemory =
      role === 'query' ? sharedCounters(config.logboom.queryMemoryBytes, threads + 1) : undefined;
    const start = (index: number) => {
      this.#parts.startTableThread?.();
      const data = (): RoleData => ({
        role,
        index,
        threads,
        queryMemory,
        config,
        storage,
        isAlone,
        isDebug: this.#isDebug,
        isDiskFull: this.#isDiskFull,
        readOnly: this.#parts.readOnly,
        kernels: kernelModule(),
      });
      const name = `${role}-${index}`;
      const hub = new FrontHub({
        ...this.#parts,
        onCommitted: role === 'ingest' && isAlone ? writes => this.#relay.committed(writes) : undefined,
        pass: told => this.#pass(told),
        task: (affinity, task, signal) => this.#task(affinity % threads, task, signal),
      });
      return new ThreadClient<RoleCall, RoleAnswer>({
        name,
        entry: threadEntry('role-thread'),
        data,
        maxHeapMb: HEAP_MB[role],
        ...this.#parts.replaced,
        hub,
        onReady: () => log.debug({ thread: name }, 'a thread is ready'),
        onLost: error => {
          if (queryMemory !== undefined) freeLost(queryMemory, index);
          log.error({ err: error, thread: name }, 'a thread ended and is started again');
          if (role === 'query' && index === 0) this.#parts.endTails();
        },
      });
    };
    return new RolePool<RoleThread>(threads, start, { hasSpare: role === 'query' });
  }

  async #request(
    role: Role,
    { cost }: Pick<Route<never>, 'cost'>,
    { signal, ...plain }: Request,
  ): Promise<Response> {
    const call: RoleCall = { kind: 'request', request: plain satisfies PlainRequest };
    const pool = this.#pools.get(role)!;
    if (cost === 'query') {
      return this.#running.count(tenantsKey(plain.headers, this.#parts.config), running =>
        this.#requests.run(async () => (await pool.pick(running()).call(call, { signal })).response!, signal),
      );
    }
    const ask = async () => (await pool.pick().call(call, { signal })).response!;
    // What writes is the client's to repeat: it may be done. A push could not be tried again, as it is decoded in its own body.
    return ask().catch((error: unknown) => {
      throw error instanceof ThreadLostError ? lostOf(error) : error;
    });
  }

  #task(index: number, task: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const thread = this.#pools.get('query')!.at(index);
    return this.#tasks.run(
      async () => (await thread.call({ kind: 'task', task }, { signal })).bytes!,
      signal,
    );
  }

  #pass(told: Exclude<RoleTell, { kind: 'log' | 'defect' }>): void {
    switch (told.kind) {
      case 'committed':
        this.#relay.logged(told.chunks);
        return;
      case 'forget':
        for (const thread of this.#pools.get('ingest')?.threads ?? []) thread.tell(told satisfies FrontTell);
        return;
      case 'pack':
        this.#pools
          .get('upkeep')
          ?.at(0)
          .tell(told satisfies FrontTell);
        return;
      case 'kick': {
        const pool = this.#pools.get(told.job === 'rules' ? 'query' : 'upkeep');
        pool?.at(0).tell(told satisfies FrontTell);
      }
    }
  }
}
