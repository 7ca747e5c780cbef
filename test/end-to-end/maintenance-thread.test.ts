/**
 * A store whose days are merged in a separate thread while pushes and queries continue; and one that is
 * stopped at that time.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startLocal } from '../../local/start.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { lowThreads } from '../support/thread-priorities.ts';
import { findEntries } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';

const TENANT = 'acme';
const HEADERS = { 'x-scope-orgid': TENANT, 'content-type': 'application/json' };
const NOW_MS = Date.now();
const RANGE = { query: '{app="a"}', start: `${NOW_MS - 60_000}000000`, end: `${NOW_MS + 60_000}000000` };
/**
 * No schedule interferes; small pushes are stored in the table, so that every swap and every push writes to
 * it.
 */
const CONFIG =
  'compactor: {compaction_interval: 1h}\nlogboom: {index_sync_interval: 1h, collection_interval: 1h}';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'logboom-thread-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

async function start() {
  const { config } = parseConfig(CONFIG, { name: 'test', environment: {} });
  const storage = { kind: 'embedded', dataDir } as const;
  const store = await startLocal({ config, storage, host: '127.0.0.1', port: 0, logLevel: 'silent' });
  const client = createClient(store.url);
  return {
    client,
    stop: async () => {
      client.close();
      await store.stop();
    },
  };
}

async function push(client: HttpClient, i: number): Promise<number> {
  const streams = [{ stream: { app: 'a' }, values: [[`${NOW_MS + i}000000`, `line ${i}`]] }];
  const body = JSON.stringify({ streams });
  return (await client.send({ method: 'POST', path: '/loki/api/v1/push', headers: HEADERS, body })).status;
}

const flush = (client: HttpClient) =>
  client.send({ method: 'POST', path: '/flush/tenant', headers: HEADERS });

async function lines(client: HttpClient): Promise<string[]> {
  const found = await findEntries(client, { ...RANGE, limit: '5000' }, { tenant: TENANT });
  return found.map(({ line }) => line).sort();
}

test('pushes, merges and questions at the same time', async () => {
  const low = process.platform === 'linux' ? await lowThreads() : 0;
  const { client, stop } = await start();
  const wanted: string[] = [];
  let isOver = false;
  const flushing = (async () => {
    const statuses = new Set<number>();
    do statuses.add((await flush(client)).status);
    while (!isOver);
    return [...statuses];
  })();
  for (let round = 0; round < 25; round++) {
    const some = [0, 1, 2, 3].map(i => round * 4 + i);
    expect(await Promise.all(some.map(i => push(client, i)))).toEqual([204, 204, 204, 204]);
    wanted.push(...some.map(i => `line ${i}`));
    if (round % 5 === 4) expect(await lines(client)).toEqual([...wanted].sort());
  }
  isOver = true;
  expect(await flushing).toEqual([204]);
  expect((await flush(client)).status).toBe(204);
  expect(await lines(client)).toEqual(wanted.sort());
  if (process.platform === 'linux') {
    expect(await lowThreads()).toBeGreaterThan(low);
  }

  // A stop lets the flush end, or cancels it; acknowledged entries are there later.
  expect(await push(client, 1000)).toBe(204);
  const last = flush(client).catch(() => undefined);
  await stop();
  await last;
  const again = await start();
  try {
    expect(await lines(again.client)).toEqual([...wanted, 'line 1000'].sort());
  } finally {
    await again.stop();
  }
});
