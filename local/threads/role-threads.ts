/**
 * Threads of all roles, managed by the front thread. It gives them requests, passes messages between them,
 * and provides what must be in one thread.
 */

import { kernelModule } from '../../shared/base/kernels/kernels.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Connections } from '../../shared/base/ports/connections.ts';
import type { StorageProblem } from '../../shared/base/ports/storage-unavailable.ts';
import type { TailRequest } from '../../shared/read/tail/tail-service.ts';
import { type ProcessTarget, workOf } from '../../shared/server/admin/targets.ts';
import type { HttpContext } from '../../shared/server/http/context.ts';
import { showUsage } from '../../shared/server/http/handlers/usage.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import type { Route } from '../../shared/server/http/routes.ts';
import { tenantsKey } from '../../shared/server/http/tenant.ts';
import { releaseBatch } from '../../shared/storage/catalog/fresh-chunks.ts';
import type { TailLog } from '../../shared/storage/catalog/tail-log.ts';
import { MergeBacklog } from '../../shared/upkeep/compaction/merge-backlog.ts';
import { FrontHub, type HubParts } from './front-hub.ts';
import { Fronts } from './fronts.ts';
import { PushAffinity } from './push-affinity.ts';
import { sharedRecentQueries } from './recent-queries.ts';
import type { FrontTell, RoleData, RoleTell } from './role-messages.ts';
import { RolePool } from './role-pool.ts';
import { frontsOf, type Role, roleOf, rolesOf, threadsOf } from './roles.ts';
import { freeLost, sharedCounters } from './shared-bytes.ts';
import { bytesOfPushes, forgetPushes, type SharedPushes, sharedPushes } from './shared-pushes.ts';
import { forgetLost, type SharedReaders, sharedReaders } from './shared-readers.ts';
import {
  answerOnce,
  pushSlotsOf,
  type ReplacedThreads,
  type RoleThread,
  requestCall,
  startRoleThread,
} from './start-role-thread.ts';
import { TailRelay } from './tail-relay.ts';
import { TenantCount } from './tenant-count.ts';
import { ThreadFigures } from './thread-figures.ts';
import { TryAgain } from './try-again.ts';
import { WaitingUpkeep } from './waiting-upkeep.ts';
import { within } from './within.ts';

export interface RoleThreadsParts
  extends Pick<RoleData, 'config' | 'storage' | 'isAlone' | 'isDiskFull' | 'readOnly'>,
    Omit<HubParts, 'pass' | 'task' | 'merge' | 'onCommitted'> {
  /** Handles requests that other fronts receive but do not serve themselves. Never throws. */
  readonly answer: (request: HttpRequest) => Promise<HttpResponse>;
  /** Address that all fronts listen on. */
  readonly host: string;
  readonly port: number;
  readonly target: ProcessTarget;
  readonly tailLog: TailLog;
  readonly clock: Clock;
  /** Called when the thread that serves live tails was lost. Closes the tails, so that clients reconnect. */
  readonly endTails: () => void;
  /** Called when the commit of a push failed because of the disk. */
  readonly onDiskProblem: (problem: StorageProblem) => void;
  /** See Storage. Called before a thread starts. */
  readonly startTableThread?: (() => void) | undefined;
  /** Number of cores. Default: those of the machine. */
  readonly cores?: number | undefined;
  /** Replacements for tests in which threads fail. */
  readonly replaced?: ReplacedThreads | undefined;
  /** True if the log includes debug lines of threads, until `setDebug` changes it. */
  readonly isDebug: boolean;
}

/** Timeout for threads to write their usage. A thread in a long step writes it in its next minute. */
const USAGE_MS = 2_000;

export class RoleThreads {
  readonly #parts: RoleThreadsParts;
  readonly #pools = new Map<Role, RolePool<RoleThread>>();
  readonly #relay: TailRelay;
  readonly #fronts: Fronts;
  /** All sockets of live tails, of every front. */
  readonly connections: Connections;
  /** Pushed data that waits to be merged by the upkeep threads. */
  readonly backlog: MergeBacklog;
  readonly #waiting: WaitingUpkeep;
  readonly #figures = new ThreadFigures();
  /** Retries requests. Tasks have a separate queue, because requests wait for tasks. */
  readonly #requests = new TryAgain();
  readonly #tasks = new TryAgain();
  readonly #running = new TenantCount();
  /** `undefined` if other processes may read objects. */
  readonly #readers: SharedReaders | undefined;
  /** Memory of pushes in the ingest threads of all fronts. */
  readonly #pushes: SharedPushes;
  readonly #recentQueries = sharedRecentQueries();
  /** `undefined` in a process without pushes. */
  readonly #affinity: PushAffinity<RoleThread> | undefined;
  #isDebug: boolean;
  #isDiskFull: boolean;
  #isStopped = false;
  #areFrontsStarted = false;

  constructor(parts: RoleThreadsParts) {
    this.#parts = parts;
    this.#isDebug = parts.isDebug;
    this.#isDiskFull = parts.isDiskFull;
    this.backlog = new MergeBacklog({
      maxBytes: parts.config.logboom.maxMergeBacklogBytes,
      onUrgency: isUrgent => this.#tellUrgency({ kind: 'urgency', isUrgent }),
    });
    this.#waiting = new WaitingUpkeep({
      ingestTimes: () => (this.#pools.get('ingest')?.threads ?? []).map(({ utilization }) => utilization),
      isUrgent: () => this.backlog.isUrgent,
      startThread: () => this.#startUpkeep(),
      merge: ticket =>
        this.#pools
          .get('upkeep')!
          .at(0)
          .tell({ kind: 'merge-day', ticket } satisfies FrontTell),
      maxWaitMs: parts.config.compactor.compactionIntervalMs,
      clock: parts.clock,
    });
    // The query threads, the spare one, and the upkeep threads.
    this.#readers = parts.isAlone
      ? sharedReaders(this.#queryThreads + 1 + threadsOf('upkeep', parts.cores))
      : undefined;
    this.#pushes = sharedPushes(this.#ingestThreads * this.#frontCount);
    this.#relay = new TailRelay({ ...parts, send: call => this.#tailThread.call(call) });
    this.#fronts = this.#otherFronts();
    this.connections = this.#fronts.connectionsWith(parts.connections);
    for (const role of rolesOf(parts.target)) this.#pools.set(role, this.#poolOf(role));
    const ingest = this.#pools.get('ingest');
    this.#affinity = ingest && new PushAffinity(ingest);
  }

  /**
   * Starts a thread for each role that has work without requests. Others start with their first request,
   * because each takes 15 MB and an idle store needs none. Resolves when they are ready. Rejects if one
   * cannot start.
   */
  async start(working: ReadonlySet<Role>): Promise<void> {
    for (const [role, pool] of this.#pools) if (working.has(role)) pool.at(0);
    await Promise.all([...this.#pools.values()].map(pool => pool.ready()));
  }

  /** Stops accepting. Resolves when running requests are complete. */
  async stopFronts(): Promise<void> {
    this.#areFrontsStarted = true;
    await this.#fronts.stop();
  }

  /** Threads started by this front, for metrics. */
  get threads(): readonly Pick<RoleThread, 'name' | 'starts' | 'running' | 'completed' | 'utilization'>[] {
    return [...this.#roleThreads, ...this.#fronts.threads];
  }

  /** Memory of pushes in all ingest threads, for metrics. */
  get pushBytes(): number {
    return bytesOfPushes(this.#pushes);
  }

  /** Push slots of this front. */
  get pushSlots(): number {
    return pushSlotsOf(this.#ingestThreads, this.#parts.storage);
  }

  /**
   * Wraps a route so that the thread of its role serves it. Usage responds after all threads have written
   * theirs.
   */
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
        if (role === 'ingest') this.#startFronts();
        if (route.cost === 'query') return answer;
        // Starts upkeep for the stored data, after the response, because the request must not wait for the
        // start of a thread.
        return answer.finally(() => (role === 'ingest' ? this.#waiting.pushed() : this.#startUpkeep()));
      },
    };
  }

  /** Metrics of all threads, to be added up. Resolves in bounded time. */
  metricsTexts(): Promise<string[]> {
    const threads = this.#roleThreads.map(thread => ({
      name: thread.name,
      starts: thread.starts,
      text: async () => (await thread.call({ kind: 'metrics' })).text!,
    }));
    return this.#figures.texts([...threads, ...this.#fronts.counting]);
  }

  /** Resolves when all threads have written their usage. */
  async writeUsage(): Promise<void> {
    const written = this.#roleThreads.map(thread => within(USAGE_MS, thread.call({ kind: 'write-usage' })));
    await Promise.all([...written, this.#fronts.writeUsage()]);
  }

  kick(job: string): void {
    this.#pass({ kind: 'kick', job });
  }

  setDebug(isDebug: boolean): void {
    this.#isDebug = isDebug;
    const told = { kind: 'log-level', isDebug } as const;
    for (const thread of this.#roleThreads) thread.tell(told satisfies FrontTell);
    this.#fronts.tell(told);
  }

  /** Pauses jobs that need space while the disk is full. */
  setDiskFull(isFull: boolean): void {
    this.#isDiskFull = isFull;
    const told = { kind: 'disk', isFull } as const;
    for (const thread of this.#roleThreads) thread.tell(told satisfies FrontTell);
    this.#fronts.tell(told);
  }

  /** Resolves to the reason why the tail cannot be served, or to `undefined`. */
  async openTail(request: TailRequest, connectionId: string): Promise<string | undefined> {
    // The tail receives later commits as messages, and reads earlier ones.
    this.#relay.open(request.tenant, connectionId);
    return (await this.#tailThread.call({ kind: 'open-tail', request, connectionId })).text;
  }

  async closeTail(tenant: string, connectionId: string): Promise<void> {
    this.#relay.close(tenant, connectionId);
    await this.#tailThread.call({ kind: 'close-tail', connectionId, tenant });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.stop();
    await this.stopFronts();
    // Closes the table last, so that requests of ending threads are still served.
    await Promise.all([...this.#pools.values()].map(pool => pool.stop()));
  }

  /** Starts further front threads when pushes arrive concurrently, because they take memory too. */
  #startFronts(): void {
    if (this.#areFrontsStarted || this.#pools.get('ingest')!.threads.length === 1) return;
    this.#areFrontsStarted = true;
    this.#fronts
      .start(this.#frontCount - 1)
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'front thread failed to start'));
  }

  #tellUrgency(told: Extract<FrontTell, { kind: 'urgency' }>): void {
    for (const role of ['upkeep', 'ingest'] as const) {
      for (const thread of this.#pools.get(role)?.threads ?? []) thread.tell(told);
    }
  }

  #startUpkeep(): void {
    if (!this.#isStopped) this.#pools.get('upkeep')?.at(0);
  }

  get #roleThreads(): readonly RoleThread[] {
    return [...this.#pools.values()].flatMap(pool => pool.threads);
  }

  get #frontCount(): number {
    return frontsOf(this.#parts.target, this.#parts.cores);
  }

  /** Ingest threads per front. */
  get #ingestThreads(): number {
    return Math.ceil(threadsOf('ingest', this.#parts.cores) / this.#frontCount);
  }

  /** Query threads without the spare one. */
  get #queryThreads(): number {
    const { config, cores } = this.#parts;
    const { queryWorkers } = config.logboom;
    return queryWorkers > 0 ? queryWorkers : threadsOf('query', cores);
  }

  get #tailThread(): RoleThread {
    return this.#pools.get('query')!.at(0);
  }

  #poolOf(role: Role): RolePool<RoleThread> {
    const { config, log, cores, replaced } = this.#parts;
    const { queryMemoryBytes } = config.logboom;
    const isQuery = role === 'query';
    const isIngest = role === 'ingest';
    const max = isQuery ? this.#queryThreads : threadsOf(role, cores);
    const readers = isIngest ? undefined : this.#readers;
    const here = isIngest ? this.#ingestThreads : max;
    const threads = isIngest ? here * this.#frontCount : max;
    // Includes the spare thread.
    const queryMemory = isQuery ? sharedCounters(queryMemoryBytes, threads + 1) : undefined;
    const pushes = isIngest ? this.#pushes : undefined;
    const start = (index: number) => {
      this.#parts.startTableThread?.();
      const readerIndex = isQuery ? index : this.#queryThreads + 1 + index;
      let isRestart = false;
      return startRoleThread({
        role,
        index,
        data: (): RoleData => {
          // The first upkeep thread plans. Its queue is lost with it, and its successor checks all days.
          if (role === 'upkeep' && index === 0 && isRestart) {
            this.#waiting.clear();
            this.backlog.forget();
          }
          isRestart = true;
          const recentQueries = role === 'upkeep' ? undefined : this.#recentQueries;
          const own = { role, index, threads, queryMemory, pushes, readers, readerIndex, recentQueries };
          return { ...this.#started(), ...own };
        },
        hub: this.#hubOf(role, threads),
        log,
        replaced,
        onLost: () => {
          if (queryMemory !== undefined) freeLost(queryMemory, index);
          if (pushes !== undefined) forgetPushes(pushes, index);
          if (readers !== undefined) forgetLost(readers, readerIndex);
          if (isQuery && index === 0) {
            this.#parts.endTails();
            this.#fronts.endTails();
          }
        },
      });
    };
    return new RolePool<RoleThread>(here, start, { hasSpare: isQuery, waitsForStart: role === 'upkeep' });
  }

  /** Start data of every thread. */
  #started(): Omit<RoleData, 'role' | 'index' | 'threads' | 'queryMemory'> {
    const { config, storage, isAlone, readOnly, connectTable } = this.#parts;
    return {
      config,
      storage,
      isAlone,
      readOnly,
      tailed: isAlone && connectTable !== undefined ? this.#relay.tailed : undefined,
      isDebug: this.#isDebug,
      isDiskFull: this.#isDiskFull,
      isMergeUrgent: this.backlog.isUrgent,
      kernels: kernelModule(),
    };
  }

  #hubOf(role: Role, threads: number): FrontHub {
    return new FrontHub({
      ...this.#parts,
      connections: this.connections,
      onCommitted:
        role === 'ingest' && this.#parts.isAlone ? writes => this.#relay.committed(writes) : undefined,
      pass: told => this.#pass(told),
      task: (affinity, task, signal) => this.#task(affinity % threads, task, signal),
      merge: async (task, signal) =>
        (await this.#pools.get('upkeep')!.pick().call({ kind: 'merge', task }, { signal })).bytes!,
    });
  }

  #otherFronts(): Fronts {
    const { answer, host, port, log, config } = this.#parts;
    // Created on first use, when the sockets of all fronts are known.
    let hub: FrontHub | undefined;
    const hubOfFronts = () => (hub ??= this.#hubOf('ingest', this.#ingestThreads));
    return new Fronts({
      data: index => ({
        ...this.#started(),
        index,
        host,
        port,
        fronts: this.#frontCount,
        ingestThreads: this.#ingestThreads,
        pushes: this.#pushes,
        recentQueries: this.#recentQueries,
      }),
      hub: {
        reply: (ask, signal) => hubOfFronts().reply(ask, signal),
        hear: tell => hubOfFronts().hear(tell),
      },
      onLost: index => this.#forgetPushesOf(index),
      answer,
      openTail: (request, connectionId) => this.openTail(request, connectionId),
      closeTail: (tenant, connectionId) => this.closeTail(tenant, connectionId),
      log,
      drainMs: config.server.gracefulShutdownTimeoutMs,
    });
  }

  /** Clears the pushes of the ingest threads, which end with their front. */
  #forgetPushesOf(front: number): void {
    const first = front * this.#ingestThreads;
    for (let i = 0; i < this.#ingestThreads; i++) forgetPushes(this.#pushes, first + i);
  }

  async #request(
    role: Role,
    { cost }: Pick<Route<never>, 'cost'>,
    request: HttpRequest,
  ): Promise<HttpResponse> {
    const pool = this.#pools.get(role)!;
    if (role === 'ingest') return answerOnce(this.#affinity!, request);
    // The first upkeep thread has the state of maintenance.
    if (role === 'upkeep') return answerOnce({ pick: () => pool.at(0) }, request);
    if (cost !== 'query') return answerOnce({ pick: () => pool.pick() }, request);
    const { signal } = request;
    const call = requestCall(request);
    return this.#running.count(tenantsKey(request, this.#parts.config), running =>
      this.#requests.run(async () => (await pool.pick(running()).call(call, { signal })).response!, signal),
    );
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
        this.#fronts.tell(told);
        return;
      case 'replaced':
        for (const thread of this.#pools.get('query')?.threads ?? []) thread.tell(told satisfies FrontTell);
        return;
      case 'fresh': {
        const receiver = this.#pools
          .get('query')
          ?.threads.find(({ name }) => name === `query-${told.thread}`);
        if (receiver?.isReady === true) receiver.tell(told satisfies FrontTell);
        else releaseBatch(told.batch);
        return;
      }
      case 'filled':
        // In other targets, the process that merges finds the work itself.
        if (!workOf(this.#parts.target).maintains) return;
        if (this.#isStopped) return;
        this.#waiting.filled(this.backlog.add(told.day));
        return;
      case 'merged':
        this.backlog.merged(told.ticket);
        return;
      case 'disk-problem':
        this.#parts.onDiskProblem(told.problem);
        return;
      case 'kick': {
        const pool = this.#pools.get(told.job === 'rules' ? 'query' : 'upkeep');
        pool?.at(0).tell(told satisfies FrontTell);
      }
    }
  }
}
