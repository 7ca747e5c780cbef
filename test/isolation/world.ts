/**
 * A store on memory stores, assembled as a process assembles it, that records every written key and every log
 * line. With the same seed and the same requests two worlds respond alike.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../shared/server/http/assemble.ts';
import type { HttpContext } from '../../shared/server/http/context.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter } from '../../shared/server/http/routes.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { request } from '../http/request.ts';
import { manualClock } from '../support/manual-clock.ts';

/** 12:00:00 of a UTC day. */
export const NOW_MS = Date.UTC(2026, 5, 1, 12);

/** A key that was written or deleted. */
export interface WrittenKey {
  readonly store: 'objects' | 'table';
  /** Table key: partition, a space, sort key. */
  readonly key: string;
}

export interface World {
  readonly context: HttpContext;
  readonly written: WrittenKey[];
  /** Log lines of handlers as JSON. */
  readonly logged: string[];
  /** Moves the clock on. */
  pass(ms: number): void;
  send(method: string, path: string, given?: Partial<HttpRequest>): Promise<Shown>;
  /** Runs a scheduled job until it has nothing to do. */
  run(job: string): Promise<void>;
}

export interface Shown {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function startWorld(given: Partial<Config> = {}): World {
  const manual = manualClock(NOW_MS);
  // Waits for a group or a retry end immediately here.
  const clock = { ...manual, sleep: () => nextTurn() };
  const written: WrittenKey[] = [];
  const logged: string[] = [];
  const table = watchedTable(memoryTable({ clock }), written);
  const ids = seededIds(7);
  const context = assembleContext({
    config: {
      ...DEFAULT_CONFIG,
      patternIngester: { enabled: true },
      logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0 },
      ...given,
    },
    store: watchedObjects(memoryObjectStore(), written),
    catalog: new Catalog({ table, clock, ids }),
    clock,
    ids,
    usageRecords: new UsageRecords(table),
    notReady: () => undefined,
    log: { warn: (fields, message) => void logged.push(textOf(fields, message)) },
    auditLog: { info: (fields, message) => void logged.push(textOf(fields, message)) },
  });
  const dispatch = createDispatcher({
    router: createRouter(ROUTES),
    context,
    guard: context.access.guard,
    log: { error: (fields, message) => void logged.push(textOf(fields, message)) },
    compress: false,
  });
  return {
    context,
    written,
    logged,
    pass: ms => clock.advance(ms),
    send: async (method, path, more = {}) => shown(await dispatch(request({ method, path, ...more }))),
    async run(job) {
      const bounds = { untilMs: clock.nowMs() + 3_600_000, signal: new AbortController().signal };
      await context.maintenance.jobs.run(job, bounds);
    },
  };
}

function shown({ status, headers, body }: HttpResponse): Shown {
  return { status, headers, text: Buffer.from(body).toString() };
}

/** Includes the messages and causes of errors. */
function textOf(fields: object, message: string): string {
  const parts = Object.entries(fields).map(([name, value]) =>
    value instanceof Error
      ? `${name}: ${value.stack} ${String(value.cause)}`
      : `${name}: ${JSON.stringify(value)}`,
  );
  return [message, ...parts].join(' ');
}

function watchedObjects(store: ObjectStore, written: WrittenKey[]): ObjectStore {
  return {
    ...store,
    async putIfAbsent(key, body) {
      written.push({ store: 'objects', key });
      return store.putIfAbsent(key, body);
    },
    async delete(key) {
      written.push({ store: 'objects', key });
      return store.delete(key);
    },
  };
}

function watchedTable(table: Table, written: WrittenKey[]): Table {
  const note = ({ pk, sk }: { readonly pk: string; readonly sk: string }) =>
    void written.push({ store: 'table', key: `${pk} ${sk}` });
  return {
    get: key => table.get(key),
    query: (pk, options) => table.query(pk, options),
    async put(item, condition) {
      note(item);
      return table.put(item, condition);
    },
    async delete(key, condition) {
      note(key);
      return table.delete(key, condition);
    },
    async transact(writes) {
      for (const write of writes) {
        if (write.kind === 'put') note(write.item);
        if (write.kind === 'delete') note(write.key);
      }
      return table.transact(writes);
    },
  };
}
