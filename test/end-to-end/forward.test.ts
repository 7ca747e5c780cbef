/**
 * One address for two processes on one folder: clients use the process that accepts pushes for everything, and it
 * forwards the rest to the other one.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import WebSocket from 'ws';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { type ServerProcess, startProcess } from './support/server-process.ts';
import { startStore } from './support/store.ts';
import { openTail } from './support/tail-client.ts';

const CONFIG = `
auth_enabled: true
server: { http_listen_address: 127.0.0.1, log_level: error }
limits_config: { reject_old_samples: false }
logboom: { query_workers: 0 }
`;
const T0 = 1_704_110_400_000_000_000n;
const TENANT = { 'x-scope-orgid': 'acme' };

let folder: string;
let store: ServerProcess;
let address: ServerProcess;
let client: HttpClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-forward-'));
  const config = join(folder, 'store.yaml');
  await writeFile(config, CONFIG);
  const data = join(folder, 'data');
  store = await startProcess(config, data, { LOGBOOM_TARGET: 'read' });
  address = await startProcess(config, data, { LOGBOOM_TARGET: 'write', LOGBOOM_FORWARD_TO: store.url });
  client = createClient(address.url);
});

afterAll(async () => {
  client?.close();
  await Promise.all([address?.end('SIGTERM'), store?.end('SIGTERM')]);
  await rm(folder, { recursive: true });
});

async function push(ns: bigint, line: string): Promise<number> {
  const body = jsonPush([{ labels: { app: 'shop' }, entries: [{ ns, line }] }]);
  const headers = { ...TENANT, 'content-type': JSON_TYPE };
  return (await client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body })).status;
}

test('one address accepts pushes, answers queries, and serves the page', async () => {
  expect((await client.send({ path: '/ready' })).status).toBe(200);
  for (let i = 0; i < 3; i++) expect(await push(T0 + BigInt(i), `line ${i}`)).toBe(204);
  const query = { query: '{app="shop"}', start: String(T0), end: String(T0 + 100n), limit: '10' };
  const found = await findEntries(client, query, { tenant: 'acme' });
  expect(found.map(({ line }) => line).sort()).toEqual(['line 0', 'line 1', 'line 2']);
  // Of another tenant.
  expect(await findEntries(client, query, { tenant: 'other' })).toEqual([]);
  const form = new URLSearchParams({ ...query, query: '{app=~".+"} |= "line 1"' }).toString();
  const posted = await client.send({
    method: 'POST',
    path: '/loki/api/v1/query_range',
    headers: { ...TENANT, 'content-type': 'application/x-www-form-urlencoded' },
    body: form,
  });
  expect(posted.text).toContain('line 1');
  expect((await client.send({ path: '/loki/api/v1/labels', headers: TENANT })).json()).toMatchObject({
    status: 'success',
  });
  const noTenant = await client.send({ path: '/loki/api/v1/labels' });
  expect([noTenant.status, noTenant.text]).toEqual([401, 'no org id\n']);
  expect((await client.send({ path: '/ui/' })).headers['content-type']).toMatch(/^text\/html/);
});

test('live tails pass through it', async () => {
  const tail = await openTail(address, { query: '{app="shop"}' });
  expect(await push(BigInt(Date.now()) * 1_000_000n, 'now')).toBe(204);
  expect(await tail.atLeast(1)).toContain('now');
  const { closed } = tail;
  tail.socket.close(1000);
  expect((await closed).code).toBe(1000);
});

/** Status of a tail that is refused, or 101. */
async function tailStatus(headers: Record<string, string>, query = '{app="shop"}'): Promise<number> {
  const url = `${address.url.replace('http', 'ws')}/loki/api/v1/tail?${new URLSearchParams({ query })}`;
  const socket = new WebSocket(url, { headers });
  return new Promise(resolve => {
    socket.on('error', () => {});
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode!));
    socket.on('open', () => {
      socket.close();
      resolve(101);
    });
  });
}

test('refusals of live tails pass through it, and pages of other sites are refused', async () => {
  expect(await tailStatus(TENANT, 'not a query')).toBe(400);
  expect(await tailStatus({})).toBe(401);
  expect(await tailStatus({ ...TENANT, origin: address.url })).toBe(101);
  expect(await tailStatus({ ...TENANT, origin: 'https://evil.example.com' })).toBe(403);
});

test('each of several front threads forwards', async () => {
  const yaml = `
target: write
auth_enabled: true
server: { http_listen_address: 127.0.0.1 }
logboom: { forward_to: '${store.url}' }
`;
  const wide = await startStore(yaml, { cores: 16 });
  try {
    // The system gives each connection to one of the threads.
    for (let i = 0; i < 16; i++) {
      const one = createClient(wide.url);
      const { status } = await one.send({ path: '/loki/api/v1/labels', headers: TENANT });
      one.close();
      expect(status).toBe(200);
      const tail = await openTail(wide, { query: '{app="shop"}' });
      await tail.close();
    }
  } finally {
    await wide.stop();
  }
});

test('if the other process is down, pushes are stored, and other requests fail with the reason', async () => {
  const tail = await openTail(address, { query: '{app="shop"}' });
  await store.end('SIGTERM');
  expect((await tail.closed).code).toBeGreaterThan(1000);
  await until(
    async () => (await client.send({ path: '/loki/api/v1/labels', headers: TENANT })).status === 502,
  );
  const answer = await client.send({ path: '/loki/api/v1/labels', headers: TENANT });
  expect(answer.text).toContain('cannot reach the store at forward_to (ECONNREFUSED)');
  expect(await tailStatus(TENANT)).toBe(502);
  expect(await push(T0 + 50n, 'later')).toBe(204);
  expect((await client.send({ path: '/ready' })).status).toBe(200);
});
