/**
 * Merge inputs of an assembled store are deleted from disk while queries run, or kept if a setting requires it.
 */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type LocalStore, startLocal } from '../../local/start.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';

const TENANT = 'acme';
/**
 * Objects stay for an hour unless no process reads them; nothing is stored inline in the catalog, and no
 * query result is cached.
 */
const CONFIG = `auth_enabled: true
logboom: { object_grace_period: 1h, collection_interval: 100ms, inline_max_bytes: 0, query_result_cache_bytes: 0 }
limits_config: { reject_old_samples: false }`;
const PUSHES = 40;

let dataDir: string;
let store: LocalStore;
let client: HttpClient;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'logboom-reclaim-'));
  const { config } = parseConfig(CONFIG, { name: 'test', environment: {} });
  const storage = { kind: 'embedded', dataDir } as const;
  store = await startLocal({ config, storage, host: '127.0.0.1', port: 0, logLevel: 'silent', cores: 2 });
  client = createClient(store.url);
});
afterEach(async () => {
  client.close();
  await store.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const startNs = BigInt(SYSTEM_CLOCK.nowMs()) * 1_000_000n;

async function pushAll(): Promise<void> {
  for (let i = 0; i < PUSHES; i++) {
    const answer = await client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: { 'x-scope-orgid': TENANT, 'content-type': JSON_TYPE },
      body: jsonPush([
        {
          labels: { app: 'a' },
          entries: [{ ns: startNs + BigInt(i), line: `line ${i} ${'x'.repeat(2000)}` }],
        },
      ]),
    });
    expect(answer.status).toBe(204);
  }
}

const chunks = async () => {
  const all = () => readdir(join(dataDir, 'objects'), { recursive: true, withFileTypes: true });
  // A folder that empties while it is listed is gone.
  let names = await all().catch(() => undefined);
  while (names === undefined) names = await all().catch(() => undefined);
  return names.filter(name => name.isFile() && !name.parentPath.includes('index'));
};
const flush = () =>
  client.send({ method: 'POST', path: '/flush/tenant', headers: { 'x-scope-orgid': TENANT } });
const ask = () => {
  const query = {
    query: '{app="a"} |= "line"',
    start: `${startNs - 1n}`,
    end: `${startNs + 1_000_000n}`,
    limit: '1000',
  };
  return findEntries(client, query, { tenant: TENANT });
};

async function keptPages(): Promise<number> {
  const { text } = await client.send({ path: '/metrics' });
  return Number(/^logboom_page_cache_pages (\d+)$/m.exec(text)?.[1]);
}

test('cached inputs of a merge leave memory with them', async () => {
  await pushAll();
  for (let i = 0; i < 2; i++) expect(await ask()).toHaveLength(PUSHES);
  expect(await keptPages()).toBe(PUSHES);
  expect((await flush()).status).toBe(204);
  while ((await chunks()).length > 1 || (await keptPages()) > 0) await nextTurn();
  for (let i = 0; i < 2; i++) expect(await ask()).toHaveLength(PUSHES);
  expect(await keptPages()).toBe(1);
});

test('inputs of a merge are gone soon, and no query misses one', async () => {
  await pushAll();
  expect(await chunks()).toHaveLength(PUSHES);
  const flushed = flush();
  // Every answer is whole, before, in the middle and behind.
  do expect(await ask()).toHaveLength(PUSHES);
  while ((await chunks()).length > 1);
  expect((await flushed).status).toBe(204);
  expect(await ask()).toHaveLength(PUSHES);
});

test('they stay while a marker file in the data folder requires it', async () => {
  await pushAll();
  await writeFile(join(dataDir, 'keep-objects'), '');
  await flush();
  // A hundred times what the job needs.
  for (let i = 0; i < 20; i++) await SYSTEM_CLOCK.sleep(100);
  expect(await chunks()).toHaveLength(PUSHES + 1);
  await rm(join(dataDir, 'keep-objects'));
  await until(async () => (await chunks()).length <= 1);
});
