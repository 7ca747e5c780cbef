/** The local process put together on a storage of choice, as local/start.ts does it on its own. */
import { startGateway } from '../../../local/gateway.ts';
import { createLog } from '../../../local/log.ts';
import type { Storage } from '../../../local/storage.ts';
import { systemClock } from '../../../local/system-clock.ts';
import { parseConfig } from '../../../shared/admin/config.ts';
import { Catalog } from '../../../shared/catalog/catalog.ts';
import { assembleContext } from '../../../shared/http/assemble.ts';
import { createDispatcher } from '../../../shared/http/dispatch.ts';
import { createRequestLimits } from '../../../shared/http/request-limits.ts';
import { createRouter } from '../../../shared/http/routes.ts';
import { ROUTES } from '../../../shared/http/table.ts';
import { createClient, type HttpClient } from '../../end-to-end/support/client.ts';

export interface StoreOnStorage {
  readonly client: HttpClient;
  /** Stops the process; the storage stays open. */
  stop(): Promise<void>;
}

export async function startOn({ store, table }: Storage, yaml: string): Promise<StoreOnStorage> {
  const { config } = parseConfig(yaml, { name: 'test', environment: {} });
  const context = assembleContext({
    config,
    store,
    catalog: new Catalog(table),
    clock: systemClock,
    notReady: () => undefined,
  });
  const router = createRouter(ROUTES);
  const log = createLog('silent');
  const gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
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
  });
  const client = createClient(gateway.url);
  return {
    client,
    stop: async () => {
      client.close();
      await gateway.stop();
    },
  };
}
