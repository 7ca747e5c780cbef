/**
 * Store with a dataset on in-memory ports, and processes that query it over modeled ports: each starts with
 * empty caches, like a function. Loading the store is not modeled.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MS_PER_DAY, NS_PER_MS } from '../../shared/base/model/time-units.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../shared/server/http/assemble.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import type { HttpRequest } from '../../shared/server/http/message.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter } from '../../shared/server/http/routes.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { Dice } from '../../test/simulation/dice.ts';
import { VirtualTime } from '../../test/simulation/virtual-time.ts';
import type { Dataset } from './datasets.ts';
import { AWS_LATENCY, type LatencyModel, modeledPorts, type Ports } from './modeled-ports.ts';
import { type RequestTotals, type TracedRequest, totalsOf } from './request-trace.ts';
import type { CloudQuery } from './suite.ts';

const TENANT = 'cloud';

export interface MeasuredQuery {
  readonly totals: RequestTotals;
  readonly requests: readonly TracedRequest[];
  readonly status: number;
  readonly body: string;
}

interface CloudProcess {
  ask(query: CloudQuery): Promise<MeasuredQuery>;
}

export interface CloudStore {
  /** Process with empty caches. */
  process(model?: LatencyModel): CloudProcess;
}

export async function loadCloudStore(dataset: Dataset): Promise<CloudStore> {
  const config: Config = {
    ...DEFAULT_CONFIG,
    limits: {
      ...DEFAULT_CONFIG.limits,
      rejectOldSamples: false,
      ingestionRateMb: 10_000,
      ingestionBurstSizeMb: 10_000,
      maxQueryLengthNs: 0n,
    },
    logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0, inlineMaxBytes: 0 },
  };
  const startMs = Number(dataset.endNs / NS_PER_MS) + MS_PER_DAY;
  const still: Clock = {
    nowMs: () => startMs,
    nowNs: () => BigInt(startMs) * NS_PER_MS,
    sleep: () => nextTurn(),
  };
  const ports: Ports = {
    store: { ...memoryObjectStore(), isDistant: true },
    table: { ...memoryTable({ clock: still }), isDistant: true },
  };
  let seed = 1;

  const open = (given: Ports, clock: Clock) => {
    const ids = seededIds(seed++);
    const catalog = new Catalog({ table: given.table, clock, ids });
    const context = assembleContext({
      config,
      store: given.store,
      catalog,
      clock,
      ids,
      usageRecords: new UsageRecords(given.table),
      kick: () => undefined,
      notReady: () => undefined,
    });
    const { guard } = context.access;
    const dispatch = createDispatcher({
      router: createRouter(ROUTES),
      context,
      guard,
      log: { error: error => console.error(error) },
      compress: false,
    });
    return (request: Partial<HttpRequest>) =>
      dispatch({
        method: 'GET',
        path: '/',
        rawQuery: '',
        body: new Uint8Array(0),
        signal: new AbortController().signal,
        id: 'cloud-1',
        ...request,
        headers: { ...request.headers, 'x-scope-orgid': TENANT },
      });
  };

  const load = open(ports, still);
  for (const streams of dataset.pushes()) {
    const body = JSON.stringify({
      streams: streams.map(({ labels, entries }) => ({
        stream: labels,
        values: entries.map(({ ns, line }) => [String(ns), line]),
      })),
    });
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', path: '/loki/api/v1/push', headers, body: Buffer.from(body) };
    await expectStatus(204, load(request));
  }
  if (dataset.isMerged) await expectStatus(204, load({ method: 'POST', path: '/flush/tenant' }));

  return {
    process(model = AWS_LATENCY) {
      const time = new VirtualTime(startMs, new Dice(1));
      const modeled = modeledPorts(ports, time, model);
      const send = open(modeled, time);
      return {
        async ask({ path, params }) {
          modeled.requests.length = 0;
          const rawQuery = new URLSearchParams(params).toString();
          const { status, body } = await time.run(send({ path, rawQuery }));
          await time.drain();
          const requests = modeled.requests.slice();
          return { totals: totalsOf(requests), requests, status, body: Buffer.from(body).toString() };
        },
      };
    },
  };
}

async function expectStatus(
  wanted: number,
  answer: Promise<{ readonly status: number; readonly body: string | Uint8Array }>,
): Promise<void> {
  const { status, body } = await answer;
  if (status !== wanted) throw new Error(`${status}: ${Buffer.from(body).toString()}`);
}
