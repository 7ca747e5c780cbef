/**
 * Thread of a role. It assembles the store's services like a function of an AWS account, over its own stores.
 * The front thread provides what must be in one thread: commits to SQLite, rate limits and sockets. It runs
 * from the source tree and from the package.
 */
import { workerData } from 'node:worker_threads';
import { useKernelModule } from '../../shared/base/kernels/kernels.ts';
import { freeLarge } from '../../shared/base/model/free-bytes.ts';
import { SharedBodies } from '../../shared/base/model/shared-bodies.ts';
import type { ObjectReaders } from '../../shared/base/ports/object-readers.ts';
import type { StorageProblem } from '../../shared/base/ports/storage-unavailable.ts';
import type { Write } from '../../shared/base/ports/table.ts';
import { FETCH_CLIENT } from '../../shared/base/runtime/http-client.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { QueryMemory } from '../../shared/read/query/query-memory.ts';
import { TaskRunner } from '../../shared/read/query/tasks/task-runner.ts';
import { createMetrics, retentionHours } from '../../shared/server/admin/metrics/metrics.ts';
import { overridesSources } from '../../shared/server/admin/overrides-file.ts';
import { OverridesWatch } from '../../shared/server/admin/overrides-watch.ts';
import { workOf } from '../../shared/server/admin/targets.ts';
import { assembleContext } from '../../shared/server/http/assemble.ts';
import type { MergeOffload } from '../../shared/server/http/assemble-maintenance.ts';
import type { HttpContext } from '../../shared/server/http/context.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter } from '../../shared/server/http/routes.ts';
import { routesOf } from '../../shared/server/http/targets.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { encodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { IngestExchange } from '../../shared/storage/catalog/ingest-exchange.ts';
import { chunksOfKeys } from '../../shared/storage/catalog/stored-objects.ts';
import type { TailLog } from '../../shared/storage/catalog/tail-log.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { packInThisThread } from '../../shared/storage/codec/compression.ts';
import { fullMergeCounter } from '../../shared/upkeep/compaction/full-merges.ts';
import type { MergeTicket } from '../../shared/upkeep/compaction/merge-backlog.ts';
import { SETTLE_MS } from '../../shared/upkeep/compaction/plan-merges.ts';
import { PushCounts } from '../../shared/write/ingest/push-counts.ts';
import { IngestRates } from '../../shared/write/ingest/rates/ingest-rates.ts';
import { runInBackground } from '../background.ts';
import { mustKeepObjects } from '../kept-objects.ts';
import { ruleFilesReader } from '../rule-files.ts';
import { type Scheduler, type SchedulerOptions, startScheduler } from '../scheduler.ts';
import { type OpenedStorage, openStorage } from '../storage.ts';
import { collectorAfterLargePushes, keepMemorySmall, lineMemoryReleaser } from '../thread-memory.ts';
import { cacheShare } from './cache-share.ts';
import { committer } from './committer.ts';
import { forwardedTable, movedBodies } from './forwarded-table.ts';
import { adoptBatch, freshChunksOf, noteTenants } from './fresh-lines.ts';
import { type Moved, ownBytes } from './messages.ts';
import type {
  AskFront,
  FrontTell,
  PlainRequest,
  RoleAnswer,
  RoleCall,
  RoleData,
  RoleTell,
} from './role-messages.ts';
import { type Starter, serveThread, type ThreadService } from './serve-thread.ts';
import { SharedBytes } from './shared-bytes.ts';
import { PushBoard } from './shared-pushes.ts';
import { haveAllBegunIn, newEpoch, ThreadReaders } from './shared-readers.ts';
import { TailThread } from './tail-thread.ts';
import { taskInvoker } from './task-invoker.ts';
import { createThreadLog } from './thread-log.ts';
import { lowerThreadPriority, raiseThreadPriority } from './thread-priority.ts';
import { ownRates, ratesOfFront } from './thread-rates.ts';

/** Page cache of the table. Small, because each commit of another thread invalidates it. */
const TABLE_CACHE_BYTES = 2 * 1024 * 1024;
/** Memory of large responses that are sent or made. Larger ones, and more at once, have separate memory. */
const MAX_BODY_BYTES = 96 * 1024 * 1024;
const NOTHING: Moved<RoleAnswer> = { value: {} };

serveThread<RoleCall, RoleAnswer>(starter => openRole(workerData as RoleData, starter));

async function openRole(data: RoleData, starter: Starter): Promise<ThreadService<RoleCall, RoleAnswer>> {
  const { role, index, threads, config } = data;
  const { target } = config.auth;
  const ranIn = `${role}-${index}`;
  useKernelModule(data.kernels);
  if (role === 'upkeep') {
    lowerThreadPriority();
    packInThisThread();
  }
  const ask: AskFront = (question, options) => starter.ask(question, options);
  const tell = (what: RoleTell) => starter.tell(what);
  const log = createThreadLog(tell, data.isDebug);
  const storage = await openStorage(data.storage, { tableCacheBytes: TABLE_CACHE_BYTES });
  const isEmbedded = data.storage.kind === 'embedded';
  const table = isEmbedded ? forwardedTable(storage.table, commitsOf(data, ask, tell)) : storage.table;
  const stopping = new AbortController();
  const { signal } = stopping;
  const onPushed =
    role === 'ingest'
      ? fullMergeCounter({ request: day => tell({ kind: 'filled', day }), clock: SYSTEM_CLOCK, signal })
      : undefined;
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, onPushed });
  const overrides = new OverridesWatch({
    sources: overridesSources(config.runtime, storage.store),
    defaults: config.limits,
    clock: SYSTEM_CLOCK,
    periodMs: config.runtime.periodMs,
    log,
  });
  await overrides.load();
  const cached = (bytes: number) => (role === 'query' ? cacheShare(bytes, threads, index) : 0);
  const { logboom } = config;
  const pages = new PageCache(cached(logboom.pageCacheBytes), {
    keepsFirst: storage.store.isDistant === true,
  });
  const releaseLineMemory = lineMemoryReleaser(SYSTEM_CLOCK, pages);
  const readers = data.readers && new ThreadReaders(data.readers, data.readerIndex!);
  const reading = <T>(work: () => Promise<T>) => (readers === undefined ? work() : readers.during(work));
  const queryMemory =
    data.queryMemory && new QueryMemory(logboom.queryMemoryBytes, new SharedBytes(data.queryMemory, index));
  const front = { isDiskFull: data.isDiskFull, isMergeUrgent: data.isMergeUrgent === true };
  const ownRatesOfThread = () =>
    ownRates({
      rates: new IngestRates({
        exchange: new IngestExchange({ table, clock: SYSTEM_CLOCK }),
        clock: SYSTEM_CLOCK,
        ids: SYSTEM_IDS,
        log,
      }),
      ask,
      mayBeRefused: () => front.isDiskFull || front.isMergeUrgent,
    });
  const context: HttpContext = assembleContext({
    config,
    store: storage.store,
    catalog,
    usageRecords: new UsageRecords(table),
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    log,
    auditLog: log,
    limitsOf: overrides.limitsOf,
    metrics: createMetrics({ retentionHoursOf: tenant => retentionHours(overrides.limitsOf(tenant)) }),
    rates: role === 'ingest' && threads === 1 ? ownRatesOfThread() : ratesOfFront(ask),
    invoker:
      role === 'query' && threads > 1 && index < threads
        ? taskInvoker({
            threads,
            index,
            here: (task, signal) => reading(() => tasks().run(task, signal)),
            there: async (task, affinity, signal) =>
              (await ask({ kind: 'task', affinity, task }, { signal })) as Uint8Array,
          })
        : undefined,
    mergeOffload:
      role === 'upkeep' && index === 0 && threads > 1 ? () => mergeInThreads(threads, ask) : undefined,
    pages,
    resultCacheBytes: cached(logboom.queryResultCacheBytes),
    queryMemory,
    objectReaders:
      role === 'upkeep'
        ? objectReadersOf(data, catalog, {
            during: reading,
            replaced: keys => {
              forgetObjects(keys);
              tell({ kind: 'replaced', keys });
            },
          })
        : undefined,
    fresh: role === 'ingest' ? freshChunksOf(data, tell) : undefined,
    pushCounts: data.pushes && new PushCounts(new PushBoard(data.pushes, index)),
    ranIn,
    onLargePushEnd: collectorAfterLargePushes(),
    http: FETCH_CLIENT,
    foldTable: isEmbedded ? async () => (await ask({ kind: 'fold' })) as boolean : undefined,
    kick: job => tell({ kind: 'kick', job }),
    readRuleFiles: ruleFilesReader(config.ruler.storage),
    notReady: () => undefined,
  });
  function forgetObjects(keys: readonly string[]): void {
    const chunks = chunksOfKeys(keys);
    context.reading.source.forgetChunks(chunks);
    catalog.forgetChunks(chunks);
    void releaseLineMemory();
  }

  let runner: TaskRunner | undefined;
  const tasks = () =>
    (runner ??= new TaskRunner({
      store: storage.store,
      source: context.reading.source,
      clock: SYSTEM_CLOCK,
      ranIn,
      ...(queryMemory && { memory: queryMemory }),
    }));
  if (role === 'ingest') tellCommits(catalog.tailLog, data, tell);
  const tails =
    role === 'query' && index === 0 && workOf(target).tails
      ? new TailThread({ context, ask, log, isAlone: data.isAlone, readers })
      : undefined;
  const dispatch = createDispatcher({
    router: createRouter(routesOf(target, ROUTES)),
    context: {
      ...context,
      push: forgettingEverywhere(context.push, role, tell),
      ...(role === 'query' && { bodies: new SharedBodies(MAX_BODY_BYTES) }),
    },
    // The front thread has admitted the caller.
    guard: { admit: async (_access, request) => request },
    log,
    compress: config.frontend.compressResponses,
    observer: { begin: () => () => undefined, defect: () => tell({ kind: 'defect' }) },
  });
  const background = { clock: SYSTEM_CLOCK, log, signal };
  const backgroundTasks = [
    keepMemorySmall(`${role}-${index}`, context, background),
    runInBackground('usage', () => context.usage.ledger.keepWritten(signal), background),
    runInBackground('runtime-config', () => overrides.keepFresh(signal), background),
  ];
  const scheduler = schedulerOf(data, context, log, { front, reading });

  async function answer(request: PlainRequest, signal: AbortSignal): Promise<Moved<RoleAnswer>> {
    if (role === 'query') noteTenants(data, request);
    const response = await reading(() => dispatch({ ...request, signal }));
    // The body is a copy of this thread, or was moved to it. After an error it stays, because other code may
    // still use it.
    if (response.status < 300) freeLarge(request.body);
    const { body } = response;
    // An empty body, as of most pushes, has no memory to move.
    if (response.isBodyShared || body === '') return { value: { response } };
    const bytes = typeof body === 'string' ? encoded(body) : ownBytes(body);
    return { value: { response: { ...response, body: bytes, isBodyOwn: true } }, moved: [bytes.buffer] };
  }

  /** Merges the pushes of a ticket. Leaves younger pushes unmerged. */
  async function mergeDay(ticket: MergeTicket): Promise<void> {
    await SYSTEM_CLOCK.sleep(SETTLE_MS, stopping.signal).catch(() => undefined);
    const { tenant, day } = ticket;
    const merged = context.maintenance.requestMerges({ tenant, day }).catch((error: unknown) => {
      log.error({ component: 'compaction', err: error }, 'merging the chunks of a push failed');
    });
    scheduler?.kick('compaction');
    await merged;
    // Query threads have the lines of its inputs in memory until then.
    scheduler?.kick('reclaim');
    tell({ kind: 'merged', ticket });
  }

  return {
    async call(call, signal) {
      switch (call.kind) {
        case 'request':
          return answer(call.request, signal);
        case 'task': {
          const bytes = ownBytes(await reading(() => tasks().run(call.task, signal)));
          return { value: { bytes }, moved: [bytes.buffer] };
        }
        case 'merge': {
          const bytes = ownBytes(await reading(() => context.maintenance.mergeTask!(call.task, signal)));
          return { value: { bytes }, moved: [bytes.buffer] };
        }
        case 'committed':
          await tails?.committed(call.chunks, call.logged);
          return NOTHING;
        case 'overflowed':
          tails?.overflowed(call.tenant);
          return NOTHING;
        case 'open-tail':
          return { value: { text: await tails?.open(call.request, call.connectionId) } };
        case 'close-tail':
          await tails?.close(call.tenant, call.connectionId);
          return NOTHING;
        case 'metrics':
          return { value: { text: await context.metrics.registry.text() } };
        case 'write-usage':
          await context.usage.ledger.write();
          return NOTHING;
      }
    },
    hear(told) {
      const what = told as FrontTell;
      switch (what.kind) {
        case 'forget':
          context.push.forget(what.tenant);
          return;
        case 'replaced':
          forgetObjects(what.keys);
          return;
        case 'kick':
          scheduler?.kick(what.job);
          return;
        case 'fresh':
          adoptBatch(what.batch, context.reading.source, log);
          return;
        case 'merge-day':
          void mergeDay(what.ticket);
          return;
        case 'urgency':
          front.isMergeUrgent = what.isUrgent;
          if (role !== 'upkeep') return;
          if (what.isUrgent ? raiseThreadPriority() : lowerThreadPriority()) return;
          if (what.isUrgent)
            log.debug({}, 'merging is behind, and its priority cannot be raised; set LimitNICE=+0');
          return;
        case 'disk':
          front.isDiskFull = what.isFull;
          return;
        case 'log-level':
          log.isDebug = what.isDebug;
      }
    },
    async stop() {
      stopping.abort();
      await tails?.stop();
      await scheduler?.stop();
      await Promise.all(backgroundTasks);
      await close(storage);
    },
  };
}

/** Way of the thread's commits to the table. */
function commitsOf(
  { role, tailed }: RoleData,
  ask: AskFront,
  tell: (what: RoleTell) => void,
): (writes: readonly Write[]) => Promise<void> {
  if (role === 'ingest' && tailed !== undefined) {
    const onDiskProblem = (problem: StorageProblem) => tell({ kind: 'disk-problem', problem });
    return committer({ ask, clock: SYSTEM_CLOCK, tailed, onDiskProblem });
  }
  return async writes => {
    await ask({ kind: 'write', writes }, { moved: movedBodies(writes) });
  };
}

/** Lets the upkeep threads run the merges that this one plans. It publishes them. */
function mergeInThreads(threads: number, ask: AskFront): MergeOffload {
  return {
    invoke: async (task, { signal }) => (await ask({ kind: 'merge', task }, { signal })) as Uint8Array,
    // A merge takes a second and a message a millisecond, so each merge goes to a thread.
    options: { most: threads, bytesEach: 1, fewest: 1 },
    daysAtOnce: threads,
  };
}

/**
 * Jobs that write before they free space. They wait while the disk is full, and leave the free space to the
 * others.
 */
const TAKES_SPACE: ReadonlySet<string> = new Set(['compaction', 'index-sync']);

/**
 * Jobs that are no readers of objects as a whole. Those that delete would wait for themselves, and a run of compaction would keep
 * what it replaced until its end, which may be minutes later. Each look at a day is a reader instead.
 */
const NO_READERS: ReadonlySet<string> = new Set(['collection', 'reclaim', 'compaction']);

interface JobRules {
  readonly front: { readonly isDiskFull: boolean };
  /** Runs work that reads objects. */
  reading<T>(work: () => Promise<T>): Promise<T>;
}

/** Scheduler for the jobs of this thread; `undefined` if it runs none. */
function schedulerOf(
  { role, index, config, readOnly }: RoleData,
  { maintenance }: HttpContext,
  log: SchedulerOptions['log'],
  { front, reading }: JobRules,
): Scheduler | undefined {
  if (role === 'ingest' || index > 0 || readOnly) return undefined;
  const work = workOf(config.auth.target);
  const { jobs } = maintenance;
  const tick: typeof jobs.tick = (name, bounds) => jobs.tick(name, bounds);
  return startScheduler({
    jobs: {
      list: jobs.list,
      tick: (name, bounds) => (NO_READERS.has(name) ? tick(name, bounds) : reading(() => tick(name, bounds))),
    },
    does({ name }) {
      if (name === 'rules') return role === 'query' && work.evaluatesRules;
      if (role === 'query') return false;
      return name === 'index-sync' ? work.syncsIndexes : work.maintains;
    },
    mayRun: ({ name }) => !front.isDiskFull || !TAKES_SPACE.has(name),
    clock: SYSTEM_CLOCK,
    log,
    runMs: config.logboom.maintenanceRunMs,
  });
}

/**
 * Reports commits for live tails. If no other process commits to the store, the front thread makes and
 * reports all commits. Otherwise this thread reports them after it has logged them for other processes.
 */
function tellCommits(tailLog: TailLog, { isAlone }: RoleData, tell: (what: RoleTell) => void): void {
  if (isAlone) tailLog.followAll({ take: () => true, logged: () => undefined });
  else {
    tailLog.listen(chunks => {
      const told = chunks.map(({ stampMs, record }) => {
        const { tenant, day } = record;
        return { tenant, day, stampMs, body: encodeRecord(record) };
      });
      tell({ kind: 'committed', chunks: told });
    });
  }
}

/**
 * Makes every thread forget pushes: one thread creates a delete request, but others recognize repeated
 * pushes.
 */
function forgettingEverywhere(
  push: HttpContext['push'],
  role: RoleData['role'],
  tell: (what: RoleTell) => void,
): HttpContext['push'] {
  if (role === 'ingest') return push;
  return {
    push: (request, limits, bodyLimits) => push.push(request, limits, bodyLimits),
    paced: (tenant, steps) => push.paced(tenant, steps),
    forget: tenant => tell({ kind: 'forget', tenant }),
  };
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return new Uint8Array(bytes.buffer);
}

/** `undefined` if other processes may read objects. */
function objectReadersOf(
  { readers, storage }: RoleData,
  { members }: Catalog,
  { during, replaced }: Pick<ObjectReaders, 'during' | 'replaced'>,
): ObjectReaders | undefined {
  if (readers === undefined || storage.kind !== 'embedded') return undefined;
  const { dataDir } = storage;
  return {
    mark: () => newEpoch(readers),
    haveLeft: async mark =>
      haveAllBegunIn(readers, mark) && !(await mustKeepObjects({ dataDir, members, clock: SYSTEM_CLOCK })),
    during,
    replaced,
  };
}

/** Ignores errors, because committed data is safe. */
async function close(storage: OpenedStorage): Promise<void> {
  await storage.close().catch(() => undefined);
}
