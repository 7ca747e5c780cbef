/**
 * A disk whose reads, writes and syncs of objects fail with EIO, under the store as `npm start` assembles it. Clients are told the
 * reason; what was acknowledged is there, once, when the disk works again and after a crash. What fails in the catalog,
 * failing-storage.test.ts tries.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findEntries } from '../end-to-end/support/ask.ts';
import { startVictim, type Victim } from './support/victim.ts';

const CONFIG = `
auth_enabled: false
server: {log_level: error}
limits_config: {ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB}
`;
/** With random numbers too much for the catalog: an object. */
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

const fail = (kind: 'nothing' | 'reads' | 'writes' | 'syncs') => writeFile(kindFile, kind);

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

async function push(): Promise<readonly [number, string]> {
  const values = Array.from({ length: LINES }, (_, i) => [
    `${Date.now() - i}000000`,
    `${Math.random()} ${i}`,
  ]);
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

test('reads of objects: a query fails with the reason, and finds everything when they work again', async () => {
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
  '%s of objects: a push fails with the reason, and nothing of it is there, before and after a crash',
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
