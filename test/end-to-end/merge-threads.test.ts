/** An assembled store with several upkeep threads: merges of one day run at the same time, each in another thread. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type OpenedStorage, openStorage } from '../../local/storage.ts';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { MIN_CHUNK_BYTES } from '../../shared/upkeep/compaction/merge-backlog.ts';
import { FULL_CHUNKS, SETTLE_MS } from '../../shared/upkeep/compaction/plan-merges.ts';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const TENANT = 'a';
const MERGES = 2;
const CHUNKS = MERGES * FULL_CHUNKS;
/** Two upkeep threads. */
const CORES = 4;
const CONFIG = `auth_enabled: true
compactor: { compaction_interval: 1h }
logboom: { index_sync_interval: 1h, collection_interval: 1h }`;
/** Noon: no day ends during the test. */
const DAY = Math.floor(SYSTEM_CLOCK.nowMs() / (24 * MS_PER_HOUR)) - 1;
const START_NS = BigInt(DAY * 24 + 12) * BigInt(MS_PER_HOUR) * 1_000_000n;

let store: TestStore;
let storage: OpenedStorage;
let catalog: Catalog;
beforeEach(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-merge-threads-'));
  store = await startStore(CONFIG, { dataDir, cores: CORES });
  storage = await openStorage({ kind: 'embedded', dataDir });
  catalog = new Catalog({ table: storage.table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
});
afterEach(async () => {
  await storage.close();
  await store.stop();
});

/** Each push is one chunk. */
async function push(i: number): Promise<void> {
  const { status } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'x-scope-orgid': TENANT, 'content-type': JSON_TYPE },
    body: jsonPush([{ labels: { app: 'a' }, entries: [{ ns: START_NS + BigInt(i), line: `line ${i}` }] }]),
  });
  expect(status).toBe(204);
}

async function metric(name: string): Promise<number> {
  const { text } = await store.client.send({ method: 'GET', path: '/metrics' });
  const line = text.split('\n').find(one => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

test('runs two merges of a day in two threads, and publishes both', async () => {
  // The only run that looks at all days, while there are none. Later ones merge what pushes have filled.
  expect((await store.client.send({ method: 'POST', path: '/flush' })).status).toBe(204);
  // The day is not merged until it has work for both.
  const lease = (await catalog.leases.take(dayLease(TENANT, DAY), MS_PER_HOUR))!;
  for (let i = 0; i < CHUNKS; i++) await push(i);
  const backlog = () => metric('logboom_merge_backlog_bytes');
  while ((await backlog()) < CHUNKS * MIN_CHUNK_BYTES);
  // Then both merges can be planned together.
  await SYSTEM_CLOCK.sleep(SETTLE_MS);
  await catalog.leases.release(lease);
  await until(async () => (await backlog()) === 0);

  const { records } = (await catalog.day(TENANT, DAY))!;
  expect(records.map(({ level }) => level)).toEqual([1, 1]);
  const range = { query: '{app="a"}', start: `${START_NS}`, end: `${START_NS + 1_000n}`, limit: '1000' };
  expect(await findEntries(store.client, range, { tenant: TENANT })).toHaveLength(CHUNKS);
  expect(await metric('logboom_thread_starts_total{thread="upkeep-1"}')).toBe(1);
  expect(await metric('logboom_thread_completed_calls_total{thread="upkeep-1"}')).toBeGreaterThan(0);
});
