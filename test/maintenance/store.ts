/** Several processes of a store on one set of memory stores and one clock that moves only on request. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { type Config, DEFAULT_CONFIG, type LogboomConfig } from '../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../shared/server/http/assemble.ts';
import type { ContextParts } from '../../shared/server/http/assemble-parts.ts';
import type { HttpContext } from '../../shared/server/http/context.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter } from '../../shared/server/http/routes.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { request } from '../http/request.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

/** 00:00:00 of a UTC day. */
export const START_MS = Date.UTC(2026, 5, 1);

export interface TestProcess {
  readonly context: HttpContext;
  readonly catalog: Catalog;
  /** Jobs that requests have given to a timer. */
  readonly kicked: string[];
  ask(method: string, path: string, given?: Partial<HttpRequest>): Promise<HttpResponse>;
  /** Runs a job for as long as it wants. */
  run(job: string): ReturnType<HttpContext['maintenance']['jobs']['run']>;
  tick(job: string): ReturnType<HttpContext['maintenance']['jobs']['tick']>;
}

export interface TestStores {
  readonly clock: ManualClock;
  readonly store: ReturnType<typeof memoryObjectStore>;
  process(seed: number): TestProcess;
}

/** Wrapper between the processes and the memory stores. */
interface StoreDecorators {
  readonly store?: (store: ObjectStore) => ObjectStore;
  readonly table?: (table: Table) => Table;
  /** See MaintenanceSources. */
  readonly mergeOffload?: ContextParts['mergeOffload'];
  /** See ContextParts. */
  readonly objectReaders?: ContextParts['objectReaders'];
}

export function testStores(
  logboom: Partial<LogboomConfig> = {},
  given: Partial<Config> = {},
  {
    store: decoratedStore = same,
    table: decoratedTable = same,
    mergeOffload,
    objectReaders,
  }: StoreDecorators = {},
): TestStores {
  const manual = manualClock(START_MS);
  // Waits for a group or a retry end immediately here.
  const clock = { ...manual, sleep: () => nextTurn() };
  const store = memoryObjectStore();
  const usedStore = decoratedStore(store);
  const table = decoratedTable(memoryTable({ clock }));
  const config: Config = {
    ...DEFAULT_CONFIG,
    ...given,
    logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0, inlineMaxBytes: 0, ...logboom },
  };
  return { clock, store, process };

  function process(seed: number): TestProcess {
    const ids = seededIds(seed);
    const catalog = new Catalog({ table, clock, ids });
    const kicked: string[] = [];
    const context = assembleContext({
      config,
      store: usedStore,
      catalog,
      clock,
      ids,
      usageRecords: new UsageRecords(table),
      mergeOffload,
      objectReaders,
      kick: job => void kicked.push(job),
      notReady: () => undefined,
    });
    const log = { error: () => {} };
    const dispatch = createDispatcher({
      router: createRouter(ROUTES),
      context,
      guard: context.access.guard,
      log,
      compress: false,
    });
    const bounds = () => ({ untilMs: clock.nowMs() + MS_PER_HOUR, signal: new AbortController().signal });
    const { jobs } = context.maintenance;
    return {
      context,
      catalog,
      kicked,
      ask: (method, path, more = {}) => dispatch(request({ method, path, ...more })),
      run: job => jobs.run(job, bounds()),
      tick: job => jobs.tick(job, bounds()),
    };
  }
}

function same<T>(value: T): T {
  return value;
}

/** Pushes one entry, a separate chunk, at the store's time. Throws if it is refused. */
export async function pushLine(
  { ask }: TestProcess,
  tenant: string,
  timeMs: number,
  line: string,
): Promise<void> {
  const values = [[`${timeMs}000000`, line]];
  const { status, body } = await ask('POST', '/loki/api/v1/push', {
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    body: Buffer.from(JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] })),
  });
  if (status !== 204) throw new Error(`${status}: ${body}`);
}

/** Every line of a tenant in a range of Unix ms, sorted. */
export async function linesOf(
  { ask }: TestProcess,
  tenant: string,
  startMs: number,
  endMs: number,
): Promise<string[]> {
  const { status, body } = await ask('GET', '/loki/api/v1/query_range', {
    headers: { 'x-scope-orgid': tenant },
    rawQuery: `query=${encodeURIComponent('{app="a"}')}&limit=5000&start=${startMs}000000&end=${endMs}000000`,
  });
  if (status !== 200) throw new Error(`${status}: ${body}`);
  const { result } = JSON.parse(Buffer.from(body).toString()).data as {
    result: { values: [string, string][] }[];
  };
  return result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
}
