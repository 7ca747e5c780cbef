/** A process of the store over given stores, as an adapter puts it together: answers requests, counts usage. */

import { seededIds, type VirtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { Table } from '../../../shared/base/ports/table.ts';
import { type Config, DEFAULT_CONFIG } from '../../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../../shared/server/http/assemble.ts';
import { createDispatcher } from '../../../shared/server/http/dispatch.ts';
import type { HttpRequest } from '../../../shared/server/http/message.ts';
import { ROUTES } from '../../../shared/server/http/route-table.ts';
import { createRouter } from '../../../shared/server/http/routes.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import { UsageRecords } from '../../../shared/storage/catalog/usage-records.ts';
import { request } from '../../http/request.ts';

interface Stores {
  readonly clock: VirtualClock;
  readonly table: Table;
  readonly store: ReturnType<typeof memoryObjectStore>;
}

export function memoryStores(clock: VirtualClock): Stores {
  return { clock, table: memoryTable({ clock }), store: memoryObjectStore() };
}

interface ProcessOptions {
  /** Distinguishes the IDs of processes. */
  readonly seed: number;
  readonly config?: Config;
  readonly usageTable?: Table;
}

export function startProcess({ clock, table, store }: Stores, { seed, config, usageTable }: ProcessOptions) {
  const ids = seededIds(seed);
  const context = assembleContext({
    config: config ?? configOf({}),
    store,
    catalog: new Catalog({ table, clock, ids }),
    usageRecords: new UsageRecords(usageTable ?? table),
    clock,
    ids,
    notReady: () => undefined,
  });
  const observer = context.metrics.requests;
  const defects: object[] = [];
  const log = { error: (fields: object) => void defects.push(fields) };
  const dispatch = createDispatcher({
    router: createRouter(ROUTES),
    context,
    guard: context.access.guard,
    log,
    compress: false,
    observer,
  });
  const get = (path: string, given: Partial<HttpRequest> & { tenant?: string } = {}) => {
    const [route, rawQuery = ''] = path.split('?');
    const headers: Record<string, string> = { ...given.headers };
    if (given.tenant !== undefined) headers['x-scope-orgid'] = given.tenant;
    return clock.run(dispatch(request({ path: route, rawQuery, ...given, headers })));
  };
  const text = async (path: string, tenant?: string): Promise<string> => {
    const { status, body } = await get(path, { tenant });
    if (status !== 200) throw new Error(`${status} ${String(body)}`);
    return Buffer.from(body).toString();
  };
  return {
    context,
    /** Errors of requests that are not client errors. */
    defects,
    get,
    /** Pushes lines into one stream for each of `apps`, just before the time of the clock. */
    push(tenant: string, apps: readonly string[], lines: readonly string[]) {
      const streams = apps.map(app => ({
        stream: { app },
        values: lines.map((line, i) => [String(clock.nowNs() - BigInt(i + 1) * 1_000_000n), line]),
      }));
      return get('/loki/api/v1/push', {
        tenant,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ streams })),
      });
    },
    text,
    async usage(tenant: string, parameters = ''): Promise<UsageAnswer> {
      return JSON.parse(await text(`/svc/api/v1/usage${parameters}`, tenant)).data;
    },
  };
}

interface UsageAnswer {
  readonly tenant: string;
  readonly currency: string;
  readonly stored_bytes_complete: boolean;
  readonly days: readonly Record<string, unknown>[];
}

export function configOf(
  logboom: Partial<Config['logboom']>,
  limits: Partial<Config['limits']> = {},
): Config {
  return {
    ...DEFAULT_CONFIG,
    limits: { ...DEFAULT_CONFIG.limits, discoverServiceName: [], discoverLogLevels: false, ...limits },
    logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0, ...logboom },
  };
}
