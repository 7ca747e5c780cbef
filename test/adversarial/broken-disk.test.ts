/**
 * Reads, writes and syncs of objects or of the catalog fail with EIO, under the store as `npm start` assembles
 * it. Clients get the reason. Acknowledged entries are there, once, when the disk works again and after a
 * crash.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findEntries } from '../end-to-end/support/ask.ts';
import { startVictim, type Victim } from './support/victim.ts';

const CONFIG = `
auth_enabled: false
server: {log_level: error}
pattern_ingester: {enabled: true}
limits_config: {volume_enabled: true, ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB}
`;
/** Random numbers make a push too large for the catalog, so it is stored as an object. */
const LINES = 2_000;
const FAILED = expect.stringMatching(/^the disk of the store failed/);

let folder: string;
let kindFile: string;
let victim: Victim;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-broken-disk-'));
  kindFile = join(folder, 'failing');
  await fail('nothing');
  await start();
});
afterEach(async () => {
  await victim.stop('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

type Kind = 'reads' | 'heads' | 'lists' | 'deletes' | 'writes' | 'syncs';
const fail = (kind: Kind | `catalog ${Kind}` | 'nothing') => writeFile(kindFile, kind);

async function start(): Promise<void> {
  const dataDir = join(folder, 'data');
  const preloaded = join(import.meta.dirname, 'support', 'failing-files.cjs');
  victim = await startVictim(CONFIG, {
    dataDir,
    environment: {
      NODE_OPTIONS: `--require=${preloaded}`,
      LOGBOOM_TEST_FAILING: kindFile,
      LOGBOOM_TEST_FOLDER: dataDir,
    },
  });
}

async function push(lines = LINES): Promise<readonly [number, string]> {
  const values = Array.from({ length: lines }, (_, i) => [`${Date.now() - i}000000`, `${randomUUID()} ${i}`]);
  const { status, text } = await victim.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
  });
  return [status, text];
}

const query = () =>
  victim.client.send({
    path: '/loki/api/v1/query_range',
    query: { query: '{app="a"} |= "1"', limit: '10', since: '1h' },
  });

const found = async () =>
  (await findEntries(victim.client, { query: '{app="a"}', limit: '5000', since: '1h' })).length;

test('a query fails with the reason while objects cannot be read, and later finds everything', async () => {
  expect(await push()).toEqual([204, '']);
  await fail('reads');
  for (let i = 0; i < 2; i++) {
    const { status, text } = await query();
    expect([status, text]).toEqual([503, FAILED]);
  }
  // A push reads nothing.
  expect(await push()).toEqual([204, '']);
  expect((await victim.client.send({ path: '/ready' })).status).toBe(200);
  await fail('nothing');
  expect(await found()).toBe(2 * LINES);
});

test.each(['writes', 'syncs'] as const)(
  'a push fails with the reason and stores nothing, also after a crash, while %s of objects fail',
  async kind => {
    expect(await push()).toEqual([204, '']);
    await fail(kind);
    for (let i = 0; i < 2; i++) expect(await push()).toEqual([503, FAILED]);
    expect(await found()).toBe(LINES);
    await victim.stop('SIGKILL');
    await start();
    expect(await found()).toBe(LINES);
    await fail('nothing');
    expect(await push()).toEqual([204, '']);
    expect(await found()).toBe(2 * LINES);
  },
);

const SELECTOR = { query: '{app="a"}', since: '1h' };
const METRIC = { query: 'count_over_time({app="a"}[1h])' };
const DELETE = { query: '{app="b"}', start: '1000000000', end: '1000000100' };
const RULES = JSON.stringify({ name: 'g', interval: '1h', rules: [{ record: 'a', expr: METRIC.query }] });

interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const READS: readonly Call[] = [
  { path: '/loki/api/v1/query_range', query: { ...SELECTOR, limit: '10' } },
  { path: '/loki/api/v1/query', query: METRIC },
  { path: '/loki/api/v1/labels', query: { since: '1h' } },
  { path: '/loki/api/v1/label/app/values', query: { since: '1h' } },
  { path: '/loki/api/v1/series', query: { 'match[]': '{app="a"}', since: '1h' } },
  ...[
    'index/stats',
    'index/volume',
    'index/volume_range',
    'patterns',
    'detected_fields',
    'detected_labels',
  ].map(name => ({ path: `/loki/api/v1/${name}`, query: SELECTOR })),
  { path: '/loki/api/v1/delete' },
  { path: '/prometheus/api/v1/rules' },
  { path: '/prometheus/api/v1/alerts' },
  { path: '/svc/api/v1/usage' },
  { path: '/svc/api/v1/status/maintenance' },
  { path: '/ring' },
];
const WRITES: readonly Call[] = [
  { method: 'POST', path: '/loki/api/v1/delete', query: DELETE },
  { method: 'POST', path: '/loki/api/v1/rules/a', body: RULES },
];

/** Calls with another result than the wanted one, with their result. */
async function answeredNot(calls: readonly Call[], wanted: 'done' | 'failed'): Promise<string[]> {
  const others: string[] = [];
  for (const call of calls) {
    const { status, text } = await victim.client.send(call);
    const isFailed = status === 503 && text.includes('the disk of the store failed');
    if (wanted === 'failed' ? !isFailed : status >= 300) others.push(`${call.path}: ${status} ${text}`);
  }
  return others;
}

test('reads fail with the reason while the catalog cannot be read, and pushes continue', async () => {
  expect(await push()).toEqual([204, '']);
  expect(await answeredNot([...READS, ...WRITES], 'done')).toEqual([]);
  await fail('catalog reads');
  expect(await answeredNot([...READS, ...WRITES], 'failed')).toEqual([]);
  expect(await push()).toEqual([204, '']);
  expect((await victim.client.send({ path: '/ready' })).status).toBe(200);
  await fail('nothing');
  expect(await answeredNot([...READS, ...WRITES], 'done')).toEqual([]);
  expect(await found()).toBe(2 * LINES);
});

test.each(['catalog writes', 'catalog syncs'] as const)(
  'every write fails with the reason and stores nothing, also after a crash, while %s fail',
  async kind => {
    expect(await push()).toEqual([204, '']);
    await fail(kind);
    expect(await push()).toEqual([503, FAILED]);
    // One line is stored in the catalog only.
    expect(await push(1)).toEqual([503, FAILED]);
    expect(await answeredNot(WRITES, 'failed')).toEqual([]);
    expect(await answeredNot(READS, 'done')).toEqual([]);
    expect(await found()).toBe(LINES);
    await victim.stop('SIGKILL');
    await fail('nothing');
    await start();
    expect(await found()).toBe(LINES);
    expect(await answeredNot([...READS, ...WRITES], 'done')).toEqual([]);
    expect(await push(1)).toEqual([204, '']);
    expect(await found()).toBe(LINES + 1);
  },
);

test.each(['heads', 'lists', 'deletes'] as const)(
  'pushes and queries succeed while %s of objects fail',
  async kind => {
    await fail(kind);
    expect(await push()).toEqual([204, '']);
    expect((await victim.client.send({ method: 'POST', path: '/flush' })).status).toBe(204);
    expect(await answeredNot([...READS, ...WRITES], 'done')).toEqual([]);
    expect(await found()).toBe(LINES);
    await fail('nothing');
    expect(await push()).toEqual([204, '']);
    expect(await found()).toBe(2 * LINES);
  },
);
