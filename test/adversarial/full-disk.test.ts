/**
 * A store in a separate process on a disk that is full or read-only. If this process may not mount a small
 * disk, test/end-to-end/unwritable-disk.test.ts covers the same with stores that fail.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findEntries } from '../end-to-end/support/ask.ts';
import type { ClientAnswer } from '../end-to-end/support/client.ts';
import { until } from '../support/until.ts';
import { mountSmallDisk, type SmallDisk } from './support/small-disk.ts';
import { startVictim, type Victim } from './support/victim.ts';

const CONFIG = `
auth_enabled: false
server: {log_level: error}
limits_config: {deletion_mode: filter-and-delete, ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB}
`;
/** Settings that run jobs every second. */
const JOBS = `compactor: {compaction_interval: 1s, retention_delete_delay: 1s}
logboom: {collection_interval: 1s}
`;
/** Age of entries that expire: their day is before that of every kept entry. */
const OLD_MS = 3 * 86_400_000;
const FULL =
  'the disk of the store is full: entries are refused until there is space; free some, then retry\n';
const READ_ONLY =
  'the disk of the store is read-only: entries are refused until it is writable; retry later\n';
const SIGNALS = ['SIGKILL', 'SIGTERM'] as const;

const probe = mountSmallDisk(1);
probe?.remove();
const onDisks = probe === undefined ? describe.skip : describe;

let disk: SmallDisk;
let victim: Victim | undefined;
beforeEach(() => {
  disk = mountSmallDisk(24)!;
});
afterEach(async () => {
  await victim?.stop('SIGKILL');
  victim = undefined;
  disk.remove();
});

async function start(config = CONFIG): Promise<Victim> {
  victim = await startVictim(config, { dataDir: join(disk.folder, 'data') });
  return victim;
}

async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  await victim!.stop(signal);
  victim = undefined;
}

let pushed = 0;
function push(lines: number, ageMs = 0): Promise<ClientAnswer> {
  const values = Array.from({ length: lines }, () => [
    `${Date.now() - ageMs}000000`,
    `line ${pushed++} ${randomUUID()}`,
  ]);
  return victim!.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
  });
}

const found = async () =>
  (await findEntries(victim!.client, { query: '{app="a"}', limit: '5000', since: '1h' })).length;

const ask = (method: string, path: string, query: Record<string, string> = {}) =>
  victim!.client.send({ method, path, query });

const askDelete = (line: string) =>
  ask('POST', '/loki/api/v1/delete', {
    query: `{app="a"} |= "${line}"`,
    start: String(Math.floor(Date.now() / 1000) - 3_600),
  });

const isReady = async () => (await ask('GET', '/ready')).status === 200;

/** Checks the responses of a store whose disk accepts no new entries. */
async function expectRefusals(message: string, entries: number): Promise<void> {
  const small = await push(1);
  expect([small.status, small.text]).toEqual([503, message]);
  const large = await push(2_000);
  expect([large.status, large.text]).toEqual([503, message]);
  const otlp = await victim!.client.send({
    method: 'POST',
    path: '/otlp/v1/logs',
    headers: { 'content-type': 'application/json' },
    body: '{"resourceLogs":[]}',
  });
  expect([otlp.status, otlp.text]).toEqual([503, expect.stringContaining(message.trim())]);
  const ready = await ask('GET', '/ready');
  expect([ready.status, ready.text]).toEqual([503, message]);
  expect((await ask('GET', '/metrics')).text).toMatch(/^logboom_disk_writable 0$/m);
  expect(await found()).toBe(entries);
}

async function expectRecovery(entries: number): Promise<void> {
  await until(isReady);
  expect((await push(1)).status).toBe(204);
  expect((await push(500)).status).toBe(204);
  expect(await found()).toBe(entries + 501);
  expect((await ask('GET', '/metrics')).text).toMatch(/^logboom_disk_writable 1$/m);
}

onDisks('a full disk', () => {
  test('a store whose disk fills refuses pushes, accepts queries and deletes, and recovers', async () => {
    await start();
    expect((await push(500)).status).toBe(204);
    disk.fill();
    await until(async () => !(await isReady()));
    // The reserve of the store is filled, too, except for what the store needs itself.
    await expectRefusals(FULL, 500);
    expect((await askDelete('line 7 ')).status).toBe(204);
    expect(JSON.parse((await ask('GET', '/loki/api/v1/delete')).text)).toHaveLength(1);
    expect(await found()).toBe(499);
    disk.free();
    await expectRecovery(499);
  });

  test.each(SIGNALS)(
    'a store that starts on a full disk after %s refuses pushes, and recovers',
    async signal => {
      await start();
      expect((await push(500)).status).toBe(204);
      await end(signal);
      disk.fill();
      await start();
      await expectRefusals(FULL, 500);
      const first = pushed - 2_001 - 500;
      expect((await askDelete(`line ${first + 3} `)).status).toBe(204);
      expect(await found()).toBe(499);
      disk.free();
      await expectRecovery(499);
    },
  );

  test('a store without its reserve starts for reads, and accepts pushes again when there is space', async () => {
    await start();
    expect((await push(500)).status).toBe(204);
    await end('SIGTERM');
    rmSync(join(disk.folder, 'data', 'reserve'));
    disk.fill();
    await start();
    await expectRefusals(FULL, 500);
    const refused = await askDelete('anything');
    expect(refused.status).toBe(503);
    expect(refused.text).toMatch(/^the disk of the store is /);
    disk.free();
    await expectRecovery(500);
  });

  test('a push without space fails with the reason, and acknowledged entries are kept', async () => {
    await start();
    const answers: ClientAnswer[] = [];
    let entries = 0;
    do {
      const answer = await push(2_000);
      answers.push(answer);
      if (answer.status === 204) entries += 2_000;
    } while (answers.at(-1)!.status === 204);
    expect([answers.at(-1)!.status, answers.at(-1)!.text]).toEqual([503, FULL]);
    const counted = await ask('GET', '/loki/api/v1/query', {
      query: 'sum(count_over_time({app="a"}[1h]))',
    });
    expect(JSON.parse(counted.text).data.result[0].value[1]).toBe(String(entries));
  });
});

onDisks('a disk that is full of old entries', () => {
  test('retention frees space while pushes are refused', async () => {
    await start();
    expect((await push(500)).status).toBe(204);
    let old: ClientAnswer;
    do old = await push(5_000, OLD_MS);
    while (old.status === 204);
    expect([old.status, old.text]).toEqual([503, FULL]);
    await end('SIGTERM');
    // No test code frees space.
    await start(CONFIG.replace('limits_config: {', `${JOBS}limits_config: {retention_period: 24h, `));
    expect(await found()).toBe(500);
    await expectRecovery(500);
  });
});

onDisks('a disk that cannot be written', () => {
  test.each(SIGNALS)('a store that starts after %s reads, and recovers', async signal => {
    await start();
    expect((await push(500)).status).toBe(204);
    expect((await push(1)).status).toBe(204);
    await end(signal);
    disk.makeReadOnly();
    await start();
    await expectRefusals(READ_ONLY, 501);
    const refused = await askDelete('anything');
    expect([refused.status, refused.text]).toEqual([503, READ_ONLY]);
    disk.makeWritable();
    await expectRecovery(501);
  });
});
