/**
 * Assembles the store of one machine. The front thread has the table, rate limits, sockets and the state of
 * the process. Everything else runs in the threads of the roles (threads/roles.ts).
 */

import type { Limits } from '../shared/base/model/limits.ts';
import { StorageUnavailableError } from '../shared/base/ports/storage-unavailable.ts';
import type { Log } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { PageCache } from '../shared/read/query/page-cache.ts';
import type { Config } from '../shared/server/admin/config-fields.ts';
import { processText } from '../shared/server/admin/fleet-figures.ts';
import { addBacklogMetrics } from '../shared/server/admin/metrics/backlog-metrics.ts';
import { createMetrics, retentionHours } from '../shared/server/admin/metrics/metrics.ts';
import { addDiskMetrics } from '../shared/server/admin/metrics/process-metrics.ts';
import { addPushMemoryMetrics } from '../shared/server/admin/metrics/push-memory-metrics.ts';
import { addThreadMetrics } from '../shared/server/admin/metrics/thread-metrics.ts';
import { overridesSources } from '../shared/server/admin/overrides-file.ts';
import { OverridesWatch } from '../shared/server/admin/overrides-watch.ts';
import type { Services } from '../shared/server/admin/services.ts';
import { assembleContext } from '../shared/server/http/assemble.ts';
import type { HttpContext, LogLevelSetting } from '../shared/server/http/context.ts';
import { Catalog } from '../shared/storage/catalog/catalog.ts';
import { IngestExchange } from '../shared/storage/catalog/ingest-exchange.ts';
import { UsageRecords } from '../shared/storage/catalog/usage-records.ts';
import { beginWithCatalog } from '../shared/upkeep/integrity/lost-catalog.ts';
import { IngestRates } from '../shared/write/ingest/rates/ingest-rates.ts';
import { keepAllocatorSmall } from './allocator-memory.ts';
import { runInBackground } from './background.ts';
import { createConnectionsApi } from './connections-api.ts';
import type { Disk } from './disk.ts';
import type { GatewayOptions } from './gateway.ts';
import { configOfFront } from './gateway-limits.ts';
import { createInstance, type Instance } from './instance.ts';
import { rateDecisions } from './rate-decision.ts';
import { type LocalTails, startLocalTails } from './start-tails.ts';
import { openStorage, type ReplacedStorage, type StorageOptions } from './storage.ts';
import { keepMemorySmall } from './thread-memory.ts';
import { RoleThreads, type RoleThreadsParts } from './threads/role-threads.ts';
import { frontsOf } from './threads/roles.ts';
import type { ReplacedThreads } from './threads/start-role-thread.ts';
import { workingRoles } from './working-roles.ts';

interface AssembleLocalOptions {
  readonly config: Config;
  readonly storage: StorageOptions;
  /** See LocalOptions. */
  readonly beginAnew?: boolean;
  /** See OpenStorageOptions. */
  readonly replaced?: ReplacedParts;
  /** Address of the gateway and of the other front threads. */
  readonly host: string;
  readonly port: number;
  /** See RoleThreadsParts. */
  readonly answer: RoleThreadsParts['answer'];
  readonly log: Log;
  readonly logLevel: LogLevelSetting;
  readonly services: Services;
  /** See RoleThreadsParts. */
  readonly cores?: number | undefined;
}

export interface ReplacedParts extends ReplacedStorage {
  readonly roleThreads?: ReplacedThreads;
}

export interface AssembledLocal {
  readonly context: HttpContext;
  readonly threads: RoleThreads;
  readonly instance: Instance;
  readonly tails: LocalTails;
  readonly intercept: GatewayOptions['intercept'];
  limitsOf(tenant: string): Limits;
  /** See Storage. */
  readonly disk: Disk | undefined;
  readonly readOnly: boolean;
  watchOverrides(): void;
  endOverrides(): Promise<void>;
  /** Stops the threads and closes the stores. */
  close(): Promise<void>;
}

/** Rejects if a store cannot be opened, its catalog is lost, or overrides cannot be read. */
export async function assembleLocal(options: AssembleLocalOptions): Promise<AssembledLocal> {
  const { config, log, services, port } = options;
  const { target } = config.auth;
  const fronts = frontsOf(target, options.cores);
  const storage = await openStorage(options.storage, {
    serves: true,
    replaced: options.replaced,
    onTableLost: error => log.error({ err: error, thread: 'table' }, 'thread ended; restarting it'),
  });
  let threads: RoleThreads | undefined;
  try {
    const catalog = new Catalog({ table: storage.table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
    const { store, disk, readOnly } = storage;
    await beginWithCatalog({ ...storage, catalog, clock: SYSTEM_CLOCK }, options.beginAnew ?? false).catch(
      (error: unknown) => {
        // The first start that can write sets the marks.
        if (!(error instanceof StorageUnavailableError)) throw error;
      },
    );
    const overrides = new OverridesWatch({
      sources: overridesSources(config.runtime, storage.store),
      defaults: config.limits,
      clock: SYSTEM_CLOCK,
      periodMs: config.runtime.periodMs,
      log,
    });
    await overrides.load();
    const { limitsOf } = overrides;
    const instance = createInstance({ members: catalog.members, target, port, log });
    const metrics = createMetrics({
      ofProcess: true,
      retentionHoursOf: tenant => retentionHours(limitsOf(tenant)),
    });
    const exchange = new IngestExchange({ table: storage.table, clock: SYSTEM_CLOCK });
    const rates = new IngestRates({ exchange, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, log });
    const context = assembleContext({
      config,
      store,
      catalog,
      rates,
      usageRecords: new UsageRecords(storage.table),
      metrics,
      log,
      auditLog: log,
      clock: SYSTEM_CLOCK,
      ids: SYSTEM_IDS,
      limitsOf,
      // The front thread reads no chunks.
      pages: new PageCache(0),
      resultCacheBytes: 0,
      kick: job => threads!.kick(job),
      logLevel: {
        get: () => options.logLevel.get(),
        async set(level) {
          await options.logLevel.set(level);
          threads!.setDebug(log.isLevelEnabled('debug'));
        },
      },
      metricsText: async () => processText(await metrics.registry.text(), await threads!.metricsTexts()),
      instance,
      services: () => services.list(),
      notReady: () => services.notReady() ?? disk?.message,
    });
    const tails = startLocalTails({
      context,
      config: configOfFront(config, fronts),
      ids: SYSTEM_IDS,
      log,
      threads: () => threads!,
    });
    const isAlone = options.storage.kind === 'embedded' && target === 'all';
    threads = new RoleThreads({
      target,
      config,
      storage: options.storage,
      isAlone,
      table: storage.table,
      foldTable: storage.foldTable,
      startTableThread: storage.startTableThread,
      connectTable: storage.connectTable,
      tailLog: catalog.tailLog,
      clock: SYSTEM_CLOCK,
      decisions: rateDecisions({ context, rates, limitsOf, disk, backlog: () => threads!.backlog }),
      answer: options.answer,
      host: options.host,
      port,
      connections: tails.connections,
      endTails: () => tails.endAll(),
      log,
      onDiskProblem: problem => disk?.noteError(new StorageUnavailableError(problem)),
      onDefect: () => metrics.requests.defect(),
      isDebug: log.isLevelEnabled('debug'),
      isDiskFull: disk?.problem !== undefined,
      readOnly,
      cores: options.cores,
      replaced: options.replaced?.roleThreads,
    });
    addThreadMetrics(metrics.registry, () => threads!.threads);
    addBacklogMetrics(metrics.registry, threads.backlog);
    addPushMemoryMetrics(metrics.registry, () => threads!.pushBytes);
    await threads.start(await workingRoles(catalog, { config, isAlone }));
    const started = threads;
    addDiskMetrics(metrics.registry, disk && (() => disk.problem === undefined));
    const watching = new AbortController();
    const closing = new AbortController();
    const background = { clock: SYSTEM_CLOCK, log, signal: closing.signal };
    const keptMemory = keepMemorySmall('front', context, background);
    const keptAllocator = runInBackground(
      'allocator-memory',
      () => keepAllocatorSmall(SYSTEM_CLOCK, closing.signal),
      background,
    );
    const watchedDisk = disk && runInBackground('disk-watch', () => disk.watch(closing.signal), background);
    let watched: Promise<void> | undefined;
    return {
      context,
      threads: started,
      instance,
      tails,
      intercept: config.logboom.connectionsApi ? createConnectionsApi(started.connections) : undefined,
      limitsOf,
      disk,
      readOnly,
      watchOverrides() {
        const { signal } = watching;
        watched = runInBackground('runtime-config', () => overrides.keepFresh(signal), {
          ...background,
          signal,
        });
      },
      async endOverrides() {
        watching.abort();
        await watched;
      },
      async close() {
        closing.abort();
        await Promise.all([watchedDisk, keptMemory, keptAllocator]);
        await started.stop();
        await storage.close();
      },
    };
  } catch (error) {
    await threads?.stop();
    await storage.close();
    throw error;
  }
}
