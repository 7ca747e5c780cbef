/**
 * Starts the store on one machine. The gateway listens first and reports that the store is starting. Then
 * each service starts, and they stop in reverse order.
 */

import { ClientError } from '../shared/base/model/errors.ts';
import { createLog, type Log, linesOf } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK } from '../shared/base/runtime/system-clock.ts';
import type { Config, LogLevel } from '../shared/server/admin/config-fields.ts';
import { addConnectionMetrics, addLogMetrics } from '../shared/server/admin/metrics/process-metrics.ts';
import { Services } from '../shared/server/admin/services.ts';
import { componentsOf } from '../shared/server/admin/targets.ts';
import { createAdmission } from '../shared/server/http/admission.ts';
import { createDispatcher } from '../shared/server/http/dispatch.ts';
import { headCheck } from '../shared/server/http/guard.ts';
import { createQueryTimeout } from '../shared/server/http/query-timeout.ts';
import { createRouter } from '../shared/server/http/routes.ts';
import { type AssembledLocal, assembleLocal, type ReplacedParts } from './assemble-local.ts';
import { type Front, openFront } from './front.ts';
import type { StorageOptions } from './storage.ts';

export interface LocalOptions {
  readonly config: Config;
  readonly storage: StorageOptions;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly logLevel: Parameters<typeof createLog>[0];
  /** Number of cores to start threads for (threads/roles.ts). Default: those of the machine. */
  readonly cores?: number;
  /** Start even if stored chunks are missing in the catalog, and leave them unused. Default: refuse. */
  readonly beginAnew?: boolean;
  /** See OpenStorageOptions. */
  readonly replaced?: ReplacedParts;
}

export interface LocalStore {
  /** Address of the store, for example `http://localhost:3100`. */
  readonly url: string;
  /** Completes running requests, then closes the stores. */
  stop(): Promise<void>;
}

export async function startLocal(options: LocalOptions): Promise<LocalStore> {
  const log = createLog(options.logLevel);
  const front = await openFront(options, log);
  const started: { store: StartedStore } = { store: prepareStore(options, front, log) };
  let isStopping = false;
  let changing = Promise.resolve();

  /** Reassembles a store behind the same port when it was opened read-only and can now be written. */
  const reopen = async () => {
    await started.store.stop();
    for (;;) {
      started.store = prepareStore(options, front, log);
      started.store.onWritable(() => void change(reopen));
      try {
        await started.store.start();
        return;
      } catch (error) {
        log.error({ err: error }, 'reopening the store failed');
        await started.store.stop().catch(() => undefined);
        if (isStopping) return;
        await SYSTEM_CLOCK.sleep(REOPEN_PAUSE_MS);
      }
    }
  };
  const change = (how: () => Promise<void>) => {
    changing = changing
      .then(() => (isStopping ? undefined : how()))
      .catch((error: unknown) => log.error({ err: error }, 'closing the store failed'));
    return changing;
  };

  try {
    started.store.onWritable(() => void change(reopen));
    await started.store.start();
  } catch (error) {
    await started.store
      .stop()
      .catch(later => log.error({ err: later }, 'cleanup after a failed start failed'));
    front.forwarding?.endTails();
    await front.gateway.stop();
    front.forwarding?.close();
    throw error;
  }
  return {
    url: front.gateway.url,
    async stop() {
      isStopping = true;
      await changing;
      front.behind.isEnding = true;
      front.forwarding?.endTails();
      await started.store.stop();
      await front.gateway.stop();
      front.forwarding?.close();
    },
  };
}

/** Pause between two attempts to reopen a store. */
const REOPEN_PAUSE_MS = 5_000;

interface StartedStore {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Calls `listener` when a store that was opened read-only becomes writable. */
  onWritable(listener: () => void): void;
}

function prepareStore(options: LocalOptions, front: Front, log: Log): StartedStore {
  const { config } = options;
  const { target } = config.auth;
  const { gateway, forwarding, router, behind } = front;
  let local: AssembledLocal | undefined;
  let notifyWritable = () => {};

  const open = async () => {
    local = await assembleLocal({
      ...options,
      port: gateway.port,
      answer: front.answer,
      log,
      logLevel: {
        get: async () => log.level as LogLevel,
        set: async level => {
          log.level = level;
        },
      },
      services,
    });
    behind.local = local;
    const { disk, readOnly, threads } = local;
    if (disk?.message !== undefined) log.warn({ problem: disk.problem }, disk.message);
    disk?.setListener(problem => {
      threads.setDiskFull(problem !== undefined);
      if (problem !== undefined) log.warn({ problem }, disk.message!);
      else log.info('disk writable again');
      if (problem === undefined && readOnly) notifyWritable();
    });
  };
  const serve = async () => {
    const { context, disk, threads } = local!;
    const { registry } = context.metrics;
    addLogMetrics(registry, () => linesOf(log));
    addConnectionMetrics(registry, front.connections);
    behind.admit = headCheck(router, context.access.guard);
    const served = createRouter(router.routes.map(route => threads.served(route)));
    behind.dispatch = createDispatcher({
      router: served,
      context,
      guard: context.access.guard,
      log,
      compress: config.frontend.compressResponses,
      refusal: ({ cost }) =>
        cost === 'push' && disk?.message !== undefined ? new ClientError(503, disk.message) : undefined,
      withTimeout: createQueryTimeout(SYSTEM_CLOCK, local!.limitsOf),
      admit: createAdmission({ config: front.config, registry, pushSlots: threads.pushSlots }),
      observer: context.metrics.requests,
    });
    if (forwarding === undefined) local!.tails.serve(gateway.server);
  };
  const endServing = async () => {
    // Stops first, because their running requests still call this thread.
    await local!.threads.stopFronts();
    if (behind.isEnding) return gateway.stop();
    behind.dispatch = undefined;
    behind.admit = undefined;
    for (let waitedMs = 0; behind.running > 0 && waitedMs < config.server.gracefulShutdownTimeoutMs; ) {
      await SYSTEM_CLOCK.sleep(IDLE_CHECK_MS);
      waitedMs += IDLE_CHECK_MS;
    }
  };
  const services: Services = new Services([
    {
      name: 'store',
      start: open,
      async stop() {
        behind.local = undefined;
        await local!.close();
      },
    },
    { name: 'runtime-config', start: async () => local!.watchOverrides(), stop: () => local!.endOverrides() },
    // These components have no start step: they work on requests or on the timer.
    ...componentsOf(target).map(name => ({ name })),
    { name: 'server', start: serve, stop: endServing },
    // Stops before the server, because open sockets would keep the gateway open.
    { name: 'tail', stop: () => local!.tails.stop() },
    { name: 'ring', start: () => join(local!), stop: () => leave(local!) },
  ]);
  behind.notReady = () => services.notReady();
  return {
    start: () => services.start(),
    stop: () => services.stop(),
    onWritable(listener) {
      notifyWritable = listener;
    },
  };
}

/** Interval for checking whether requests have completed before a store is reopened. */
const IDLE_CHECK_MS = 20;

/** Joins the ring, unless the process cannot write. */
async function join({ instance, readOnly }: AssembledLocal): Promise<void> {
  if (!readOnly) await instance.join();
}

/** Leaves the ring and writes the last state while the process still serves. */
async function leave({ context, instance, readOnly }: AssembledLocal): Promise<void> {
  if (readOnly) return;
  await instance.leaving();
  await context.shutdown.atStop();
  await instance.end();
}
