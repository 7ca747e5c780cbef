/**
 * Three real processes on one folder, each a part of the store: what one accepts another finds, one does what
 * another requests, and when one leaves the others continue.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { type ServerProcess, startProcess } from './support/server-process.ts';

const TARGETS = ['write', 'read', 'backend'] as const;
type Name = (typeof TARGETS)[number];

/** Only requested days are merged during the test. */
const configOf = (target: Name) => `
target: ${target}
auth_enabled: false
server: { http_listen_address: 127.0.0.1, log_level: error }
compactor: { compaction_interval: 1s }
limits_config: { reject_old_samples: false }
logboom: { query_workers: 0 }
`;
/** Noon: all of it is one day. */
const T0 = 1_704_110_400_000_000_000n;

let folder: string;
const processes = new Map<Name, ServerProcess>();
const clients = new Map<Name, HttpClient>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-several-'));
  for (const target of TARGETS) await writeFile(join(folder, `${target}.yaml`), configOf(target));
  const started = await Promise.all(
    TARGETS.map(target => startProcess(join(folder, `${target}.yaml`), join(folder, 'data'))),
  );
  TARGETS.forEach((target, i) => {
    processes.set(target, started[i]);
    clients.set(target, createClient(started[i].url));
  });
});

afterAll(async () => {
  for (const client of clients.values()) client.close();
  await Promise.all([...processes.values()].map(one => one.end('SIGTERM')));
  await rm(folder, { recursive: true });
});

const at = (name: Name) => clients.get(name)!;

async function push(line: number): Promise<number> {
  const entries = [{ ns: T0 + BigInt(line), line: `line ${line}` }];
  const body = jsonPush([{ labels: { app: 'shop' }, entries }]);
  const headers = { 'content-type': JSON_TYPE };
  return (await at('write').send({ method: 'POST', path: '/loki/api/v1/push', headers, body })).status;
}

async function linesFound(): Promise<number> {
  const query = { query: '{app="shop"}', start: String(T0), end: String(T0 + 1000n), limit: '1000' };
  return (await findEntries(at('read'), query)).length;
}

async function members(name: Name, path: string): Promise<number> {
  const { json } = await at(name).send({ path, headers: { accept: 'application/json' } });
  return (json() as { shards: unknown[] }).shards.length;
}

test('write, read and backend share a folder', async () => {
  for (const name of TARGETS) expect((await at(name).send({ path: '/ready' })).status).toBe(200);
  for (let line = 0; line < 5; line++) expect(await push(line)).toBe(204);
  expect(await linesFound()).toBe(5);

  // Each serves its part and no other.
  expect((await at('read').send({ method: 'POST', path: '/loki/api/v1/push', body: '{}' })).status).toBe(404);
  expect((await at('write').send({ path: '/loki/api/v1/query_range' })).status).toBe(404);
  expect((await at('backend').send({ path: '/loki/api/v1/labels' })).status).toBe(404);

  // All of them see all of them; each ring has those that run its component.
  for (const name of TARGETS) expect(await members(name, '/memberlist')).toBe(3);
  expect(await members('write', '/ring')).toBe(1);
  expect(await members('backend', '/compactor/ring')).toBe(1);
  expect(await members('read', '/scheduler/ring')).toBe(1);

  // Requested from one process, done by another.
  expect((await at('write').send({ method: 'POST', path: '/flush' })).status).toBe(204);
  await until(async () => {
    const { json } = await at('backend').send({ path: '/loki/api/v1/status/maintenance' });
    const { jobs } = json() as { jobs: { name: string; last_run: { figures: { rows: number } } | null }[] };
    return (jobs.find(({ name }) => name === 'compaction')?.last_run?.figures.rows ?? 0) === 5;
  });
  expect(await linesFound()).toBe(5);
  const metrics = await at('backend').send({ path: '/metrics' });
  expect(metrics.text).toMatch(/logboom_job_figures_total\{job="compaction",figure="merges"\} 1\b/);
  expect(metrics.text).toMatch(/loki_tcp_connections\{protocol="http"\} [1-9]/);

  // One leaves: the others notice it, and continue.
  const { status } = await at('write').send({ method: 'POST', path: '/ingester/shutdown' });
  expect(status).toBe(204);
  await until(async () => (await members('read', '/memberlist')) === 2);
  expect(await linesFound()).toBe(5);
  expect(await members('backend', '/memberlist')).toBe(2);
});
