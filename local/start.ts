/**
 * The store on one machine: the gateway listens first and says that the rest is starting, then each service starts, and they
 * stop in the opposite order.
 */
import type { Server } from 'node:http';
import type { Config, LogLevel } from '../shared/admin/config-fields.ts';
import { addConnectionMetrics, addLogMetrics } from '../shared/admin/metrics/process-metrics.ts';
import { Services } from '../shared/admin/services.ts';
import { componentsOf, workOf } from '../shared/admin/targets.ts';
import { createDispatcher } from '../shared/http/dispatch.ts';
import { errorResponse } from '../shared/http/errors.ts';
import { headCheck } from '../shared/http/guard.ts';
import type { Request, Response } from '../shared/http/message.ts';
import { createQueryTurns } from '../shared/http/query-turns.ts';
import { createRequestLimits } from '../shared/http/request-limits.ts';
import { createRouter } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';
import { isExposed, routesOf } from '../shared/http/targets.ts';
import { answerPage } from '../shared/http/ui.ts';
import { type AssembledLocal, assembleLocal } from './assemble-local.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import { createLog, linesOf } from './log.ts';
import { type Scheduler, startScheduler } from './scheduler.ts';
import type { StorageOptions } from './storage.ts';
import { systemClock } from './system-clock.ts';
import { createPageFiles } from './ui.ts';
import { isTailUpgrade } from './websocket.ts';

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
  const { config, host, port } = options;
  const { target } = config.auth;
  const log = createLog(options.logLevel);
  const router = createRouter(routesOf(target, ROUTES));
  let local: AssembledLocal | undefined;
  let dispatch: ((request: Request) => Promise<Response>) | undefined;
  let admit: GatewayOptions['admit'];
  const notReady = async () => errorResponse(503, services.notReady() ?? 'Application is starting', 'push');
  // The page asks what a front end answers.
  const page = isExposed(target, { component: 'query-frontend' })
    ? createPageFiles({ warn: message => log.warn(message) })
    : undefined;
  const gateway = await startGateway({
    host,
    port,
    dispatch: async request => (page && (await answerPage(request, page))) ?? (dispatch ?? notReady)(request),
    admit: async head => admit?.(head),
    limits: {
      ...gatewayLimits(config),
      ofRequest: createRequestLimits(router, config, tenant => local?.limitsOf(tenant) ?? config.limits),
    },
    log,
    isUpgrade: request => dispatch !== undefined && isTailUpgrade(request),
    intercept: (request, response) => local?.intercept?.(request, response) ?? false,
  });

  let scheduler: Scheduler | undefined;
  const schedule = async () => {
    const { context } = local!;
    const work = workOf(target);
    scheduler = startScheduler({
      jobs: context.maintenance.jobs,
      does: ({ name }) => {
        if (name === 'index-sync') return work.syncsIndexes;
        return name === 'rules' ? work.evaluatesRules : work.maintains;
      },
      clock: systemClock,
      log,
      runMs: config.logboom.maintenanceRunMs,
    });
  };
  const serve = async () => {
    const { context } = local!;
    const { registry } = context.metrics;
    addLogMetrics(registry, () => linesOf(log));
    addConnectionMetrics(registry, connectionCount(gateway.server));
    admit = headCheck(router, context.access.guard);
    dispatch = createDispatcher({
      router,
      context,
      guard: context.access.guard,
      log,
      compress: config.frontend.compressResponses,
      inTurn: createQueryTurns({ config, registry, turns: context.reading.source.turns }),
      observer: context.metrics.requests,
    });
    local!.tails.serve(gateway.server);
  };
  const services: Services = new Services([
    {
      name: 'store',
      start: async () => {
        local = await assembleLocal({
          ...options,
          port: gateway.port,
          log,
          logLevel: {
            get: async () => log.level as LogLevel,
            set: async level => {
              log.level = level;
            },
          },
          services,
          kick: job => scheduler?.kick(job),
        });
      },
      stop: () => local!.close(),
    },
    { name: 'runtime-config', start: async () => local!.watchOverrides(), stop: () => local!.endOverrides() },
    { name: 'usage', start: async () => local!.countUsage(), stop: () => local!.endUsage() },
    // What each of these does hangs on requests alone, or on the timer.
    ...componentsOf(target).map(name => ({ name })),
    { name: 'scheduler', start: schedule, stop: async () => scheduler?.stop() },
    { name: 'server', start: serve, stop: () => gateway.stop() },
    // Their sockets would keep the gateway open.
    { name: 'tail', stop: () => local!.tails.stop() },
    { name: 'ring', start: () => local!.instance.join(), stop: () => leave(local!) },
  ]);
  try {
    await services.start();
  } catch (error) {
    await services.stop().catch(later => log.error({ err: later }, 'what had started could not be stopped'));
    await gateway.stop();
    throw error;
  }
  return { url: gateway.url, stop: () => services.stop() };
}

/** Counts from now on; what is open already belongs to whoever asks while the store starts. */
function connectionCount(server: Server): () => number {
  let open = 0;
  server.on('connection', socket => {
    open++;
    socket.once('close', () => open--);
  });
  return () => open;
}

/** The last that a process does while it still serves. */
async function leave({ context, instance }: AssembledLocal): Promise<void> {
  await instance.leaving();
  await context.shutdown.atStop();
  await instance.end();
}

function gatewayLimits({ logboom, server }: Config): Omit<GatewayOptions['limits'], 'ofRequest'> {
  return {
    maxConcurrentRequests: logboom.maxConcurrentRequests,
    maxBufferedBodyBytes: logboom.maxBufferedBodyBytes,
    readTimeoutMs: server.readTimeoutMs,
    writeTimeoutMs: server.writeTimeoutMs,
    idleTimeoutMs: server.idleTimeoutMs,
    drainTimeoutMs: server.gracefulShutdownTimeoutMs,
  };
}
