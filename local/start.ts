/** Puts the store together on one machine: stores, services, routes, gateway. */
import type { Config } from '../shared/admin/config-fields.ts';
import { createMetrics } from '../shared/admin/metrics/metrics.ts';
import { OverridesWatch } from '../shared/admin/overrides-watch.ts';
import { Catalog } from '../shared/catalog/catalog.ts';
import { IngestExchange } from '../shared/catalog/ingest-exchange.ts';
import { UsageRecords } from '../shared/catalog/usage-records.ts';
import { assembleContext } from '../shared/http/assemble.ts';
import { createDispatcher } from '../shared/http/dispatch.ts';
import { createRequestLimits } from '../shared/http/request-limits.ts';
import { createRouter } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';
import { createGate } from './gate.ts';
import { startGateway } from './gateway.ts';
import { createLog } from './log.ts';
import { overridesSources } from './overrides-file.ts';
import { type Scheduler, startScheduler } from './scheduler.ts';
import { openStorage, type StorageOptions } from './storage.ts';
import { systemClock, systemIds } from './system-clock.ts';

/**
 * Queries share one thread: more of them at once end no sooner, and each holds its plan and its pages. The others wait
 * in the order in which they came.
 */
const MAX_QUERIES_AT_ONCE = 32;

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
    foldTable: storage.foldTable,
    kick: job => scheduler?.kick(job),
    onBroken: error => log.warn({ err: error }, 'an index is broken; its footers are read instead'),
    notReady: () => (stopping ? 'Application is stopping' : undefined),
  });
  const router = createRouter(ROUTES);
  const queries = createGate(MAX_QUERIES_AT_ONCE);
  const gateway = await startGateway({
    host,
    port,
    dispatch: createDispatcher({
      router,
      context,
      log,
      compress: config.frontend.compressResponses,
      inTurn: (cost, task) => (cost === 'query' ? queries(task) : task()),
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
  }).catch(async error => {
    await storage.close();
    throw error;
  });
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
      await gateway.stop();
      // The last requests are counted too.
      counting.abort();
      await counted;
      await scheduler?.stop();
      await storage.close();
    },
  };
}
