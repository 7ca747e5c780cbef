/**
 * An index that the catalog names is missing in the bucket. Each function that reads indexes uses the chunks
 * instead, with the rights of its role. S3 returns 403 instead of 404 to a role that may not list the bucket,
 * so no function could do that without this right.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  assemble,
  assembleAllInOne,
  assembleMaintenanceFunction,
  type Stores,
} from '../../functions/assemble.ts';
import { assembleTailFunction } from '../../functions/assemble-tail.ts';
import type { HttpApiResult } from '../../functions/lambda-event.ts';
import { withinPlatform } from '../../functions/settings.ts';
import { createDispatchHandler } from '../../functions/tail-dispatch-handler.ts';
import { createConnectHandler } from '../../functions/tail-handlers.ts';
import {
  ALL_IN_ONE_RIGHTS,
  MAINTENANCE_RIGHTS,
  PUSH_RIGHTS,
  QUERY_RIGHTS,
  type Rights,
  TAIL_CONNECT_RIGHTS,
  TAIL_DISPATCH_RIGHTS,
} from '../../lib/rights.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryConnections } from '../../shared/base/ports/memory/connections.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { drive, linesOf } from '../tail/support.ts';
import { httpApiEvent, lambdaContext, textOf } from './events.ts';
import { type RoleStore, roleStore } from './role-store.ts';
import { jsonPushEvent } from './tail-events.ts';

const SETTINGS = {
  config: withinPlatform({
    ...DEFAULT_CONFIG,
    server: { ...DEFAULT_CONFIG.server, logLevel: 'error' as const },
    // Every chunk is an object: the footers that answer instead of the index are read from the bucket, too.
    logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0, inlineMaxBytes: 0 },
  }),
  warnings: [],
};
const TENANT = 'acme';
const LINES = ['one', 'two', 'three', 'four'];
const JOB_MS = 15 * 60_000;
const SYNC = { job: 'index-sync' };

let clock: ReturnType<typeof virtualClock>;
let objects: ObjectStore;
let table: Table;

/** Stores of a function with these rights. */
function storesOf(rights: Rights): Stores & { readonly store: RoleStore } {
  return { store: roleStore(objects, rights), table, clock };
}

async function indexKeys(): Promise<string[]> {
  const { objects: found } = await objects.list('');
  return found.map(({ key }) => key).filter(key => key.includes('/index/'));
}

/** Chunks of one day, their index in the catalog, and no object of it in the bucket. */
beforeEach(async () => {
  clock = virtualClock();
  objects = memoryObjectStore();
  table = memoryTable({ clock });
  const push = assemble('push', SETTINGS, storesOf(PUSH_RIGHTS));
  for (const line of LINES) {
    const { statusCode } = await drive(
      clock,
      push(jsonPushEvent(TENANT, [line], clock.nowMs()), lambdaContext()),
    );
    expect(statusCode).toBe(204);
  }
  await syncIndexes(assembleMaintenanceFunction(SETTINGS, storesOf(MAINTENANCE_RIGHTS)));
  const written = await indexKeys();
  expect(written).toHaveLength(1);
  await objects.delete(written[0]);
});

type Handler = (event: unknown, context: ReturnType<typeof lambdaContext>) => Promise<unknown>;

async function syncIndexes(handler: Handler): Promise<void> {
  await ask(handler, 'PUT', '/sync-indexes');
  expect(await drive(clock, handler(SYNC, lambdaContext(JOB_MS)))).toMatchObject({ failures: [] });
}

async function ask(handler: Handler, method: string, path: string, query = ''): Promise<[number, string]> {
  const event = httpApiEvent({
    ...{ method, path, query, timeEpoch: clock.nowMs() },
    headers: { 'x-scope-orgid': TENANT },
  });
  const result = (await drive(clock, handler(event, lambdaContext()))) as HttpApiResult;
  return [result.statusCode, textOf(result)];
}

/** Queries that read the index first, and a part of each result. */
const QUESTIONS: readonly [path: string, query: string, holds: string][] = [
  ['/loki/api/v1/labels', '', '"app"'],
  ['/loki/api/v1/label/app/values', '', '["a"]'],
  ['/loki/api/v1/series', 'match={app="a"}', '"service_name":"a"'],
  ['/loki/api/v1/detected_labels', 'query={app="a"}', '"app"'],
  ['/loki/api/v1/index/stats', 'query={app="a"}', `"entries":${LINES.length}`],
  ['/loki/api/v1/index/volume', 'query={app="a"}', '"app":"a"'],
];

function questionOf(query: string): string {
  const range = `start=${clock.nowMs() - 3_600_000}000000&end=${clock.nowMs() + 60_000}000000`;
  const [name, value] = query.split(/=(.*)/s);
  return query === '' ? range : `${range}&${name}=${encodeURIComponent(value)}`;
}

describe.each<[string, (stores: Stores) => Handler, Rights]>([
  ['query', stores => assemble('query', SETTINGS, stores) as Handler, QUERY_RIGHTS],
  ['all-in-one', stores => assembleAllInOne(SETTINGS, stores), ALL_IN_ONE_RIGHTS],
])('the function %s', (_name, functionOf, rights) => {
  test.each(QUESTIONS)('answers %s from the chunks', async (path, query, holds) => {
    const stores = storesOf(rights);
    const [status, text] = await ask(functionOf(stores), 'GET', path, questionOf(query));
    expect([status, text]).toEqual([200, expect.stringContaining(holds)]);
    expect(stores.store.missed).toEqual([expect.stringContaining('/index/')]);
    expect(stores.store.denied).toEqual([]);
  });

  test.each(QUESTIONS)('could not answer %s if its role did not list the bucket', async (path, query) => {
    const stores = storesOf({ ...rights, listsObjects: false });
    const [status] = await ask(functionOf(stores), 'GET', path, questionOf(query));
    expect(status).toBeGreaterThanOrEqual(500);
    expect(stores.store.denied[0]).toMatch(/^GetObject .*\/index\//);
  });
});

describe.each<[string, (stores: Stores) => Handler, Rights]>([
  ['maintenance', stores => assembleMaintenanceFunction(SETTINGS, stores), MAINTENANCE_RIGHTS],
  ['all-in-one', stores => assembleAllInOne(SETTINGS, stores), ALL_IN_ONE_RIGHTS],
])('index sync in the function %s', (_name, functionOf, rights) => {
  test('rebuilds the index from the chunks', async () => {
    const stores = storesOf(rights);
    await syncIndexes(functionOf(stores));
    expect(await indexKeys()).toHaveLength(1);
    expect(stores.store.missed).toContainEqual(expect.stringContaining('/index/'));
    expect(stores.store.denied).toEqual([]);
    const query = storesOf(QUERY_RIGHTS);
    const [status] = await ask(assemble('query', SETTINGS, query) as Handler, 'GET', '/loki/api/v1/labels');
    expect([status, query.store.missed]).toEqual([200, []]);
  });

  test('could not if its role did not list the bucket', async () => {
    const handler = functionOf(storesOf({ ...rights, listsObjects: false }));
    await ask(handler, 'PUT', '/sync-indexes');
    await expect(drive(clock, handler(SYNC, lambdaContext(JOB_MS)))).rejects.toThrow('index-sync failed');
    expect(await indexKeys()).toEqual([]);
  });
});

test('a tail begins with stored entries', async () => {
  const connections = memoryConnections({ clock });
  const connection = connections.open('c1');
  const connect = createConnectHandler(
    assembleTailFunction('tail-connect', SETTINGS, storesOf(TAIL_CONNECT_RIGHTS), connections),
  );
  const event = {
    headers: { 'X-Scope-OrgID': TENANT, Upgrade: 'websocket' },
    multiValueQueryStringParameters: { query: ['{app="a"}'] },
    requestContext: { connectionId: 'c1', eventType: 'CONNECT', requestId: 'r' },
  };
  expect(await drive(clock, connect(event))).toEqual({ statusCode: 200 });
  const stores = storesOf(TAIL_DISPATCH_RIGHTS);
  const dispatch = createDispatchHandler(
    assembleTailFunction('tail-dispatch', SETTINGS, stores, connections),
  );
  await drive(clock, dispatch({}, lambdaContext(25_000)));
  expect([...linesOf(connection.messages)].sort()).toEqual([...LINES].sort());
  expect(stores.store.denied).toEqual([]);
});
