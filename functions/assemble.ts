/**
 * Assembles a function once per Lambda execution environment. Clients, connections and caches serve every
 * invocation after the first. No request is sent before the first invocation.
 */

import { lambdaClient } from '../shared/aws/lambda-client.ts';
import { createLambdaInvoker, DEFAULT_SLOTS } from '../shared/aws/lambda-invoker.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import { tailWaker as createTailWaker, type TailWaker } from '../shared/aws/tail-waker.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import { lazily } from '../shared/base/model/lazily.ts';
import { MS_PER_MINUTE } from '../shared/base/model/time-units.ts';
import type { Clock } from '../shared/base/ports/clock.ts';
import type { Invoker } from '../shared/base/ports/invoker.ts';
import type { ObjectStore } from '../shared/base/ports/object-store.ts';
import type { Table } from '../shared/base/ports/table.ts';
import { FETCH_CLIENT } from '../shared/base/runtime/http-client.ts';
import { createLazyLog, type Log, linesOf } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { inlineInvoker } from '../shared/read/query/tasks/inline-invoker.ts';
import { functionTaskSizes } from '../shared/read/query/tasks/plan-tasks.ts';
import type { LogLevel } from '../shared/server/admin/config-fields.ts';
import { foldFleet, MAX_TENANTS_OF_INSTANCE } from '../shared/server/admin/fleet-figures.ts';
import { createMetrics, retentionHours } from '../shared/server/admin/metrics/metrics.ts';
import { addLogMetrics } from '../shared/server/admin/metrics/process-metrics.ts';
import { overridesSources } from '../shared/server/admin/overrides-file.ts';
import { OverridesWatch } from '../shared/server/admin/overrides-watch.ts';
import { Services } from '../shared/server/admin/services.ts';
import { assembleContext } from '../shared/server/http/assemble.ts';
import type { HttpContext } from '../shared/server/http/context.ts';
import { createDispatcher } from '../shared/server/http/dispatch.ts';
import { createQueryTimeout } from '../shared/server/http/query-timeout.ts';
import { createRequestLimits } from '../shared/server/http/request-limits.ts';
import { ROUTES } from '../shared/server/http/route-table.ts';
import { createRouter } from '../shared/server/http/routes.ts';
import { Catalog } from '../shared/storage/catalog/catalog.ts';
import { IngestExchange } from '../shared/storage/catalog/ingest-exchange.ts';
import { UsageRecords } from '../shared/storage/catalog/usage-records.ts';
import { backlogReporter } from './backlog.ts';
import {
  componentsOfFunction,
  type EventFunctionName,
  type FunctionName,
  functionOf,
  type TailFunctionName,
} from './groups.ts';
import { createHandler } from './handler.ts';
import { createInstanceReporter, type InstanceReporter, printsMetrics } from './instance.ts';
import { isHttpApiEvent, type LambdaContext, type LambdaHandler } from './lambda-event.ts';
import { createScheduledHandler } from './scheduled-event.ts';
import { type FunctionSettings, readSettings } from './settings.ts';
import { createTaskHandler, isTaskEvent } from './task-handler.ts';

/**
 * Maximum delay of a response, once a minute, to write usage and counters. Nothing runs after the response.
 */
const WRITE_WAIT_MS = 250;
/** Instances are folded 15 minutes after they end, so a delay of a few more minutes does not matter. */
const FOLD_EVERY_MS = 5 * MS_PER_MINUTE;
/** Group name of all jobs in the embedded metrics. */
const JOBS_GROUP = 'jobs';
/** Group name of merge tasks that another instance has planned, in the embedded metrics. */
const MERGES_GROUP = 'merges';

export interface Stores {
  readonly store: ObjectStore;
  readonly table: Table;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Variables that name the instance (instance.ts). Default: no variables. */
  readonly environment?: Environment;
  /** Prints a line of embedded metrics. Default: standard output on Lambda, nothing on other platforms. */
  readonly print?: (line: string) => void;
}

type StoreSettings = Pick<
  FunctionSettings,
  'config' | 'warnings' | 'tailFunction' | 'queryWorker' | 'queryWorkerCalls' | 'trustsAuthorizer'
>;

export interface AssembledStore {
  readonly context: HttpContext;
  readonly overrides: OverridesWatch;
  readonly log: Log;
  /** Calls the dispatcher of live tails. `undefined` if the stack has no dispatcher. */
  readonly tailWaker: TailWaker | undefined;
  readonly instance: InstanceReporter;
}

/** Handler of a function that accepts several kinds of events. The kind decides the result. */
type EventHandler = (event: unknown, context: LambdaContext) => Promise<unknown>;

/**
 * Creates the handler that a function exports. Throws if the environment is invalid, which ends the start of
 * the function.
 */
export function createFunction(name: FunctionName, environment: Environment): LambdaHandler {
  const settings = readSettings(environment);
  const storage = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  return assemble(name, settings, { ...storage, environment });
}

/** Same as createFunction, for the maintenance function, which schedules call too. */
export function createMaintenanceFunction(environment: Environment): EventHandler {
  const settings = readSettings(environment);
  const storage = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  return assembleMaintenanceFunction(settings, { ...storage, environment });
}

/** Same as createFunction, for the function that serves all routes and runs all jobs. */
export function createAllInOneFunction(environment: Environment): EventHandler {
  const settings = readSettings(environment);
  const storage = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  return assembleAllInOne(settings, { ...storage, environment });
}

/** Assembles the services over given stores, for a function of any kind. */
export function assembleStore(
  name: FunctionName | EventFunctionName | TailFunctionName,
  { config, warnings, tailFunction, queryWorker, queryWorkerCalls, trustsAuthorizer }: StoreSettings,
  { store, table, clock = SYSTEM_CLOCK, environment = {}, print = printerOf(environment) }: Stores,
): AssembledStore {
  const log = createLazyLog(config.server.logLevel);
  for (const warning of warnings) log.warn(warning);
  const overrides = new OverridesWatch({
    // The status function needs no limits, and it may have no permission to read the store.
    sources: name === 'status' ? [] : overridesSources(config.runtime, store),
    defaults: config.limits,
    clock,
    periodMs: config.runtime.periodMs,
    log,
  });
  const catalog = new Catalog({ table, clock, ids: SYSTEM_IDS });
  const metrics = createMetrics({
    // Process metrics are useful only in the function that serves `GET /metrics`.
    ofProcess: name === 'status',
    maxNamedTenants: MAX_TENANTS_OF_INSTANCE,
    retentionHoursOf: tenant => retentionHours(overrides.limitsOf(tenant)),
  });
  const services = new Services(
    ['store', 'runtime-config', ...componentsOfFunction(name), 'server'].map(service => ({ name: service })),
  );
  void services.start();
  addLogMetrics(metrics.registry, () => linesOf(log));
  const setLogLevel = (level: LogLevel) => {
    log.level = level;
  };
  const ranIn = environment.AWS_LAMBDA_FUNCTION_NAME || name;
  const context = assembleContext({
    config,
    store,
    catalog,
    ingestExchange: new IngestExchange({ table, clock }),
    usageRecords: new UsageRecords(table),
    metrics,
    log,
    auditLog: log,
    clock,
    ids: SYSTEM_IDS,
    limitsOf: overrides.limitsOf,
    http: FETCH_CLIENT,
    invoker:
      name === 'query' && queryWorker !== undefined
        ? createLambdaInvoker({
            functionName: queryWorker,
            here: inlineInvoker({ store, clock, ranIn }),
            slots: queryWorkerCalls,
            clock,
          })
        : undefined,
    mergeOffload: name === 'maintenance' ? mergeOffload(config, environment, clock) : undefined,
    taskSizes: functionTaskSizes(queryWorkerCalls ?? DEFAULT_SLOTS),
    ranIn,
    trustsAuthorizer,
    isFleet: true,
    logLevel: {
      get: async () => log.level as LogLevel,
      set: async level => setLogLevel(level),
    },
    services: () => services.list(),
    notReady: () => services.notReady(),
  });
  const instance = createInstanceReporter({
    name,
    environment,
    catalog,
    metrics,
    clock,
    ids: SYSTEM_IDS,
    log,
    onSettings: ({ logLevel = config.server.logLevel }) => setLogLevel(logLevel),
    print,
  });
  const tailWaker =
    tailFunction === undefined
      ? undefined
      : createTailWaker({
          client: lambdaClient(),
          functionName: tailFunction,
          clock,
          log,
        });
  tailWaker?.follow(catalog.tailLog);
  return { context, overrides, log, tailWaker, instance };
}

/**
 * Lets other instances run merges of a large tenant's day, up to the configured number. The maintenance
 * function calls itself, only one level deep.
 */
function mergeOffload(
  { logboom: { maxCompactionFunctions: slots } }: FunctionSettings['config'],
  { AWS_LAMBDA_FUNCTION_NAME: functionName }: Environment,
  clock: Clock,
) {
  if (!functionName || slots === 1) return undefined;
  // A second call would wait for the lease of the part that the first one merges.
  return (here: Invoker) => createLambdaInvoker({ functionName, here, slots, isHedged: false, clock });
}

/**
 * Writes to standard output, and only on Lambda. Pitfall: the prefix that Lambda adds to console.log output
 * hides metrics from CloudWatch.
 */
function printerOf({ AWS_LAMBDA_FUNCTION_NAME: name }: Environment): (line: string) => void {
  return name ? line => void process.stdout.write(`${line}\n`) : () => undefined;
}

/** Creates the handler of an HTTP function over given stores. */
export function assemble(name: FunctionName, settings: StoreSettings, stores: Stores): LambdaHandler {
  return createHttpHandler(name, settings.config, assembleStore(name, settings, stores));
}

/** Creates a handler that serves HTTP events and treats every other event as a schedule. */
export function assembleMaintenanceFunction(
  settings: Pick<FunctionSettings, 'config' | 'warnings' | 'trustsAuthorizer'>,
  stores: Stores,
): EventHandler {
  const assembled = assembleStore('maintenance', settings, stores);
  return withJobs(createHttpHandler('maintenance', settings.config, assembled), assembled, stores);
}

/** Serves all routes and jobs in one function, for a deployment without a gateway that routes by path. */
export function assembleAllInOne(
  settings: Pick<FunctionSettings, 'config' | 'warnings' | 'trustsAuthorizer'>,
  stores: Stores,
): EventHandler {
  const assembled = assembleStore('maintenance', settings, stores);
  return withJobs(createHttpHandler('all', settings.config, assembled), assembled, stores);
}

function withJobs(onRequest: LambdaHandler, assembled: AssembledStore, stores: Stores): EventHandler {
  const { instance, log } = assembled;
  const { clock = SYSTEM_CLOCK } = stores;
  // A request may need no maintenance.
  const handlers = lazily(() => {
    const { jobs, mergeTask } = assembled.context.maintenance;
    return {
      onSchedule: createScheduledHandler({ jobs, clock, log }),
      onMerge: mergeTask && createTaskHandler(mergeTask),
    };
  });
  const foldIfDue = fleetFolder(assembled, clock);
  const { environment = {}, print = printerOf(environment) } = stores;
  const reportBacklog = backlogReporter({
    read: async () => (await assembled.context.maintenance.status()).backlog,
    functionName: environment.AWS_LAMBDA_FUNCTION_NAME || 'maintenance',
    nowMs: () => clock.nowMs(),
    print,
    warn: error => log.warn({ err: error }, 'counting the backlog failed'),
  });
  return async (event, context) => {
    if (isHttpApiEvent(event)) return onRequest(event, context);
    const { onSchedule, onMerge } = handlers();
    if (onMerge !== undefined && isTaskEvent(event)) {
      try {
        return await instance.counted(MERGES_GROUP, () => onMerge(event, context));
      } finally {
        await settleInstance(assembled);
      }
    }
    try {
      return await instance.counted(JOBS_GROUP, () => onSchedule(event, context));
    } finally {
      await foldIfDue();
      if (printsMetrics(environment)) await reportBacklog();
      await settleInstance(assembled);
    }
  };
}

/** Removes ended instances from the fleet. Never rejects: the next call retries. */
function fleetFolder({ context: { members }, log }: AssembledStore, clock: Clock): () => Promise<void> {
  let foldedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.nowMs() - foldedMs < FOLD_EVERY_MS) return;
    foldedMs = clock.nowMs();
    await foldFleet(members.instances, clock).catch(error => {
      log.warn({ err: error }, 'adding the counters of ended instances failed');
    });
  };
}

function createHttpHandler(
  name: FunctionName | 'all',
  config: FunctionSettings['config'],
  assembled: AssembledStore,
): LambdaHandler {
  const { context, overrides, log, tailWaker, instance } = assembled;
  const router = createRouter(ROUTES.filter(route => name === 'all' || functionOf(route) === name));
  const nameOf = (method: string, path: string): FunctionName => {
    if (name !== 'all') return name;
    const match = router.match(method, path);
    return match.kind === 'route' ? functionOf(match.route) : 'status';
  };
  const dispatch = createDispatcher({
    router,
    context,
    guard: context.access.guard,
    log,
    compress: config.frontend.compressResponses,
    withTimeout: createQueryTimeout(SYSTEM_CLOCK, overrides.limitsOf),
    observer: instance.observer,
  });
  return createHandler({
    nameOf,
    dispatch: async request => {
      await overrides.refreshIfDue();
      const response = await dispatch(request);
      await settleInstance(assembled);
      await tailWaker?.settled();
      return response;
    },
    limitsOf: createRequestLimits(router, config),
    log,
    nowMs: SYSTEM_CLOCK.nowMs,
  });
}

/** Writes usage and counters if a write is due. Unwritten values are lost with the process. Never rejects. */
export async function settleInstance({
  context,
  instance,
}: Pick<AssembledStore, 'context' | 'instance'>): Promise<void> {
  const written = new AbortController();
  const writes = [context.usage.ledger.writeIfDue(), instance.settle()];
  const write = Promise.all(writes).finally(() => written.abort());
  await Promise.race([write, SYSTEM_CLOCK.sleep(WRITE_WAIT_MS, written.signal).catch(() => undefined)]);
}
