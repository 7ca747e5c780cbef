/** Puts the store together on one machine: stores, services, routes, gateway. */
import type { Config } from '../shared/admin/config-fields.ts';
import { createMetrics } from '../shared/admin/metrics/metrics.ts';
import { OverridesWatch } from '../shared/admin/overrides-watch.ts';
import { Catalog } from '../shared/catalog/catalog.ts';
import { IngestExchange } from '../shared/catalog/ingest-exchange.ts';
import { UsageRecords } from '../shared/catalog/usage-records.ts';
import { assembleContext } from '../shared/http/assemble.ts';
import { createDispatcher } from '../shared/http/dispatch.ts';
import { createQueryTurns } from '../shared/http/query-turns.ts';
import { createRequestLimits } from '../shared/http/request-limits.ts';
import { createRouter } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';
import { createConnectionsApi } from './connections-api.ts';
import { startGateway } from './gateway.ts';
import { fetchClient } from './http-client.ts';
import { createLog } from './log.ts';
import { overridesSources } from './overrides-file.ts';
import { ruleFilesReader } from './rule-files.ts';
import { type Scheduler, startScheduler } from './scheduler.ts';
import { startLocalTails } from './start-tails.ts';
import { openStorage, type StorageOptions } from './storage.ts';
import { systemClock, systemIds } from './system-clock.ts';
import { isTailUpgrade } from './websocket.ts';
import { createWorkerPool, defaultWorkers } from './worker-pool.ts';

export interface LocalOptions {
  readonly config: Config;
  readonly storage: StorageOptions;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly logLevel: Parameters<typeof createLog>[0];
}

export interface LocalStore {
  /** For example `http://localhost:3100`. */
  readonly url: string;
  /** Lets running requests end, then closes the stores. */
  stop(): Promise<void>;
}

export async function startLocal(options: LocalOptions): Promise<LocalStore> {
  const { config, host, port, logLevel } = options;
  const log = createLog(logLevel);
  const storage = await openStorage(options.storage);
  const overrides = new OverridesWatch({
    sources: overridesSources(config.runtime, storage.store),
    defaults: config.limits,
    clock: systemClock,
    periodMs: config.runtime.periodMs,
    log,
  });
  await overrides.load().catch(async error => {
    await storage.close();
    throw error;
  });
  const { queryWorkers, pageCacheBytes } = config.logboom;
  const workers = queryWorkers < 0 ? defaultWorkers() : queryWorkers;
  // Threads start when a query is large enough for them.
  const invoker =
    workers === 0 ? undefined : createWorkerPool({ storage: options.storage, workers, pageCacheBytes });
  let stopping = false;
  let scheduler: Scheduler | undefined;
  const context = assembleContext({
    config,
    store: storage.store,
    catalog: new Catalog({ table: storage.table, clock: systemClock, ids: systemIds }),
    ingestExchange: new IngestExchange({ table: storage.table, clock: systemClock }),
    usageRecords: new UsageRecords(storage.table),
    metrics: createMetrics({ ofProcess: true }),
    log,
    clock: systemClock,
    ids: systemIds,
    limitsOf: overrides.limitsOf,
    invoker,
    http: fetchClient,
    foldTable: storage.foldTable,
    kick: job => scheduler?.kick(job),
    readRuleFiles: ruleFilesReader(config.ruler.storage),
    onBroken: error => log.warn({ err: error }, 'something is broken that the store can do without'),
    notReady: () => (stopping ? 'Application is stopping' : undefined),
  });
  const router = createRouter(ROUTES);
  const isShared = options.storage.kind === 's3';
  const tails = startLocalTails({ context, ids: systemIds, log, isShared });
  const gateway = await startGateway({
    host,
    port,
    dispatch: createDispatcher({
      router,
      context,
      log,
      compress: config.frontend.compressResponses,
      inTurn: createQueryTurns(config),
      observer: context.metrics.requests,
    }),
    limits: {
      ofRequest: createRequestLimits(router, config, overrides.limitsOf),
      maxConcurrentRequests: config.logboom.maxConcurrentRequests,
      maxBufferedBodyBytes: config.logboom.maxBufferedBodyBytes,
      readTimeoutMs: config.server.readTimeoutMs,
      writeTimeoutMs: config.server.writeTimeoutMs,
      idleTimeoutMs: config.server.idleTimeoutMs,
      drainTimeoutMs: config.server.gracefulShutdownTimeoutMs,
    },
    log,
    isUpgrade: isTailUpgrade,
    intercept: config.logboom.connectionsApi ? createConnectionsApi(tails.connections) : undefined,
  }).catch(async error => {
    await tails.stop();
    await invoker?.close();
    await storage.close();
    throw error;
  });
  tails.serve(gateway.server);
  scheduler = startScheduler({
    jobs: context.maintenance.jobs,
    clock: systemClock,
    log,
    runMs: config.logboom.maintenanceRunMs,
  });
  const watching = new AbortController();
  const watched = overrides.keepFresh(watching.signal);
  const counting = new AbortController();
  const counted = context.usage.ledger.keepWritten(counting.signal);
  return {
    url: gateway.url,
    stop: async () => {
      stopping = true;
      watching.abort();
      await watched;
      // Their sockets would keep the gateway open.
      await tails.stop();
      await gateway.stop();
      // The last requests are counted too.
      counting.abort();
      await counted;
      await scheduler?.stop();
      await invoker?.close();
      await storage.close();
    },
  };
}
