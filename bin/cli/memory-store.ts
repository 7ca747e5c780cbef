/**
 * In-memory store for input that is queried once. It accepts pushes and answers queries like a store with the
 * given configuration.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Config } from '../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../shared/server/http/assemble.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter } from '../../shared/server/http/routes.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { CommandError } from './command-error.ts';
import { say } from './standard-output.ts';

export const MEMORY_TENANT = 'memory';

interface MemoryStore {
  readonly context: ReturnType<typeof assembleContext>;
  /** Accepts the JSON body of a push. Throws CommandError if the store refuses it. */
  push(body: string): Promise<void>;
  /** The text of a response with status 200. Throws CommandError otherwise. */
  get(path: string, params: URLSearchParams): Promise<string>;
}

/** Creates a store whose clock is fixed at `nowNs`. */
export function memoryStore(config: Config, nowNs: bigint): MemoryStore {
  const clock = { nowMs: () => Number(nowNs / NS_PER_MS), nowNs: () => nowNs, sleep: () => nextTurn() };
  const ids = seededIds(1);
  const table = memoryTable({ clock });
  const context = assembleContext({
    config,
    store: memoryObjectStore(),
    catalog: new Catalog({ table, clock, ids }),
    clock,
    ids,
    usageRecords: new UsageRecords(table),
    notReady: () => undefined,
  });
  const dispatch = createDispatcher({
    router: createRouter(ROUTES),
    context,
    guard: context.access.guard,
    log: { error: (_, message) => say(`logboom: ${message}\n`) },
    compress: false,
  });
  const request = {
    headers: { 'content-type': 'application/json', 'x-scope-orgid': MEMORY_TENANT },
    signal: new AbortController().signal,
    id: 'memory',
  };
  return {
    context,
    async push(text) {
      const path = '/loki/api/v1/push';
      const answer = await dispatch({
        ...request,
        method: 'POST',
        path,
        rawQuery: '',
        body: Buffer.from(text),
      });
      if (answer.status !== 204)
        throw new CommandError(`the store refused the input: ${Buffer.from(answer.body).toString().trim()}`);
    },
    async get(path, params) {
      const rawQuery = params.toString();
      const answer = await dispatch({ ...request, method: 'GET', path, rawQuery, body: Buffer.alloc(0) });
      const text = Buffer.from(answer.body).toString();
      if (answer.status !== 200) throw new CommandError(text.trim());
      return text;
    },
  };
}
