/**
 * Puts a function together, once for each process of Lambda: clients, connections and caches serve every invocation
 * after the first. Nothing is sent before a request is there.
 */
import { fetchClient } from '../local/http-client.ts';
import { createLog, type Log } from '../local/log.ts';
import { overridesSources } from '../local/overrides-file.ts';
import { systemClock, systemIds } from '../local/system-clock.ts';
import { createMetrics } from '../shared/admin/metrics/metrics.ts';
import { OverridesWatch } from '../shared/admin/overrides-watch.ts';
import { createLambdaInvoker } from '../shared/aws/lambda-invoker.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import {
  createLambdaClient,
  tailWaker as createTailWaker,
  type TailWaker,
} from '../shared/aws/tail-waker.ts';
import { Catalog } from '../shared/catalog/catalog.ts';
import { IngestExchange } from '../shared/catalog/ingest-exchange.ts';
import { UsageRecords } from '../shared/catalog/usage-records.ts';
import { assembleContext } from '../shared/http/assemble.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { createDispatcher } from '../shared/http/dispatch.ts';
import { createRequestLimits } from '../shared/http/request-limits.ts';
import { createRouter } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ObjectStore } from '../shared/ports/object-store.ts';
import type { Table } from '../shared/ports/table.ts';
import { inlineInvoker } from '../shared/query/tasks/inline-invoker.ts';
import type { UsageLedger } from '../shared/usage/usage-ledger.ts';
import { type EventFunctionName, type FunctionName, functionOf, type TailFunctionName } from './groups.ts';
import { createHandler } from './handler.ts';
import { isHttpApiEvent, type LambdaContext, type LambdaHandler } from './lambda-event.ts';
import { createScheduledHandler } from './scheduled-event.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';

/** An answer waits this long at most, once a minute, for usage to be written: nothing runs once it is given. */
const USAGE_WAIT_MS = 250;

export interface Stores {
  readonly store: ObjectStore;
  readonly table: Table;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

export type StoreSettings = Pick<Settings, 'config' | 'warnings' | 'tailFunction' | 'queryWorker'>;

export interface AssembledStore {
  readonly context: HttpContext;
  readonly overrides: OverridesWatch;
  readonly log: Log;
  /** Calls the dispatcher of live tails; undefined where there is none. */
  readonly tailWaker: TailWaker | undefined;
}

/** Of a function that takes events of several kinds: what it returns depends on the kind. */
export type EventHandler = (event: unknown, context: LambdaContext) => Promise<unknown>;

/** The handler that a function exports. Throws where the environment is wrong, which ends the start of the function. */
export function createFunction(name: FunctionName, environment: Environment): LambdaHandler {
  const settings = readSettings(environment);
  return assemble(name, settings, openAwsStorage({ ...settings, clock: systemClock, ids: systemIds }));
}

/** The same for the maintenance function, which schedules call too. */
export function createMaintenanceFunction(environment: Environment): EventHandler {
  const settings = readSettings(environment);
  const stores = openAwsStorage({ ...settings, clock: systemClock, ids: systemIds });
  return assembleMaintenanceFunction(settings, stores);
}

/** The store's services over given stores, for a function of any kind. */
export function assembleStore(
  name: FunctionName | EventFunctionName | TailFunctionName,
  { config, warnings, tailFunction, queryWorker }: StoreSettings,
  { store, table, clock = systemClock }: Stores,
): AssembledStore {
  const log = createLog(config.server.logLevel);
  for (const warning of warnings) log.warn(warning);
  const overrides = new OverridesWatch({
    // What is light needs no limits, and its function may not read the store.
    sources: name === 'status' ? [] : overridesSources(config.runtime, store),
    defaults: config.limits,
    clock,
    periodMs: config.runtime.periodMs,
    log,
  });
  const context = assembleContext({
    config,
    store,
    catalog: new Catalog({ table, clock, ids: systemIds }),
    ingestExchange: new IngestExchange({ table, clock }),
    usageRecords: new UsageRecords(table),
    metrics: createMetrics({ ofProcess: true }),
    log,
    clock,
    ids: systemIds,
    limitsOf: overrides.limitsOf,
    http: fetchClient,
    invoker:
      name === 'query' && queryWorker !== undefined
        ? createLambdaInvoker(queryWorker, inlineInvoker({ store, clock }))
        : undefined,
    notReady: () => undefined,
  });
  const tailWaker =
    tailFunction === undefined
      ? undefined
      : createTailWaker({
          client: createLambdaClient(),
          functionName: tailFunction,
          clock,
          log,
        });
  tailWaker?.follow(context.reading.catalog.tailLog);
  return { context, overrides, log, tailWaker };
}

/** The handler over given stores. */
export function assemble(name: FunctionName, settings: StoreSettings, stores: Stores): LambdaHandler {
  return createHttpHandler(name, settings.config, assembleStore(name, settings, stores));
}

/** Requests of the API, and for everything else the schedules. */
export function assembleMaintenanceFunction(
  settings: Pick<Settings, 'config' | 'warnings'>,
  stores: Stores,
): EventHandler {
  const assembled = assembleStore('maintenance', settings, stores);
  const onRequest = createHttpHandler('maintenance', settings.config, assembled);
  const { jobs } = assembled.context.maintenance;
  const onSchedule = createScheduledHandler({ jobs, clock: systemClock, log: assembled.log });
  return (event, context) => (isHttpApiEvent(event) ? onRequest(event, context) : onSchedule(event, context));
}

function createHttpHandler(
  name: FunctionName,
  config: Settings['config'],
  { context, overrides, log, tailWaker }: AssembledStore,
): LambdaHandler {
  const router = createRouter(ROUTES.filter(route => functionOf(route) === name));
  const dispatch = createDispatcher({
    router,
    context,
    log,
    compress: config.frontend.compressResponses,
    observer: context.metrics.requests,
  });
  return createHandler({
    name,
    dispatch: async request => {
      await overrides.refreshIfDue();
      const response = await dispatch(request);
      await writeUsage(context.usage.ledger);
      await tailWaker?.settled();
      return response;
    },
    limitsOf: createRequestLimits(router, config, overrides.limitsOf),
    log,
    nowMs: systemClock.nowMs,
  });
}

/** Writes usage where it is time to: what is not counted in the table is lost with the process. Never rejects. */
export async function writeUsage(ledger: UsageLedger): Promise<void> {
  const written = new AbortController();
  const write = ledger.writeIfDue().finally(() => written.abort());
  await Promise.race([write, systemClock.sleep(USAGE_WAIT_MS, written.signal).catch(() => undefined)]);
}
