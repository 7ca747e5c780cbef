/** Puts the store together on one machine: embedded stores, services, routes, gateway. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../shared/admin/config-fields.ts';
import { Catalog } from '../shared/catalog/catalog.ts';
import { assembleContext } from '../shared/http/assemble.ts';
import { createDispatcher } from '../shared/http/dispatch.ts';
import { createRequestLimits } from '../shared/http/request-limits.ts';
import { createRouter } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';
import { openFileObjectStore } from './file-object-store.ts';
import { startGateway } from './gateway.ts';
import { createLog } from './log.ts';
import { openSqliteTable } from './sqlite-table.ts';
import { systemClock } from './system-clock.ts';

export interface LocalOptions {
  readonly config: Config;
  readonly dataDir: string;
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

/** Beside the folders of the object store, in the data directory. */
const TABLE_FILE = 'catalog.sqlite';

export async function startLocal(options: LocalOptions): Promise<LocalStore> {
  const { config, dataDir, host, port, logLevel } = options;
  const log = createLog(logLevel);
  await mkdir(dataDir, { recursive: true });
  const store = await openFileObjectStore(dataDir);
  const table = await openSqliteTable(join(dataDir, TABLE_FILE));
  let stopping = false;
  const context = assembleContext({
    config,
    store,
    catalog: new Catalog(table),
    clock: systemClock,
    notReady: () => (stopping ? 'Application is stopping' : undefined),
  });
  const router = createRouter(ROUTES);
  const gateway = await startGateway({
    host,
    port,
    dispatch: createDispatcher({ router, context, log, compress: config.frontend.compressResponses }),
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
    await table.close();
    throw error;
  });
  return {
    url: gateway.url,
    stop: async () => {
      stopping = true;
      await gateway.stop();
      await table.close();
    },
  };
}
