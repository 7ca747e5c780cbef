/** Puts the store's services together over the stores of one machine. */
import type { Config } from '../shared/admin/config-fields.ts';
import { createMetrics, retentionHours } from '../shared/admin/metrics/metrics.ts';
import { OverridesWatch } from '../shared/admin/overrides-watch.ts';
import type { Services } from '../shared/admin/services.ts';
import { Catalog } from '../shared/catalog/catalog.ts';
import { IngestExchange } from '../shared/catalog/ingest-exchange.ts';
import { UsageRecords } from '../shared/catalog/usage-records.ts';
import { assembleContext } from '../shared/http/assemble.ts';
import { compactorOptions } from '../shared/http/assemble-maintenance.ts';
import type { HttpContext, LogLevelSetting } from '../shared/http/context.ts';
import type { Limits } from '../shared/model/limits.ts';
import { createConnectionsApi } from './connections-api.ts';
import type { GatewayOptions } from './gateway.ts';
import { fetchClient } from './http-client.ts';
import { createInstance, type Instance } from './instance.ts';
import type { Log } from './log.ts';
import { loopBusy } from './loop-busy.ts';
import { MaintenanceThread } from './maintenance-thread.ts';
import { overridesSources } from './overrides-file.ts';
import { PushThread } from './push-thread-client.ts';
import { createQueryThread, hasQueryThread } from './query-thread-client.ts';
import { ruleFilesReader } from './rule-files.ts';
import { type LocalTails, startLocalTails } from './start-tails.ts';
import { openStorage, type StorageOptions } from './storage.ts';
import { systemClock, systemIds } from './system-clock.ts';
import { createWorkerPool, defaultWorkers } from './worker-pool.ts';

/** Of the cache of pages, where there are workers. */
const OWN_CACHE_SHARE = 0.125;

export interface AssembleLocalOptions {
  readonly config: Config;
  readonly storage: StorageOptions;
  /** That the gateway listens on. */
  readonly port: number;
  readonly log: Log;
  readonly logLevel: LogLevelSetting;
  readonly services: Services;
  readonly kick: (job: string) => void;
}

export interface AssembledLocal {
  readonly context: HttpContext;
  readonly instance: Instance;
  readonly tails: LocalTails;
  readonly intercept: GatewayOptions['intercept'];
  limitsOf(tenant: string): Limits;
  watchOverrides(): void;
  endOverrides(): Promise<void>;
  countUsage(): void;
  /** The last requests are counted too: it is called when they have ended. */
  endUsage(): Promise<void>;
  /** Ends the workers and closes the stores. */
  close(): Promise<void>;
}

/** Rejects where a store cannot be opened, or overrides cannot be read. */
export async function assembleLocal(options: AssembleLocalOptions): Promise<AssembledLocal> {
  const { config, log, services, port } = options;
  const { target } = config.auth;
  const storage = await openStorage(options.storage, { commitsInThread: true });
  try {
    const overrides = new OverridesWatch({
      sources: overridesSources(config.runtime, storage.store),
      defaults: config.limits,
      clock: systemClock,
      periodMs: config.runtime.periodMs,
      log,
    });
    await overrides.load();
    const { queryWorkers, pageCacheBytes } = config.logboom;
    const workers = queryWorkers < 0 ? defaultWorkers() : queryWorkers;
    const thread = hasQueryThread(queryWorkers)
      ? createQueryThread({ config, storage: options.storage, limitsOf: overrides.limitsOf })
      : undefined;
    let pushThread: PushThread | undefined;
    // What is small is read here, what is large by the workers, each of which keeps what it is asked for again.
    const ownCacheBytes = workers === 0 ? pageCacheBytes : pageCacheBytes * OWN_CACHE_SHARE;
    const workerCacheBytes = Math.floor((pageCacheBytes - ownCacheBytes) / workers);
    // Threads start when a query is large enough for them.
    const invoker =
      workers === 0
        ? undefined
        : createWorkerPool({ storage: options.storage, workers, pageCacheBytes: workerCacheBytes });
    // Starts when a day is first to be packed.
    const maintenance = new MaintenanceThread({
      storage: options.storage,
      compaction: compactorOptions(config),
      removes: config.compactor.retentionEnabled,
      table: options.storage.kind === 'embedded' ? storage.table : undefined,
      limitsOf: overrides.limitsOf,
    });
    const catalog = new Catalog({ table: storage.table, clock: systemClock, ids: systemIds });
    const instance = createInstance({ members: catalog.members, target, port, log });
    const context = assembleContext({
      config,
      store: storage.store,
      catalog,
      ingestExchange: new IngestExchange({ table: storage.table, clock: systemClock }),
      usageRecords: new UsageRecords(storage.table),
      metrics: createMetrics({
        ofProcess: true,
        retentionHoursOf: tenant => retentionHours(overrides.limitsOf(tenant)),
      }),
      log,
      auditLog: log,
      clock: systemClock,
      ids: systemIds,
      limitsOf: overrides.limitsOf,
      invoker,
      pageCacheBytes: ownCacheBytes,
      ...thread?.own,
      pushesElsewhere: hub => (pushThread = new PushThread({ storage: options.storage, hub })),
      beginBeside(tenant) {
        const ends = [thread?.own.beginBeside(tenant), pushThread?.beginBeside(tenant)];
        return () => {
          for (const end of ends) end?.();
        };
      },
      busyShare: loopBusy(),
      http: fetchClient,
      daysElsewhere: maintenance,
      foldTable: storage.foldTable,
      kick: options.kick,
      readRuleFiles: ruleFilesReader(config.ruler.storage),
      onBroken: error => log.warn({ err: error }, 'something is broken that the store can do without'),
      logLevel: options.logLevel,
      instance,
      services: () => services.list(),
      notReady: () => services.notReady(),
    });
    const isShared = options.storage.kind === 's3' || target !== 'all';
    const tails = startLocalTails({ context, ids: systemIds, log, isShared });
    const watching = new AbortController();
    const counting = new AbortController();
    let watched: Promise<void> | undefined;
    let counted: Promise<void> | undefined;
    return {
      context,
      instance,
      tails,
      intercept: config.logboom.connectionsApi ? createConnectionsApi(tails.connections) : undefined,
      limitsOf: overrides.limitsOf,
      watchOverrides() {
        watched = overrides.keepFresh(watching.signal);
      },
      async endOverrides() {
        watching.abort();
        await watched;
      },
      countUsage() {
        counted = context.usage.ledger.keepWritten(counting.signal);
      },
      async endUsage() {
        counting.abort();
        await counted;
      },
      async close() {
        await Promise.all([invoker?.close(), thread?.close(), pushThread?.close(), maintenance.close()]);
        await storage.close();
      },
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}
