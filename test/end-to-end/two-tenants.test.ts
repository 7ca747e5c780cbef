/**
 * A tenant that pushes much in parallel with another: all entries of both are found, counted and shown in a
 * live tail.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseMetrics } from '../usage/support/parse-metrics.ts';
import { jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';
import { openTail } from './support/tail-client.ts';

const NOW_NS = BigInt(Date.now() - 60_000) * 1_000_000n;
const LINES_PER_PUSH = 4000;
/** Each is about a MB. */
const PUSHES = 12;

let store: TestStore;
beforeAll(async () => {
  store = await startStore(
    'compactor: {compaction_interval: 1h}\nlogboom: {index_sync_interval: 1h}\n' +
      'limits_config: {ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, ' +
      'per_stream_rate_limit_burst: 1GB, max_entries_limit_per_query: 0}',
  );
});
afterAll(() => store.stop());

async function push(tenant: string, lines: readonly string[], from: number): Promise<void> {
  const entries = lines.map((line, i) => ({ ns: NOW_NS + BigInt(from + i), line }));
  const { status, text } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    body: jsonPush([{ labels: { app: 'a' }, entries }]),
  });
  expect([status, text]).toEqual([204, '']);
}

async function metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
  const { text } = await store.client.send({ path: '/metrics' });
  return parseMetrics(text).value(name, labels) ?? 0;
}

async function count(tenant: string): Promise<number> {
  const query = { query: 'sum(count_over_time({app="a"}[10m]))' };
  const headers = { 'x-scope-orgid': tenant };
  const { json } = await store.client.send({ path: '/loki/api/v1/query', query, headers });
  const { data } = json() as { data: { result: { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}

test('large and small pushes of two tenants are counted once, found immediately, and reach a tail', async () => {
  const tail = await openTail(store, { query: '{app="a"} |= "of 1 in each"' }, { tenant: 'loud' });
  let pushed = 0;
  let quiet = 0;
  while (pushed < PUSHES) {
    await push('quiet', [`small ${quiet}`], quiet++);
    const line = (i: number) => `${pushed} ${i} ${'some more of this '.repeat(12)}`;
    const lines = Array.from({ length: LINES_PER_PUSH }, (_, i) =>
      i === 0 ? `${pushed} of 1 in each` : line(i),
    );
    await push('loud', lines, pushed * LINES_PER_PUSH);
    pushed++;
    // Counts apply from the response on.
    expect(await count('loud')).toBe(pushed * LINES_PER_PUSH);
  }
  expect(await count('quiet')).toBe(quiet);
  expect(await tail.atLeast(pushed)).toEqual(Array.from({ length: pushed }, (_, i) => `${i} of 1 in each`));
  await tail.close();
  const received = await metric('loki_distributor_lines_received_total', {
    tenant: 'loud',
    is_internal_stream: 'false',
    policy: '',
    format: 'loki',
  });
  expect(received).toBe(pushed * LINES_PER_PUSH);
  expect(await metric('loki_bytes_per_line_count')).toBe(pushed * LINES_PER_PUSH + quiet);
  expect(await metric('loki_ingester_chunk_entries_sum')).toBe(pushed * LINES_PER_PUSH + quiet);
});
