/**
 * An assembled store in which no schedule merges. Pushes of enough lines are merged for good although more come, and fewer when
 * no more come. They answer as before.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type OpenedStorage, openStorage } from '../../local/storage.ts';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { FINAL_LEVEL, MERGE_SIZES } from '../../shared/upkeep/compaction/merge-sizes.ts';
import { findEntries, getJson } from './support/ask.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const TENANT = 'a';
const CONFIG = `auth_enabled: true
limits_config: { ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB }
compactor: { compaction_interval: 1h }
logboom: { index_sync_interval: 1h, collection_interval: 1h, query_result_cache_bytes: 0 }`;
/** Noon: no day ends during the test. */
const DAY = Math.floor(SYSTEM_CLOCK.nowMs() / (24 * MS_PER_HOUR)) - 1;
const START_NS = BigInt(DAY * 24 + 12) * BigInt(MS_PER_HOUR) * 1_000_000n;
const PUSHES = 4;
const LINES = 64;
/** There must not be enough pushes to fill a merge by their number. */
const BETWEEN_PUSHES_MS = 250;
const { awaitedBytes, finalFromBytes } = MERGE_SIZES;

let store: TestStore;
let storage: OpenedStorage;
let catalog: Catalog;
beforeEach(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-merge-'));
  store = await startStore(CONFIG, { dataDir, cores: 2 });
  storage = await openStorage({ kind: 'embedded', dataDir });
  catalog = new Catalog({ table: storage.table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
});
afterEach(async () => {
  await storage.close();
  await store.stop();
});

/** A push of much. One after the other, so that each is a chunk. */
async function push(i: number, lineBytes: number): Promise<void> {
  const entries = Array.from({ length: LINES }, (_, n) => ({
    ns: START_NS + BigInt(i + n * PUSHES),
    line: JSON.stringify({ push: i, n, status: 200 + (n % 3), text: 'x'.repeat(lineBytes) }),
  }));
  await send({ labels: { app: `a${i % 2}` }, entries });
}

/** A push of one short line that no query here finds. */
async function pushLittle(i: number): Promise<void> {
  await send({ labels: { source: 'more' }, entries: [{ ns: START_NS + BigInt(i), line: 'more' }] });
}

async function send(stream: Parameters<typeof jsonPush>[0][number]): Promise<void> {
  const { status } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'x-scope-orgid': TENANT, 'content-type': JSON_TYPE },
    body: jsonPush([stream]),
  });
  expect(status).toBe(204);
}

async function levels(): Promise<number[]> {
  return (await catalog.day(TENANT, DAY))!.records.map(({ level }) => level);
}

interface VectorAnswer {
  readonly data: { readonly result: unknown };
}

/** Short: lines are long. */
async function answers(): Promise<string[]> {
  const range = { start: `${START_NS}`, end: `${START_NS + 1_000_000_000n}`, limit: '500' };
  const options = { tenant: TENANT };
  const found = [];
  for (const query of ['{app="a1"} |= "\\"n\\":7"', '{app=~".+"} | json | status="202"']) {
    const entries = await findEntries(store.client, { ...range, query }, options);
    found.push(
      ...entries.map(
        ({ labels, ns, line }) => `${labels.app} ${labels.status} ${ns} ${line.slice(0, 40)} ${line.length}`,
      ),
    );
  }
  const query = 'sum by (status) (count_over_time({app=~".+"} | json [1s]))';
  const { data } = (await getJson(
    store.client,
    '/api/v1/query',
    { query, time: range.end },
    options,
  )) as VectorAnswer;
  return [...found, JSON.stringify(data.result)];
}

test.each([
  ['while others follow', awaitedBytes, true],
  ['when no others follow', finalFromBytes, false],
])('merges pushes for good %s, without a change of answers', async (_name, bytes, othersFollow) => {
  for (let i = 0; i < PUSHES; i++) await push(i, Math.ceil(bytes / PUSHES / LINES));
  expect(await levels()).toEqual(new Array(PUSHES).fill(0));
  const before = await answers();
  expect(before.length).toBeGreaterThan(PUSHES);
  // The last of the small pushes may not be merged yet.
  for (let i = 0; !(await levels()).includes(FINAL_LEVEL); i++) {
    if (othersFollow) await pushLittle(i);
    await sleep(BETWEEN_PUSHES_MS);
  }
  // On a busy machine, a part of the pushes may be merged first.
  expect(new Set((await levels()).filter(level => level > 0))).toEqual(new Set([FINAL_LEVEL]));
  expect(await answers()).toEqual(before);
});
