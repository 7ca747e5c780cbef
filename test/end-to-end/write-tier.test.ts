/**
 * The write tier: a process that only accepts pushes, over the protocols of S3 and DynamoDB, next to one that
 * only reads. Pushes share objects and records, and the other process finds acknowledged entries.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeServices, startFakeServices } from '../lib/fake-services.ts';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { type ServerProcess, startProcess } from './support/server-process.ts';

/** Noon: all of it is one day. */
const T0 = 1_704_110_400_000_000_000n;
const PUSHES = 40;
const RANGE = { start: String(T0), end: String(T0 + 1_000_000n), limit: '1000' };

let folder: string;
let services: FakeServices;
let writer: ServerProcess;
let reader: ServerProcess;
let toWriter: HttpClient;
let toMetrics: HttpClient;
let toReader: HttpClient;

async function start(target: string): Promise<ServerProcess> {
  const config = join(folder, `${target}.yaml`);
  await writeFile(
    config,
    `
auth_enabled: false
server: { http_listen_address: 127.0.0.1, log_level: error }
limits_config: { reject_old_samples: false }
logboom: { query_workers: 0, write_tier_wait: 1s }
`,
  );
  return startProcess(config, folder, {
    LOGBOOM_TARGET: target,
    LOGBOOM_STORAGE: 's3',
    LOGBOOM_BUCKET: 'chunks',
    LOGBOOM_TABLE: 'catalog',
    LOGBOOM_ENDPOINT: services.url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'none',
    AWS_SECRET_ACCESS_KEY: 'none',
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-write-tier-'));
  services = await startFakeServices();
  // The first process creates the marks of the store, which these stores do not compare.
  writer = await start('write');
  reader = await start('read');
  toWriter = createClient(writer.url, PUSHES);
  toMetrics = createClient(writer.url);
  toReader = createClient(reader.url);
});

afterAll(async () => {
  toWriter?.close();
  toMetrics?.close();
  toReader?.close();
  await Promise.all([writer?.end('SIGTERM'), reader?.end('SIGTERM')]);
  await services?.close();
  await rm(folder, { recursive: true });
});

async function push(app: string, line: number): Promise<number> {
  const entries = [{ ns: T0 + BigInt(line), line: `line ${line} ${'x'.repeat(200)}` }];
  const body = jsonPush([{ labels: { app, agent: `${line}` }, entries }]);
  const headers = { 'content-type': JSON_TYPE };
  return (await toWriter.send({ method: 'POST', path: '/loki/api/v1/push', headers, body })).status;
}

/** Chunks that pushes stored: records of the catalog. */
const chunkRecords = () => services.items.filter(({ pk }) => String(pk.S).startsWith('c/')).length;

/** Number of pushes that the writer has not acknowledged yet. */
async function runningRequests(): Promise<number> {
  const { text } = await toMetrics.send({ path: '/metrics' });
  const counts = [...text.matchAll(/^loki_inflight_requests\{[^}]*push[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

test('pushes of many agents share chunks, and another process finds all of them', async () => {
  expect((await toWriter.send({ path: '/ready' })).status).toBe(200);
  const statuses = await Promise.all(Array.from({ length: PUSHES }, (_, line) => push('shop', line)));
  expect(statuses).toEqual(Array.from({ length: PUSHES }, () => 204));
  // A few for each ingest thread: a push may arrive after a group was closed.
  expect(chunkRecords()).toBeLessThanOrEqual(6);
  const found = await findEntries(toReader, { query: '{app="shop"}', ...RANGE });
  expect(new Set(found.map(({ ns }) => ns)).size).toBe(PUSHES);
  expect((await toWriter.send({ path: '/loki/api/v1/query_range' })).status).toBe(404);
});

test('a stopped process acknowledges the pushes that it has, and they are found', async () => {
  const running = Array.from({ length: PUSHES }, (_, line) => push('last', line));
  await until(async () => (await runningRequests()) >= PUSHES);
  const ended = writer.end('SIGTERM');
  const statuses = await Promise.all(running);
  await ended;
  expect(statuses).toEqual(Array.from({ length: PUSHES }, () => 204));
  const found = await findEntries(toReader, { query: '{app="last"}', ...RANGE });
  expect(new Set(found.map(({ ns }) => ns)).size).toBe(PUSHES);
});
