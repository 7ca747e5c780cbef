/**
 * Live tails over a WebSocket API of an emulator: the AWS adapter of Connections with the SDK's client, and the functions of
 * tails over S3, DynamoDB and connections, all by their protocols.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { assemble } from '../../functions/assemble.ts';
import { assembleTailFunction } from '../../functions/assemble-tail.ts';
import { createDispatchHandler } from '../../functions/tail-dispatch-handler.ts';
import { createConnectHandler, createDisconnectHandler } from '../../functions/tail-handlers.ts';
import {
  apiGatewayConnections,
  CONNECTIONS_LIMITS,
  createConnectionsClient,
} from '../../shared/aws/api-gateway-connections.ts';
import { createCaller } from '../../shared/aws/caller.ts';
import type { Connections } from '../../shared/base/ports/connections.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { jsonPushEvent } from '../functions/tail-events.ts';
import { linesOf } from '../tail/support.ts';
import { newName, openObjectStore, openTable, S3_PLACES } from './support/places.ts';
import { createWebSocketApi, type WebSocketApi } from './support/websocket-api.ts';

/** The dispatcher ends 20 s before the end of its time. */
const CONTEXT = { awsRequestId: 'test', getRemainingTimeInMillis: () => 26_000 };

describe.each(S3_PLACES)('tails over the WebSocket API of $name', ({ endpoint }) => {
  let api: WebSocketApi;
  let connections: Connections;
  const ends: (() => void)[] = [];
  beforeAll(async () => {
    api = await createWebSocketApi(endpoint);
    const client = createConnectionsClient({ endpoint: api.endpoint });
    ends.push(() => client.destroy());
    const call = createCaller({ clock: SYSTEM_CLOCK, limits: CONNECTIONS_LIMITS });
    connections = apiGatewayConnections({ client: () => client, call });
  });
  afterAll(() => {
    for (const end of ends.splice(0)) end();
  });

  test('posts arrive whole and in order until the client leaves, and then report that it is gone', async () => {
    const client = await api.connect({});
    const texts = ['first', 'zweite: ü€😀', 'x'.repeat(128_000)];
    for (const text of texts)
      expect(await connections.post(client.connectionId, Buffer.from(text))).toBe('ok');
    await client.received(texts.length);
    expect(client.messages).toEqual(texts);
    expect(await connections.get(client.connectionId)).toBeDefined();
    client.socket.close();
    await client.closed;
    // The emulator hears of it a moment later.
    while ((await connections.post(client.connectionId, Buffer.from('x'))) !== 'gone')
      await SYSTEM_CLOCK.sleep(20);
    expect(await connections.get(client.connectionId)).toBeUndefined();
    await connections.close(client.connectionId, { code: 1011, reason: 'late' });
    expect(await connections.post('nobody', Buffer.from('x'))).toBe('gone');
  });

  test('closing sends the reason as a frame and ends the connection', async () => {
    const client = await api.connect({});
    await connections.close(client.connectionId, { code: 1011, reason: 'because' });
    expect(await client.closed).toBe(1000);
    expect(client.messages).toEqual(['{"streams":[],"error":"because"}']);
    expect(await connections.post(client.connectionId, Buffer.from('x'))).toBe('gone');
  });

  test('a tail connects, shows earlier and new entries, and ends when the client is gone', async () => {
    const objects = await openObjectStore(endpoint, newName());
    const table = await openTable(endpoint, newName(), SYSTEM_CLOCK);
    ends.push(objects.close, table.close);
    const stores = { store: objects.port, table: table.port };
    const settings = {
      config: { ...DEFAULT_CONFIG, server: { ...DEFAULT_CONFIG.server, logLevel: 'error' as const } },
      warnings: [],
    };
    const push = assemble('push', settings, stores);
    const pushed = async (line: string) => {
      const { statusCode } = await push(jsonPushEvent('acme', [line], Date.now()), CONTEXT);
      expect(statusCode).toBe(204);
    };
    await pushed('before');
    const client = await api.connect({ query: '{app="a"}' }, { 'x-scope-orgid': 'acme' });
    const functionOf = (name: 'tail-connect' | 'tail-dispatch' | 'tail-disconnect') =>
      assembleTailFunction(name, settings, stores, connections);
    expect(await createConnectHandler(functionOf('tail-connect'))(client.event)).toEqual({ statusCode: 200 });
    const dispatch = () => createDispatchHandler(functionOf('tail-dispatch'))({ tenant: 'acme' }, CONTEXT);
    const running = dispatch();
    await client.received(1);
    await pushed('live');
    await client.received(2);
    expect(linesOf(client.messages)).toEqual(['before', 'live']);
    await running;
    client.socket.close();
    await client.closed;
    while ((await connections.get(client.connectionId)) !== undefined) await SYSTEM_CLOCK.sleep(20);
    await pushed('to nobody');
    // The next post finds the connection gone and forgets it, even if no disconnect was reported.
    const { catalog } = functionOf('tail-dispatch').parts;
    await dispatch();
    while ((await catalog.subscriptions.list('acme')).length > 0) await SYSTEM_CLOCK.sleep(20);
    const disconnected = { requestContext: { connectionId: client.connectionId, eventType: 'DISCONNECT' } };
    expect(await createDisconnectHandler(functionOf('tail-disconnect'))(disconnected)).toEqual({
      statusCode: 200,
    });
  });

  /**
   * Each of these is described in docs/dev/aws-emulators.md. If one changes, update the page, and the adapter's
   * tests if necessary.
   */
  test('differences of the emulator from API Gateway are as documented', async () => {
    const client = await api.connect({});
    expect(await connections.get(client.connectionId)).toEqual({ connectedMs: 0, lastActiveMs: 0 });
    expect(await connections.post(client.connectionId, Buffer.alloc(128 * 1024 + 1, 0x78))).toBe('ok');
    await client.received(1);
    expect(await connections.post(client.connectionId, Buffer.from(''))).toBe('ok');
    expect(await connections.post(client.connectionId, Buffer.from('next'))).toBe('ok');
    await client.received(2);
    expect(client.messages[1]).toBe('next');
    client.socket.close();
    await client.closed;
    await expect(api.connect({ refuse: '401' })).rejects.toThrow('Unexpected server response: 403');
  });
});
