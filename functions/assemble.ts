/**
 * Puts a function together, once for each process of Lambda: clients, connections and caches serve every invocation
 * after the first. Nothing is sent before a request is there.
 */
import { createLog } from '../local/log.ts';
import { systemClock, systemIds } from '../local/system-clock.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import { Catalog } from '../shared/catalog/catalog.ts';
import { assembleContext } from '../shared/http/assemble.ts';
import { createDispatcher } from '../shared/http/dispatch.ts';
import { createRequestLimits } from '../shared/http/request-limits.ts';
import { createRouter } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';
import type { ObjectStore } from '../shared/ports/object-store.ts';
import type { Table } from '../shared/ports/table.ts';
import { type FunctionName, functionOf } from './groups.ts';
import { createHandler } from './handler.ts';
import type { LambdaHandler } from './lambda-event.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';

export interface Stores {
  readonly store: ObjectStore;
  readonly table: Table;
}

/** The handler that a function exports. Throws where the environment is wrong, which ends the start of the function. */
export function createFunction(name: FunctionName, environment: Environment): LambdaHandler {
  const settings = readSettings(environment);
  return assemble(name, settings, openAwsStorage({ ...settings, clock: systemClock, ids: systemIds }));
}

/** The handler over given stores. */
export function assemble(
  name: FunctionName,
  { config, warnings }: Pick<Settings, 'config' | 'warnings'>,
  { store, table }: Stores,
): LambdaHandler {
  const log = createLog(config.server.logLevel);
  for (const warning of warnings) log.warn(warning);
  const context = assembleContext({
    config,
    store,
    catalog: new Catalog({ table, clock: systemClock, ids: systemIds }),
    clock: systemClock,
    ids: systemIds,
    notReady: () => undefined,
  });
  const router = createRouter(ROUTES.filter(route => functionOf(route) === name));
  return createHandler({
    name,
    dispatch: createDispatcher({ router, context, log, compress: config.frontend.compressResponses }),
    limitsOf: createRequestLimits(router, config),
    log,
    nowMs: systemClock.nowMs,
  });
}
