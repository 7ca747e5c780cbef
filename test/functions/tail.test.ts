/** Live tails as functions: events of a WebSocket API in, messages to its connections out, over virtual time. */
import { afterEach, expect, test } from '@jest/globals';
import { assemble, type Stores } from '../../functions/assemble.ts';
import { assembleTailFunction, type TailFunction } from '../../functions/assemble-tail.ts';
import { createDispatchHandler } from '../../functions/tail-dispatch-handler.ts';
import { createConnectHandler, createDisconnectHandler } from '../../functions/tail-handlers.ts';
import { ignoreMessage } from '../../functions/tail-ignore.ts';
import { tailWaker } from '../../shared/aws/tail-waker.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { type MemoryConnections, memoryConnections } from '../../shared/base/ports/memory/connections.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { TailLog } from '../../shared/storage/catalog/tail-log.ts';
import { drive, linesOf } from '../tail/support.ts';
import { jsonPushEvent } from './tail-events.ts';

const SETTINGS = {
  config: {
    ...DEFAULT_CONFIG,
    server: { ...DEFAULT_CONFIG.server, logLevel: 'error' as const },
    limits: { ...DEFAULT_CONFIG.limits, maxConcurrentTailRequests: 2 },
    logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0 },
  },
  warnings: [],
};
/** The dispatcher ends 20 s before; a tail joins 2.5 s after it was seen. */
const CONTEXT = { awsRequestId: 'test', getRemainingTimeInMillis: () => 25_000 };

const clock = virtualClock();
const stores: Stores = { store: memoryObjectStore(), table: memoryTable({ clock }), clock };
const connections: MemoryConnections = memoryConnections({ clock });

function tailFunction(name: 'tail-connect' | 'tail-dispatch' | 'tail-disconnect'): TailFunction {
  return assembleTailFunction(name, SETTINGS, stores, connections);
}

function connectEvent(connectionId: string, parameters: Record<string, string>, tenant = 'acme') {
  return {
    headers: { 'X-Scope-OrgID': tenant, Upgrade: 'websocket' },
    multiValueQueryStringParameters: Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, [value]]),
    ),
    requestContext: { connectionId, eventType: 'CONNECT', requestId: 'r' },
  };
}

const push = assemble('push', SETTINGS, stores);
afterEach(() => expect.hasAssertions());

test('a tail from its connect to its end: lookback, live, one run at a time, nothing twice', async () => {
  const pushed = async (line: string) => {
    const { statusCode } = await drive(clock, push(jsonPushEvent('acme', [line], clock.nowMs()), CONTEXT));
    expect(statusCode).toBe(204);
  };
  const connect = createConnectHandler(tailFunction('tail-connect'));
  await pushed('before {=&');
  const connection = connections.open('c1');
  const query = '{app="a"} !~ "x%&=+ü"';
  expect(await drive(clock, connect(connectEvent('c1', { query })))).toEqual({ statusCode: 200 });
  expect(connection.messages).toEqual([]);
  // Two concurrent calls: the lease lets one run.
  const first = createDispatchHandler(tailFunction('tail-dispatch'));
  const second = createDispatchHandler(tailFunction('tail-dispatch'));
  const runs = Promise.all([first({}, CONTEXT), second({ tenant: 'acme' }, CONTEXT)]);
  while (linesOf(connection.messages).length < 1) await drive(clock, clock.sleep(100));
  await pushed('during');
  expect((await drive(clock, runs)).reduce((sum, { runs: one }) => sum + one, 0)).toBe(1);
  await pushed('after');
  await drive(clock, createDispatchHandler(tailFunction('tail-dispatch'))({}, CONTEXT));
  expect(linesOf(connection.messages)).toEqual(['before {=&', 'during', 'after']);
  const disconnect = createDisconnectHandler(tailFunction('tail-disconnect'));
  const gone = { requestContext: { connectionId: 'c1', eventType: 'DISCONNECT' } };
  expect(await disconnect(gone)).toEqual({ statusCode: 200 });
  expect(await disconnect(gone)).toEqual({ statusCode: 200 });
  const { catalog } = tailFunction('tail-dispatch').parts;
  expect(await catalog.subscriptions.list('acme')).toEqual([]);
});

test('an invalid request refuses the connection; the dispatcher reports later problems', async () => {
  const connect = createConnectHandler(tailFunction('tail-connect'));
  const rows: readonly [object, number][] = [
    [connectEvent('x', { query: '{app=' }), 400],
    [connectEvent('x', { query: '{app="a"}', delay_for: '6' }), 400],
    [connectEvent('x', { query: '{app="a"}' }, ''), 401],
    [connectEvent('x', { query: '{app="a"}' }, 'a|b'), 400],
    [{}, 400],
  ];
  for (const [event, statusCode] of rows) expect(await connect(event)).toMatchObject({ statusCode });
  const connection = connections.open('m');
  expect(await connect(connectEvent('m', { query: 'rate({app="a"}[1m])' }, 'other'))).toEqual({
    statusCode: 200,
  });
  await drive(clock, createDispatchHandler(tailFunction('tail-dispatch'))({ tenant: 'other' }, CONTEXT));
  expect(connection.closed).toEqual({ code: 1011, reason: 'only log selector is supported' });
  expect(await ignoreMessage({ requestContext: { connectionId: 'm', eventType: 'MESSAGE' } })).toEqual({
    statusCode: 200,
  });
});

test('the dispatcher is called once a second for a tenant, for any commits', async () => {
  const calls: string[] = [];
  const client = {
    send: async ({
      input,
    }: {
      input: { FunctionName: string; InvocationType: string; Payload: Uint8Array };
    }) => {
      calls.push(`${input.FunctionName} ${input.InvocationType} ${Buffer.from(input.Payload)}`);
    },
  };
  const failures: object[] = [];
  const log = { warn: (fields: object) => failures.push(fields) };
  const waker = tailWaker({ client: () => client as never, functionName: 'dispatch', clock, log });
  const tailLog = new TailLog({ table: memoryTable({ clock }), clock });
  waker.follow(tailLog);
  for (const tenant of ['a', 'a', 'b', 'a']) waker.wake(tenant);
  await waker.settled();
  expect(calls).toEqual(['dispatch Event {"tenant":"a"}', 'dispatch Event {"tenant":"b"}']);
  await clock.advance(1000);
  waker.wake('a');
  await waker.settled();
  expect(calls).toHaveLength(3);
  expect(failures).toEqual([]);
});
