/** An assembled store whose merging is behind: pushes of the tenant that caused it are refused, and accepted again when it has caught up. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type OpenedStorage, openStorage } from '../../local/storage.ts';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { dayLease, type Lease } from '../../shared/storage/catalog/leases.ts';
import { MIN_CHUNK_BYTES } from '../../shared/upkeep/compaction/merge-backlog.ts';
import { FULL_CHUNKS } from '../../shared/upkeep/compaction/plan-merges.ts';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const LOUD = 'loud';
const QUIET = 'quiet';
/** Backlog of pushes that fill one merge. */
const FILLED_BYTES = FULL_CHUNKS * MIN_CHUNK_BYTES;
/** No schedule merges anything; one full merge that waits is the bound. */
const CONFIG = `auth_enabled: true
compactor: { compaction_interval: 1h }
logboom: { max_merge_backlog: ${FILLED_BYTES}, index_sync_interval: 1h, collection_interval: 1h }`;
/** Noon: no day ends during the test. */
const DAY = Math.floor(SYSTEM_CLOCK.nowMs() / (24 * MS_PER_HOUR)) - 1;
const START_NS = BigInt(DAY * 24 + 12) * BigInt(MS_PER_HOUR) * 1_000_000n;

let store: TestStore;
let storage: OpenedStorage;
let catalog: Catalog;
beforeEach(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-backlog-'));
  store = await startStore(CONFIG, { dataDir, cores: 2 });
  storage = await openStorage({ kind: 'embedded', dataDir });
  catalog = new Catalog({ table: storage.table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
});
afterEach(async () => {
  await storage.close();
  await store.stop();
});

/** One after the other, so that each is a chunk. */
async function push(tenant: string, i: number): Promise<{ status: number; text: string }> {
  const entries = [{ ns: START_NS + BigInt(i), line: `line ${i}` }];
  const { status, text } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'x-scope-orgid': tenant, 'content-type': JSON_TYPE },
    body: jsonPush([{ labels: { app: 'a' }, entries }]),
  });
  return { status, text };
}

async function metric(name: string): Promise<number> {
  const { text } = await store.client.send({ method: 'GET', path: '/metrics' });
  const line = text.split('\n').find(one => one.startsWith(`${name} `));
  return Number(line!.slice(name.length + 1));
}

async function levels(tenant: string): Promise<number[]> {
  return (await catalog.day(tenant, DAY))!.records.map(({ level }) => level);
}

/** Merging of the day waits until the lease is released, as if upkeep had no time for it. */
async function holdDay(): Promise<Lease> {
  return (await catalog.leases.take(dayLease(LOUD, DAY), MS_PER_HOUR))!;
}

test('refuses pushes while merging is behind, answers queries, and accepts again when it has caught up', async () => {
  const lease = await holdDay();
  expect(await metric('logboom_merge_backlog_limit_bytes')).toBe(FILLED_BYTES);
  for (let i = 0; i < FULL_CHUNKS; i++) expect((await push(LOUD, i)).status).toBe(204);
  while ((await metric('logboom_merge_backlog_bytes')) === 0);
  expect(await metric('logboom_merge_backlog_bytes')).toBe(FILLED_BYTES);
  expect(await metric('logboom_merge_urgent')).toBe(1);

  const refused = await push(LOUD, FULL_CHUNKS);
  expect(refused.status).toBe(429);
  expect(refused.text).toMatch(
    /^ingestion rate limit exceeded for user loud \(limit: \d+ bytes\/sec\) while attempting to ingest '1' lines totaling '\d+' bytes, reduce log volume or contact your Loki administrator/,
  );
  expect(await metric('logboom_merge_backlog_refused_pushes_total')).toBe(1);
  // Tenants that are not behind continue to push, and queries see all accepted entries.
  expect((await push(QUIET, 0)).status).toBe(204);
  const range = { query: '{app="a"}', start: `${START_NS}`, end: `${START_NS + 1_000n}`, limit: '1000' };
  expect(await findEntries(store.client, range, { tenant: LOUD })).toHaveLength(FULL_CHUNKS);
  expect(await levels(LOUD)).toEqual(new Array(FULL_CHUNKS).fill(0));

  await catalog.leases.release(lease);
  await until(async () => (await metric('logboom_merge_backlog_bytes')) === 0);
  // The backlog is gone because it was merged.
  expect(await levels(LOUD)).toEqual([1]);
  expect(await metric('logboom_merge_urgent')).toBe(0);
  expect((await push(LOUD, FULL_CHUNKS)).status).toBe(204);
  expect(await findEntries(store.client, range, { tenant: LOUD })).toHaveLength(FULL_CHUNKS + 1);
  expect(await metric('logboom_merge_backlog_refused_pushes_total')).toBe(1);
});
