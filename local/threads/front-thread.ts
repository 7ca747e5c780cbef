/**
 * Further front thread. It listens on the same port, so the system gives it a share of the connections. It
 * admits pushes and passes them to its own ingest threads. It passes all other requests unchanged to the
 * first front, which also provides everything that must be in one thread.
 */
import type { Server } from 'node:http';
import { MessagePort, workerData } from 'node:worker_threads';
import { useKernelModule } from '../../shared/base/kernels/kernels.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { processText } from '../../shared/server/admin/fleet-figures.ts';
import { createMetrics, retentionHours } from '../../shared/server/admin/metrics/metrics.ts';
import { addConnectionMetrics } from '../../shared/server/admin/metrics/process-metrics.ts';
import { addOpenTails } from '../../shared/server/admin/metrics/tail-metrics.ts';
import { addThreadMetrics } from '../../shared/server/admin/metrics/thread-metrics.ts';
import { overridesSources } from '../../shared/server/admin/overrides-file.ts';
import { OverridesWatch } from '../../shared/server/admin/overrides-watch.ts';
import { createAdmission } from '../../shared/server/http/admission.ts';
import { assembleAccess } from '../../shared/server/http/assemble-access.ts';
import { SOCKET_FRAMES } from '../../shared/server/http/assemble-tail.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import { headCheck } from '../../shared/server/http/guard.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { createRequestLimits } from '../../shared/server/http/request-limits.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter, type Route } from '../../shared/server/http/routes.ts';
import { routesOf } from '../../shared/server/http/targets.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { runInBackground } from '../background.ts';
import { createConnectionsApi } from '../connections-api.ts';
import { ALL_ROUTES, createForwarding } from '../forward/forward.ts';
import { connectionCount, startGateway } from '../gateway.ts';
import { configOfFront, gatewayLimits } from '../gateway-limits.ts';
import { endAllTails } from '../start-tails.ts';
import { openStorage, SMALL_TABLE_CACHE_BYTES } from '../storage.ts';
import { keepMemorySmall } from '../thread-memory.ts';
import { isTailUpgrade, startTailSockets } from '../websocket.ts';
import { socketConnections } from '../websocket-connections.ts';
import { forwardedTable, movedBodies } from './forwarded-table.ts';
import type { FrontAnswer, FrontAsk, FrontCall, FrontData, ToldFront } from './front-messages.ts';
import type { Moved } from './messages.ts';
import { PushAffinity } from './push-affinity.ts';
import { remoteConnections } from './remote-connections.ts';
import type { RoleAsk, RoleData, RoleTell } from './role-messages.ts';
import { RolePool } from './role-pool.ts';
import { type Starter, serveThread, type ThreadService } from './serve-thread.ts';
import { forgetPushes } from './shared-pushes.ts';
import {
  answerOnce,
  pushSlotsOf,
  type RoleThread,
  requestCall,
  startRoleThread,
} from './start-role-thread.ts';
import type { ThreadHub } from './thread-client.ts';
import { ThreadFigures } from './thread-figures.ts';
import { createThreadLog } from './thread-log.ts';
import { within } from './within.ts';

/** Timeout for a thread to write its usage. */
const USAGE_MS = 2_000;
const NOTHING: Moved<FrontAnswer> = { value: {} };

serveThread<FrontCall, FrontAnswer>(starter => openFrontThread(workerData as FrontData, starter));

async function openFrontThread(
  data: FrontData,
  starter: Starter,
): Promise<ThreadService<FrontCall, FrontAnswer>> {
  const { index, fronts, host, port } = data;
  const config = configOfFront(data.config, fronts);
  const { target } = config.auth;
  useKernelModule(data.kernels);
  const ask = (question: FrontAsk, options?: { signal?: AbortSignal; moved?: ArrayBuffer[] }) =>
    starter.ask(question, options);
  const log = createThreadLog((line: RoleTell) => starter.tell(line), data.isDebug);
  const storage = await openStorage(data.storage, { tableCacheBytes: SMALL_TABLE_CACHE_BYTES });
  const isEmbedded = data.storage.kind === 'embedded';
  const table = isEmbedded
    ? forwardedTable(storage.table, async writes => {
        await ask({ kind: 'write', writes }, { moved: movedBodies(writes) });
      })
    : storage.table;
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const overrides = new OverridesWatch({
    sources: overridesSources(config.runtime, storage.store),
    defaults: config.limits,
    clock: SYSTEM_CLOCK,
    periodMs: config.runtime.periodMs,
    log,
  });
  await overrides.load();
  const { limitsOf } = overrides;
  const metrics = createMetrics({ retentionHoursOf: tenant => retentionHours(limitsOf(tenant)) });
  const { registry } = metrics;
  const access = assembleAccess({
    config,
    catalog,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    registry,
    auditLog: log,
  });

  const ingest = ingestPool(data, starter, log);
  const affinity = new PushAffinity(ingest.pool);
  const routes = routesOf(target, ROUTES);
  const router = createRouter(routes);
  const isPush = (route: Route<never>) => route.cost === 'push';
  const answerPush = createDispatcher({
    router: createRouter(
      routes.filter(isPush).map(route => ({
        ...route,
        handler: (_: undefined, request: HttpRequest) => answerOnce(affinity, request),
      })),
    ),
    context: undefined,
    guard: access.guard,
    log,
    compress: config.frontend.compressResponses,
    admit: createAdmission({ config, registry, pushSlots: pushSlotsOf(data.ingestThreads, data.storage) }),
    observer: metrics.requests,
  });
  const forwarding = createForwarding({ config, log });
  const ofRequest = createRequestLimits(forwarding === undefined ? router : ALL_ROUTES, config);

  async function dispatch(request: HttpRequest): Promise<HttpResponse> {
    const { method, path, signal } = request;
    if (ofRequest(method, path).cost === 'push') return answerPush(request);
    const call = requestCall(request);
    return (await ask(call as Extract<FrontAsk, { kind: 'request' }>, { signal })) as HttpResponse;
  }

  const connections = socketConnections(SYSTEM_CLOCK, SOCKET_FRAMES.maxBytes);
  const everywhere = remoteConnections(question => starter.ask(question));
  const gateway = await startGateway({
    host,
    port,
    reusePort: true,
    dispatch,
    admit: headCheck(router, access.guard),
    limits: { ...gatewayLimits(config, fronts), ofRequest },
    forwarding,
    log,
    isUpgrade: isTailUpgrade,
    ...(config.logboom.connectionsApi && { intercept: createConnectionsApi(everywhere) }),
  });
  const tails = forwarding === undefined ? serveTails(gateway.server) : undefined;
  if (forwarding !== undefined) gateway.server.on('upgrade', forwarding.upgrade);
  addOpenTails(registry, () => connections.size);
  addConnectionMetrics(registry, connectionCount(gateway.server));
  addThreadMetrics(registry, () => ingest.pool.threads);
  const stopping = new AbortController();
  const background = { clock: SYSTEM_CLOCK, log, signal: stopping.signal };
  const kept = keepMemorySmall(`front-${index}`, { metrics, caches: [] }, background);
  const watched = runInBackground('runtime-config', () => overrides.keepFresh(stopping.signal), background);
  const figures = new ThreadFigures();

  return {
    async call(call) {
      switch (call.kind) {
        case 'post':
          return { value: { outcome: await connections.post(call.connectionId, call.message) } };
        case 'connection':
          return { value: { info: await connections.get(call.connectionId) } };
        case 'close':
          await connections.close(call.connectionId, call.options);
          return NOTHING;
        case 'end-tails':
          endAllTails(connections, log);
          return NOTHING;
        case 'metrics':
          return { value: { text: await metricsText() } };
        case 'write-usage':
          await Promise.all(
            ingest.pool.threads.map(thread => within(USAGE_MS, thread.call({ kind: 'write-usage' }))),
          );
          return NOTHING;
      }
    },
    hear(told) {
      const what = told as ToldFront;
      if (what.kind === 'log-level') log.isDebug = what.isDebug;
      ingest.hear(what);
    },
    async stop() {
      await tails?.stop();
      forwarding?.endTails();
      await gateway.stop();
      forwarding?.close();
      stopping.abort();
      await Promise.all([watched, kept]);
      await ingest.pool.stop();
      await storage.close();
    },
  };

  function serveTails(server: Server) {
    return startTailSockets({
      server,
      connections,
      tails: {
        open: async (request, connectionId) =>
          (await ask({ kind: 'open-tail', request, connectionId })) as string | undefined,
        async close(tenant, connectionId) {
          await ask({ kind: 'close-tail', tenant, connectionId });
        },
      },
      config,
      access,
      clock: SYSTEM_CLOCK,
      ids: SYSTEM_IDS,
      log,
    });
  }

  async function metricsText(): Promise<string> {
    const threads = ingest.pool.threads.map(thread => ({
      name: thread.name,
      starts: thread.starts,
      text: async () => (await thread.call({ kind: 'metrics' })).text!,
    }));
    return processText(await registry.text(), await figures.texts(threads));
  }
}

/** Creates the ingest threads of this front. Their requests and messages go unchanged to the first front. */
function ingestPool(
  data: FrontData,
  starter: Starter,
  log: ReturnType<typeof createThreadLog>,
): { readonly pool: RolePool<RoleThread>; hear(told: ToldFront): void } {
  const { fronts, ingestThreads, pushes, config, storage, isAlone, tailed, kernels, readOnly } = data;
  let { isDebug, isDiskFull } = data;
  const hub: ThreadHub = {
    async reply(question, signal) {
      const asked = question as RoleAsk;
      const moved = asked.kind === 'write' ? movedBodies(asked.writes) : undefined;
      const reply = await starter.ask(asked, { signal, ...(moved && { moved }) });
      return { value: reply, ...(reply instanceof MessagePort && { moved: [reply] }) };
    },
    hear: told => starter.tell(told),
  };
  const start = (i: number) => {
    const index = data.index * ingestThreads + i;
    const started = (): RoleData => ({
      role: 'ingest',
      index,
      threads: fronts * ingestThreads,
      pushes,
      config,
      storage,
      isAlone,
      tailed,
      kernels,
      isDebug,
      isDiskFull,
      readOnly,
    });
    const onLost = () => forgetPushes(pushes, index);
    return startRoleThread({ role: 'ingest', index, data: started, hub, log, onLost });
  };
  const pool = new RolePool<RoleThread>(ingestThreads, start);
  return {
    pool,
    hear(told) {
      if (told.kind === 'log-level') ({ isDebug } = told);
      if (told.kind === 'disk') isDiskFull = told.isFull;
      for (const thread of pool.threads) thread.tell(told);
    },
  };
}
