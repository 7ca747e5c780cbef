/**
 * A store whose port several front threads listen on, as on a machine with many cores. The system decides
 * which of them a connection reaches: so clients open many connections, and every property of the store holds
 * on each.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { logboom } from '../bin/run-command.ts';
import { findEntries, getJson } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';
import { openTail } from './support/tail-client.ts';

const TENANT = 'acme';
/** Two fronts with four ingest threads each. */
const CORES = 8;
/** One connection each: that none of them meets one of the fronts happens once in 8 million tests. */
const CLIENTS = 24;
const LIMITS =
  'reject_old_samples: false, ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB';

let store: TestStore;
let clients: HttpClient[];
const start = async (yaml: string) => {
  store = await startStore(`auth_enabled: true\n${yaml}`, { cores: CORES });
  await untilAllListen({ 'x-scope-orgid': 'warm' });
};

/** Fronts are started by pushes that come side by side; connections that are opened then are divided. */
async function untilAllListen(headers: Readonly<Record<string, string>>): Promise<void> {
  for (;;) {
    const pushes = Array.from({ length: 8 }, () => push(store.client, 'warm', headers));
    for (const { status, text } of await Promise.all(pushes)) expect([status, text]).toEqual([204, '']);
    const { text } = await store.client.send({ path: '/metrics', headers });
    if (text.includes('thread="front-1",part="heap"')) break;
  }
  clients = Array.from({ length: CLIENTS }, () => createClient(store.url));
}

let isStopped: boolean;
beforeEach(() => {
  isStopped = false;
  clients = [];
});
const stop = async () => {
  isStopped = true;
  for (const client of clients) client.close();
  await store.stop();
};
afterEach(async () => {
  if (!isStopped) await stop();
});

const nowNs = () => BigInt(SYSTEM_CLOCK.nowMs()) * 1_000_000n;

function push(client: HttpClient, line: string, headers: Readonly<Record<string, string>> = {}) {
  return client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'x-scope-orgid': TENANT, 'content-type': JSON_TYPE, ...headers },
    body: jsonPush([{ labels: { app: 'a' }, entries: [{ ns: nowNs(), line }] }]),
  });
}

const sumOf = (text: string, counts: RegExp) =>
  [...text.matchAll(counts)].reduce((sum, [, count]) => sum + Number(count), 0);

test('every front finds the entries that one front has stored, and metrics cover all fronts', async () => {
  await start(`limits_config: { ${LIMITS} }`);
  const answers = await Promise.all(clients.map((client, i) => push(client, `line ${i}`)));
  expect(answers.map(({ status, text }) => [status, text])).toEqual(clients.map(() => [204, '']));
  const expected = clients.map((_, i) => `line ${i}`).sort();
  for (const client of clients) {
    const query = {
      query: '{app="a"}',
      start: `${nowNs() - 600_000_000_000n}`,
      end: `${nowNs() + 1_000_000_000n}`,
      limit: '100',
    };
    const found = await findEntries(client, query, { tenant: TENANT });
    expect(found.map(({ line }) => line).sort()).toEqual(expected);
  }
  const { text } = await store.client.send({ path: '/metrics' });
  // Each front has separate ingest threads, and each was needed.
  expect(text).toContain('logboom_thread_starts_total{thread="front-1"} 1');
  expect(text).toContain('logboom_thread_starts_total{thread="ingest-0"} 1');
  expect(text).toContain('logboom_thread_starts_total{thread="ingest-4"} 1');
  expect(text).toMatch(
    new RegExp(`^loki_distributor_lines_received_total\\{.*tenant="${TENANT}".*\\} ${CLIENTS}$`, 'm'),
  );
  const lines = sumOf(text, /^loki_distributor_lines_received_total\{.*\} (\d+)$/gm);
  const pushes = sumOf(text, /^loki_request_duration_seconds_count\{.*route="loki_api_v1_push".*\} (\d+)$/gm);
  // One line a push, those that started the fronts included.
  expect(pushes).toBe(lines);
});

test('live tails of every front get the entries of all fronts', async () => {
  await start(`limits_config: { ${LIMITS}, max_concurrent_tail_requests: 100 }`);
  const tails = await Promise.all(
    Array.from({ length: 8 }, () =>
      openTail(store, { query: '{app="a"}', limit: '100' }, { tenant: TENANT }),
    ),
  );
  await Promise.all(clients.map((client, i) => push(client, `line ${i}`)));
  const expected = clients.map((_, i) => `line ${i}`).sort();
  for (const tail of tails) expect((await tail.atLeast(CLIENTS)).toSorted()).toEqual(expected);
  for (const tail of tails) await tail.close();
});

test('every front requires tokens, before it reads a body', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-fronts-'));
  const yaml = 'auth_enabled: true\nauth: { tokens_enabled: true }';
  const config = join(dataDir, 'config.yaml');
  await writeFile(config, yaml);
  const args = [
    '--name',
    'root',
    '--tenant',
    '*',
    '--scope',
    'logs:write',
    '--scope',
    'admin',
    '--expires',
    '1d',
  ];
  const made = await logboom(['token', 'create', ...args, '--config', config, '--data-dir', dataDir]);
  expect(made.stderr).toMatch(/^token /);
  const admin = { authorization: `Bearer ${made.stdout.trim()}`, 'x-scope-orgid': TENANT };
  store = await startStore(yaml, { cores: CORES, dataDir });
  await untilAllListen(admin);
  for (const client of clients) {
    expect((await push(client, 'line')).status).toBe(401);
    const headers = { authorization: 'Bearer nonsense' };
    expect((await push(client, 'line', headers)).status).toBe(401);
    expect((await client.send({ path: '/loki/api/v1/labels', headers })).status).toBe(401);
  }
});

test('the rate limit of a tenant covers all fronts', async () => {
  await start('limits_config: { ingestion_rate_mb: 0.000001, ingestion_burst_size_mb: 0.001 }');
  // Each its own line: the same push sent twice is stored once, and takes from the burst once.
  const answers = await Promise.all(clients.map((client, i) => push(client, `${i}`.padStart(300, 'x'))));
  // The burst of 1 KB takes three of them.
  expect(answers.filter(({ status }) => status === 204)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(CLIENTS - 3);
});

test('every front reports the sockets of all', async () => {
  await start(`limits_config: { ${LIMITS} }\nlogboom: { connections_api: true }`);
  for (const client of clients) {
    expect((await client.send({ path: '/@connections/of-nobody' })).status).toBe(410);
  }
});

test('a store that refuses pushes refuses them on every front', async () => {
  await start(`limits_config: { ${LIMITS} }`);
  await store.client.send({ method: 'POST', path: '/ingester/shutdown?flush=false&terminate=false' });
  const answers = await Promise.all(clients.map(client => push(client, 'line')));
  expect(answers.map(({ status }) => status)).toEqual(clients.map(() => 503));
  expect(await getJson(store.client, '/api/v1/labels', {}, { tenant: TENANT })).toMatchObject({
    status: 'success',
  });
});

test('stops with connections open on every front, and gives the port back', async () => {
  await start(`limits_config: { ${LIMITS} }`);
  await Promise.all(clients.map((client, i) => push(client, `line ${i}`)));
  const tail = await openTail(store, { query: '{app="a"}' }, { tenant: TENANT });
  await stop();
  expect(await tail.closed).toMatchObject({ code: 1001 });
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(Number(new URL(store.url).port), '127.0.0.1', resolve);
  });
  await new Promise(resolve => server.close(resolve));
});
