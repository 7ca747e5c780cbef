/** Puts the store together on one machine: stores, services, routes, gateway. */
import type { Config } from '../shared/admin/config-fields.ts';
import { Catalog } from '../shared/catalog/catalog.ts';
import { assembleContext } from '../shared/http/assemble.ts';
import { createDispatcher } from '../shared/http/dispatch.ts';
import { createRequestLimits } from '../shared/http/request-limits.ts';
import { createRouter } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';
import { createGate } from './gate.ts';
import { startGateway } from './gateway.ts';
import { createLog } from './log.ts';
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
  let stopping = false;
  const context = assembleContext({
    config,
    store: storage.store,
    catalog: new Catalog({ table: storage.table, clock: systemClock, ids: systemIds }),
    clock: systemClock,
    ids: systemIds,
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
    }),
    limits: {
      ofRequest: createRequestLimits(router, config),
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
  return {
    url: gateway.url,
    stop: async () => {
      stopping = true;
      await gateway.stop();
      await storage.close();
    },
  };
}
