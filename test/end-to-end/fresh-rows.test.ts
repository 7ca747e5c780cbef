/** The assembled store: lines that were just pushed are queried from memory, if their tenant queries. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const CONFIG = `auth_enabled: true
compactor: { compaction_interval: 1h }
limits_config: { ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB }
logboom: { index_sync_interval: 1h, query_result_cache_bytes: 0 }`;
const START_NS = BigInt(Date.now()) * 1_000_000n;
const RANGE = {
  start: `${START_NS}`,
  end: `${START_NS + 10_000_000_000n}`,
  limit: '5000',
  direction: 'forward',
};
const LINES = 1000;

let store: TestStore;
beforeEach(async () => {
  store = await startStore(CONFIG, { cores: 2 });
});
afterEach(() => store.stop());

/** Pushes 200 KB of lines. */
async function push(tenant: string, number: number): Promise<void> {
  const entries = Array.from({ length: LINES }, (_, i) => ({
    ns: START_NS + BigInt(number * LINES + i),
    line: `push ${number} line ${i} `.padEnd(200, 'x'),
  }));
  const { status } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'x-scope-orgid': tenant, 'content-type': JSON_TYPE },
    body: jsonPush([{ labels: { app: 'a' }, entries }]),
  });
  expect(status).toBe(204);
}

const find = async (tenant: string, text: string) =>
  (await findEntries(store.client, { ...RANGE, query: `{app="a"} |= "${text}"` }, { tenant })).length;

/** Pages whose lines were cached. */
async function linesFrom(source: 'push' | 'store'): Promise<number> {
  const { text } = await store.client.send({ method: 'GET', path: '/metrics' });
  const name = `logboom_page_cache_lines_total{from="${source}"} `;
  const found = text.split('\n').filter(one => one.startsWith(name));
  return found.reduce((sum, one) => sum + Number(one.slice(name.length)), 0);
}

test('no page of a push is unpacked for a tenant that queries; those of others are read from the store', async () => {
  expect(await find('queries', 'line')).toBe(0);
  for (let i = 0; i < 4; i++) await push('queries', i);
  await until(async () => (await linesFrom('push')) === 4);
  expect(await find('queries', 'push 2 line 77 ')).toBe(1);
  expect(await find('queries', 'absent')).toBe(0);
  expect(await linesFrom('store')).toBe(0);
  await push('waits', 0);
  expect(await find('waits', 'line 77 ')).toBe(1);
  expect(await linesFrom('store')).toBe(1);
  expect(await linesFrom('push')).toBe(4);
});
