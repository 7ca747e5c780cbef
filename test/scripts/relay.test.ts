/** Relay between a tested client and the store: it proves that a client met 429, so its counts must be right. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createRelay, type Relay, statusCounter } from '../../scripts/clients/relay.mjs';

/** Response of the store to each request. */
let reply: string;
let store: Server;
let relay: Relay;
const sockets = new Set<Socket>();

beforeEach(async () => {
  store = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(reply));
  }).listen(0, '127.0.0.1');
  await once(store, 'listening');
  relay = await createRelay((store.address() as AddressInfo).port);
  await relay.open();
});
afterEach(async () => {
  relay.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  store.close();
  await once(store, 'close');
});

const answer = (status: string) => `HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\nok`;

test('passes responses on and counts them by status', async () => {
  reply = answer('429 Too Many Requests');
  for (const expected of [1, 2]) {
    const response = await fetch(relay.url);
    expect([response.status, await response.text()]).toEqual([429, 'ok']);
    expect([relay.count(429), relay.count(204)]).toEqual([expected, 0]);
  }
});

test('counts a status line once, wherever it is split', () => {
  const text = answer('429 Too Many Requests');
  for (let at = 1; at < text.length; at++) {
    const counts = new Map<string, number>();
    const count = statusCounter(counts);
    for (const part of [text.slice(0, at), text.slice(at), text]) count(Buffer.from(part));
    expect([at, ...counts]).toEqual([at, ['429', 2]]);
  }
});

test('opens when a starting store accepts connections', async () => {
  reply = answer('200 OK');
  relay.close();
  const { port } = store.address() as AddressInfo;
  store.close();
  await once(store, 'close');
  let isOpen = false;
  const opened = relay.openWithStore({ ended: false }).then(() => {
    isOpen = true;
  });
  await expect(fetch(relay.url)).rejects.toThrow();
  expect(isOpen).toBe(false);
  store.listen(port, '127.0.0.1');
  await opened;
  expect((await fetch(relay.url)).status).toBe(200);
});

test('refuses connections while it is closed, and has the same port afterwards', async () => {
  reply = answer('200 OK');
  await (await fetch(relay.url)).text();
  relay.close();
  await expect(fetch(relay.url)).rejects.toThrow();
  await relay.open();
  expect((await fetch(relay.url)).status).toBe(200);
  expect(relay.count(200)).toBe(2);
});
