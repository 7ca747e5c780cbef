/** A process of the store over given stores, as an adapter puts it together: answers requests, counts usage. */
import { type Config, DEFAULT_CONFIG } from '../../../shared/admin/config-fields.ts';
import { Catalog } from '../../../shared/catalog/catalog.ts';
import { UsageRecords } from '../../../shared/catalog/usage-records.ts';
import { assembleContext } from '../../../shared/http/assemble.ts';
import { createDispatcher } from '../../../shared/http/dispatch.ts';
import type { Request } from '../../../shared/http/message.ts';
import { createRouter } from '../../../shared/http/routes.ts';
import { ROUTES } from '../../../shared/http/table.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { seededIds } from '../../../shared/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/ports/memory/table.ts';
import type { Table } from '../../../shared/ports/table.ts';
import { request } from '../../http/request.ts';

export interface Stores {
  readonly clock: Clock;
  readonly table: Table;
  readonly store: ReturnType<typeof memoryObjectStore>;
}

export function memoryStores(clock: Clock): Stores {
  return { clock, table: memoryTable({ clock }), store: memoryObjectStore() };
}

export interface ProcessOptions {
  /** Tells the ids of one process from those of another. */
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
  const log = { error: (fields: object) => expect.fail(fields) };
  const dispatch = createDispatcher({ router: createRouter(ROUTES), context, log, compress: false, observer });
  const get = (path: string, given: Partial<Request> & { tenant?: string } = {}) => {
    const [route, rawQuery = ''] = path.split('?');
    const headers = given.tenant === undefined ? {} : { 'x-scope-orgid': given.tenant };
    return dispatch(request({ path: route, rawQuery, ...given, headers: { ...headers, ...given.headers } }));
  };
  return {
    context,
    get,
    /** Pushes lines into one stream for each of `apps`, all at the time of the clock. */
    push(tenant: string, apps: readonly string[], lines: readonly string[]) {
      const streams = apps.map(app => ({
        stream: { app },
        values: lines.map((line, i) => [String(clock.nowNs() - BigInt(i)), line]),
      }));
      return get('/loki/api/v1/push', {
        tenant,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ streams })),
      });
    },
    async text(path: string, tenant?: string): Promise<string> {
      const { status, body } = await get(path, { tenant });
      if (status !== 200) throw new Error(`${status} ${String(body)}`);
      return Buffer.from(body).toString();
    },
    async usage(tenant: string, parameters = ''): Promise<UsageAnswer> {
      return JSON.parse(await this.text(`/svc/api/v1/usage${parameters}`, tenant)).data;
    },
  };
}

export interface UsageAnswer {
  readonly tenant: string;
  readonly currency: string;
  readonly stored_bytes_complete: boolean;
  readonly days: readonly Record<string, unknown>[];
}

export function configOf(logboom: Partial<Config['logboom']>, limits: Partial<Config['limits']> = {}): Config {
  return {
    ...DEFAULT_CONFIG,
    limits: { ...DEFAULT_CONFIG.limits, discoverServiceName: [], discoverLogLevels: false, ...limits },
    logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0, ...logboom },
  };
}

const expect = {
  fail(fields: object): never {
    throw new Error('a request failed', { cause: fields });
  },
};
