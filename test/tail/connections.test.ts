/**
 * The contract of Connections: in memory, on the sockets of the gateway, and by the AWS adapter with the real SDK client against
 * the management API of the gateway.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { createConnectionsApi } from '../../local/connections-api.ts';
import { socketConnections } from '../../local/websocket-connections.ts';
import {
  apiGatewayConnections,
  CONNECTIONS_LIMITS,
  createConnectionsClient,
} from '../../shared/aws/api-gateway-connections.ts';
import { createCaller } from '../../shared/aws/caller.ts';
import {
  type Connections,
  closeReason,
  MAX_CLOSE_REASON_BYTES,
} from '../../shared/base/ports/connections.ts';
import { memoryConnections } from '../../shared/base/ports/memory/connections.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';

const MAX_MESSAGE_BYTES = 128 * 1024;

interface Client {
  readonly messages: string[];
  /** Resolves when there are as many messages. */
  received(count: number): Promise<void>;
  readonly ended: Promise<{ code: number | undefined; reason: string | undefined }>;
  leave(): Promise<void>;
}

interface Place {
  readonly connections: Connections;
  connect(id: string): Promise<Client>;
  /** Whether the place can give a reason with a close. */
  readonly givesReasons: boolean;
}

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function sockets(): Promise<Place & { server: Server }> {
  const connections = socketConnections(SYSTEM_CLOCK, MAX_MESSAGE_BYTES);
  const server = createServer();
  const upgrader = new WebSocketServer({ noServer: true });
  server.on('upgrade', (incoming, socket, head) => {
    upgrader.handleUpgrade(incoming, socket, head, client => {
      const id = incoming.url!.slice(1);
      connections.add(id, client, socket);
      client.once('close', () => connections.remove(id));
      client.send('connected');
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  ends.push(async () => {
    for (const [, socket] of connections.entries()) socket.terminate();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  return {
    server,
    connections,
    givesReasons: true,
    async connect(id) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/${id}`);
      const messages: string[] = [];
      let waiting: (() => void)[] = [];
      socket.on('message', data => {
        messages.push((data as Buffer).toString());
        for (const wake of waiting.splice(0)) wake();
      });
      const ended = new Promise<{ code: number; reason: string }>(resolve =>
        socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
      );
      const received = async (count: number): Promise<void> => {
        while (messages.length < count) await new Promise<void>(resolve => (waiting = [...waiting, resolve]));
      };
      await received(1);
      messages.splice(0);
      return {
        messages,
        received,
        ended,
        leave: async () => {
          socket.close();
          await ended;
          // The other side hears of it a moment later.
          while ((await connections.get(id)) !== undefined) await SYSTEM_CLOCK.sleep(5);
        },
      };
    },
  };
}

async function managed(): Promise<Place> {
  const { server, connections, connect } = await sockets();
  const answer = createConnectionsApi(connections);
  server.on('request', (incoming, outgoing) => {
    if (!answer(incoming, outgoing)) outgoing.writeHead(404).end();
  });
  const { port } = server.address() as AddressInfo;
  process.env.AWS_ACCESS_KEY_ID ??= 'test';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'test';
  const client = createConnectionsClient({ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' });
  ends.push(() => client.destroy());
  const call = createCaller({ clock: SYSTEM_CLOCK, limits: CONNECTIONS_LIMITS });
  return { connections: apiGatewayConnections({ client: () => client, call }), connect, givesReasons: false };
}

async function inMemory(): Promise<Place> {
  const connections = memoryConnections({ clock: SYSTEM_CLOCK, maxMessageBytes: MAX_MESSAGE_BYTES });
  return {
    connections,
    givesReasons: true,
    async connect(id) {
      const connection = connections.open(id);
      return {
        messages: connection.messages,
        received: async () => undefined,
        get ended() {
          return Promise.resolve({ code: connection.closed?.code, reason: connection.closed?.reason });
        },
        leave: async () => connections.leave(id),
      };
    },
  };
}

const PLACES: readonly [string, () => Promise<Place>][] = [
  ['in memory', inMemory],
  ['sockets of the gateway', sockets],
  ['the SDK against the management API', managed],
];

describe.each(PLACES)('connections: %s', (_, create) => {
  test('messages arrive whole and in the order of their posts', async () => {
    const { connections, connect } = await create();
    const client = await connect('a');
    const texts = ['first', 'zweite: ü€😀', 'x'.repeat(100_000), ''];
    for (const text of texts) expect(await connections.post('a', Buffer.from(text))).toBe('ok');
    await client.received(texts.length);
    expect(client.messages).toEqual(texts);
  });

  test('each message is sent to its connection', async () => {
    const { connections, connect } = await create();
    const [one, two] = [await connect('one'), await connect('two')];
    await connections.post('one', Buffer.from('1'));
    await connections.post('two', Buffer.from('2'));
    await Promise.all([one.received(1), two.received(1)]);
    expect([one.messages, two.messages]).toEqual([['1'], ['2']]);
  });

  test('a message that is too large does not arrive, and the next one does', async () => {
    const { connections, connect } = await create();
    const client = await connect('a');
    expect(await connections.post('a', Buffer.alloc(MAX_MESSAGE_BYTES + 1, 0x78))).toBe('too large');
    expect(await connections.post('a', Buffer.from('small'))).toBe('ok');
    await client.received(1);
    expect(client.messages).toEqual(['small']);
  });

  test('unknown, disconnected and closed connections are gone', async () => {
    const { connections, connect } = await create();
    expect(await connections.post('nobody', Buffer.from('x'))).toBe('gone');
    expect(await connections.get('nobody')).toBeUndefined();
    await connections.close('nobody', { code: 1011, reason: '' });
    const client = await connect('a');
    const info = await connections.get('a');
    expect(info?.connectedMs).toBeLessThanOrEqual(info?.lastActiveMs ?? 0);
    await client.leave();
    expect(await connections.post('a', Buffer.from('x'))).toBe('gone');
    expect(await connections.get('a')).toBeUndefined();
  });

  test('a close ends the connection, with its reason as far as it can be given', async () => {
    const { connections, connect, givesReasons } = await create();
    const client = await connect('a');
    await connections.close('a', { code: 1011, reason: 'because' });
    const { code, reason } = await client.ended;
    if (givesReasons) expect([code, reason]).toEqual([1011, 'because']);
    else expect(client.messages).toEqual(['{"streams":[],"error":"because"}']);
    expect(await connections.post('a', Buffer.from('x'))).toBe('gone');
  });
});

test('reasons are cut at a whole character', () => {
  expect(closeReason('short')).toBe('short');
  const long = closeReason('é'.repeat(100));
  expect(Buffer.byteLength(long)).toBe(MAX_CLOSE_REASON_BYTES - 1);
  expect(long).toBe('é'.repeat(61));
});

test('the management API is for this machine alone', () => {
  const answer = createConnectionsApi(memoryConnections({ clock: SYSTEM_CLOCK }));
  const heads: number[] = [];
  const outgoing = {
    on: () => outgoing,
    setHeader: () => outgoing,
    writeHead: (status: number) => {
      heads.push(status);
      return outgoing;
    },
    end: () => outgoing,
  };
  const from = (remoteAddress: string) => ({
    url: '/@connections/a',
    on: () => undefined,
    socket: { remoteAddress },
  });
  expect(answer(from('192.0.2.1') as never, outgoing as never)).toBe(true);
  expect(heads).toEqual([403]);
  expect(answer({ ...from('192.0.2.1'), url: '/ready' } as never, outgoing as never)).toBe(false);
});

test('the management API: ids that are none are gone, and answers are hardened like all others', async () => {
  const { server } = await sockets();
  const answer = createConnectionsApi(memoryConnections({ clock: SYSTEM_CLOCK }));
  server.on('request', (incoming, outgoing) => void answer(incoming, outgoing));
  const { port } = server.address() as AddressInfo;
  for (const id of ['%zz', '%00', '..%2fx', '__proto__', 'x'.repeat(5000)]) {
    const got = await fetch(`http://127.0.0.1:${port}/@connections/${id}`);
    expect([id, got.status, await got.json()]).toEqual([id, 410, { message: 'GoneException' }]);
    expect(got.headers.get('x-content-type-options')).toBe('nosniff');
    expect(got.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(got.headers.get('cache-control')).toBe('no-store');
  }
});
