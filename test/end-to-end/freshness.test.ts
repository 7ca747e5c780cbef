/**
 * The workflow that makes fresh data queryable, as clients of the reference perform it
 * (docs/reference/http-api.md#maintenance-on-request): flush the tenant, sync the indexes, raise the
 * generation of caches. Every push is visible before; nothing may be lost by it.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findEntries, getJson } from './support/ask.ts';
import { startStore, type TestStore } from './support/store.ts';

const TENANT = 'acme';
const HEADERS = { 'x-scope-orgid': TENANT };
const STREAMS = 4;
const PUSHES = 6;
const NOW_MS = Date.now();
const RANGE = { query: '{app=~".+"}', start: `${NOW_MS - 60_000}000000`, end: `${NOW_MS + 60_000}000000` };

let store: TestStore;
beforeAll(async () => {
  // No scheduled job interferes: the test requests all work.
  store = await startStore(
    'compactor: {compaction_interval: 1h}\nlogboom: {index_sync_interval: 1h, collection_interval: 1h}',
  );
});
afterAll(() => store.stop());

async function send(method: string, path: string, body?: string): Promise<[number, string]> {
  const headers = { ...HEADERS, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const response = await fetch(store.url + path, { method, headers, body });
  return [response.status, await response.text()];
}

async function lines(): Promise<string[]> {
  const found = await findEntries(store.client, { ...RANGE, limit: '5000' }, { tenant: TENANT });
  return found.map(({ labels, line }) => `${labels.app}: ${line}`).sort();
}

async function lastRuns(): Promise<Record<string, { figures: Record<string, number> } | null>> {
  const { jobs } = (await getJson(store.client, '/api/v1/status/maintenance', {})) as {
    jobs: { name: string; last_run: { figures: Record<string, number> } | null }[];
  };
  return Object.fromEntries(jobs.map(({ name, last_run }) => [name, last_run]));
}

async function syncStatus(): Promise<Record<string, unknown>> {
  const [status, text] = await send('GET', '/sync-indexes');
  expect(status).toBe(200);
  const entries = JSON.parse(text) as Record<string, unknown>[];
  expect(entries).toHaveLength(1);
  return entries[0];
}

test('flush, sync, new generation: the data is there throughout', async () => {
  const wanted: string[] = [];
  for (let i = 0; i < PUSHES; i++) {
    const streams = Array.from({ length: STREAMS }, (_, s) => {
      wanted.push(`app${s}: line ${i}`);
      return { stream: { app: `app${s}` }, values: [[`${NOW_MS + i}000000`, `line ${i}`]] };
    });
    expect(await send('POST', '/loki/api/v1/push', JSON.stringify({ streams }))).toEqual([204, '']);
  }
  wanted.sort();
  expect(await lines()).toEqual(wanted);

  expect(await send('POST', '/flush/tenant')).toEqual([204, '']);
  expect(await lines()).toEqual(wanted);

  // Issued again until it is accepted, then polled until it is done.
  for (;;) {
    const [status, text] = await send('PUT', '/sync-indexes');
    if (status === 202) {
      expect(text).toBe('index sync started; use GET /sync-indexes for status\n');
      break;
    }
    expect([status, text]).toEqual([
      409,
      'index sync already in progress; use GET /sync-indexes for status\n',
    ]);
  }
  let entry = await syncStatus();
  while (entry.in_progress === true) {
    expect(entry.current_duration).toMatch(/^[0-9.hmsµ]+$/);
    entry = await syncStatus();
  }
  expect(entry).toEqual({
    name: 'logboom',
    in_progress: false,
    last_trigger: 'manual',
    last_duration: expect.stringMatching(/^[0-9.hmsµ]+$/),
  });
  expect(await lines()).toEqual(wanted);

  expect(await send('GET', '/loki/api/v1/cache/generation_numbers')).toEqual([200, '""']);
  expect(await send('POST', '/loki/api/v1/cache/generation_numbers/increase')).toEqual([204, '']);
  const [, generation] = await send('GET', '/loki/api/v1/cache/generation_numbers');
  expect(BigInt(JSON.parse(generation))).toBeGreaterThanOrEqual(BigInt(NOW_MS) * 1_000_000n);
  expect(await lines()).toEqual(wanted);

  const names = (await getJson(store.client, '/api/v1/label/app/values', RANGE, { tenant: TENANT })) as {
    data: string[];
  };
  expect(names.data).toEqual(Array.from({ length: STREAMS }, (_, s) => `app${s}`));
});

test('flush of all tenants runs the job immediately, without waiting for its schedule', async () => {
  expect((await lastRuns()).compaction).toBeNull();
  expect(await send('POST', '/flush')).toEqual([204, '']);
  let run = (await lastRuns()).compaction;
  while (run === null) run = (await lastRuns()).compaction;
  expect(run.figures.days).toBe(1);
});
