/** Entries with equal timestamps over HTTP: their order in both directions, what a limit cuts, and paging through them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { labelsOf } from '../../shared/base/model/labels.ts';
import { streamHash } from '../../shared/base/model/stream-hash.ts';
import { logboom } from '../bin/run-command.ts';
import { parseMetrics } from '../usage/support/parse-metrics.ts';
import { findEntries } from './support/ask.ts';
import { JSON_TYPE, jsonPush, type PushedStream } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';
import { openTail } from './support/tail-client.ts';

/** Noon of a day long ago. */
const T0 = 1_704_110_400_000_000_000n;

let store: TestStore;
beforeAll(async () => {
  store = await startStore(`
auth_enabled: true
querier: { multi_tenant_queries_enabled: true }
compactor: { compaction_interval: 1h }
limits_config:
  reject_old_samples: false
  ingestion_rate_mb: 1000
  ingestion_burst_size_mb: 1000
  per_stream_rate_limit: 1GB
  per_stream_rate_limit_burst: 1GB
logboom: { query_workers: 2 }
`);
});
afterAll(() => store.stop());

async function post(tenant: string, path: string, body = ''): Promise<void> {
  const headers = { 'content-type': JSON_TYPE, 'x-scope-orgid': tenant };
  const { status, text } = await store.client.send({ method: 'POST', path, headers, body });
  expect([status, text]).toEqual([204, '']);
}

const push = (tenant: string, streams: readonly PushedStream[]) =>
  post(tenant, '/loki/api/v1/push', jsonPush(streams));
/** Lines of one stream and timestamp. */
const pushLines = (tenant: string, lines: readonly string[], ns = T0) =>
  push(tenant, [{ labels: { app: 'a' }, entries: lines.map(line => ({ ns, line })) }]);
const pack = (tenant: string) => post(tenant, '/flush/tenant');

async function linesOf(tenant: string, direction: 'forward' | 'backward', limit = 100): Promise<string[]> {
  const range = { start: `${T0 - 10n}`, end: `${T0 + 10n}` };
  const query = { query: '{app="a"}', ...range, direction, limit: `${limit}` };
  return (await findEntries(store.client, query, { tenant })).map(({ line }) => line);
}

/** Checks both directions and every limit. */
async function expectOrder(tenant: string, lines: readonly string[]): Promise<void> {
  for (let limit = 1; limit <= lines.length + 1; limit++) {
    expect(await linesOf(tenant, 'forward', limit)).toEqual(lines.slice(0, limit));
    expect(await linesOf(tenant, 'backward', limit)).toEqual(lines.toReversed().slice(0, limit));
  }
}

describe('entries of one stream and timestamp', () => {
  const TRACE = ['Exception: boom', 'at f1', 'at f2', 'at f3'];

  test('a limit keeps the last entries of one push, backward', async () => {
    await pushLines('trace', TRACE);
    expect(await linesOf('trace', 'backward', 2)).toEqual(['at f3', 'at f2']);
    await expectOrder('trace', TRACE);
    await pack('trace');
    await expectOrder('trace', TRACE);
  });

  test('keeps the order of several pushes, before and after a merge', async () => {
    const tenant = 'pushes';
    for (const line of ['a', 'b', 'c', 'd']) await pushLines(tenant, [line]);
    expect(await linesOf(tenant, 'backward')).toEqual(['d', 'c', 'b', 'a']);
    await expectOrder(tenant, ['a', 'b', 'c', 'd']);
    await pack(tenant);
    await expectOrder(tenant, ['a', 'b', 'c', 'd']);
    // A repeated entry keeps its place.
    for (const lines of [['e', 'b'], ['f']]) await pushLines(tenant, lines);
    await expectOrder(tenant, ['a', 'b', 'c', 'd', 'e', 'f']);
    await pack(tenant);
    await pushLines(tenant, ['g']);
    await expectOrder(tenant, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  test('workers give the same order for more entries than one thread scans', async () => {
    const tenant = 'large';
    const lines = Array.from({ length: 6 }, (_, p) =>
      Array.from({ length: 8000 }, (__, i) => `${p} ${i} `.padEnd(400, 'x')),
    );
    for (const some of lines) await pushLines(tenant, some);
    const tasks = async () =>
      parseMetrics((await store.client.send({ path: '/metrics' })).text).value(
        'logboom_query_tasks_total',
        {},
      ) ?? 0;
    const before = await tasks();
    const all = lines.flat();
    for (const packed of [false, true]) {
      if (packed) await pack(tenant);
      expect(await linesOf(tenant, 'backward', 3)).toEqual(all.slice(-3).reverse());
      expect(await linesOf(tenant, 'forward', 3)).toEqual(all.slice(0, 3));
    }
    expect(await tasks()).toBeGreaterThan(before);
  });
});

test('streams with one timestamp are in the order of their hashes, in both directions', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const streams = names.map(
    (app): PushedStream => ({
      labels: { app },
      entries: ['1', '2'].map(n => ({ ns: T0, line: `${app}${n}` })),
    }),
  );
  for (const stream of streams) await push('streams', [stream]);
  const hash = (app: string) => streamHash(labelsOf({ app, service_name: app }));
  const ordered = names.toSorted((a, b) => (hash(a) < hash(b) ? -1 : 1));
  const whole = { query: '{app=~".+"}', start: `${T0}`, end: `${T0 + 1n}` };
  for (const direction of ['forward', 'backward'] as const) {
    const inOrder = ordered.flatMap(app =>
      direction === 'forward' ? [`${app}1`, `${app}2`] : [`${app}2`, `${app}1`],
    );
    for (let limit = 1; limit <= 10; limit++) {
      const found = await findEntries(
        store.client,
        { ...whole, direction, limit: `${limit}` },
        { tenant: 'streams' },
      );
      expect(found.map(({ line }) => line).sort()).toEqual(inOrder.slice(0, limit).sort());
    }
  }
});

test('orders the same stream of several tenants by tenant', async () => {
  for (const tenant of ['two', 'one']) await pushLines(tenant, [`${tenant} a`, `${tenant} b`]);
  const query = { query: '{app="a"}', start: `${T0}`, end: `${T0 + 1n}`, limit: '3' };
  const found = async (direction: string) =>
    (await findEntries(store.client, { ...query, direction }, { tenant: 'one|two' })).map(({ line }) => line);
  expect(await found('forward')).toEqual(['one a', 'one b', 'two a']);
  expect(await found('backward')).toEqual(['one b', 'one a', 'two b']);
});

test('a page that is smaller than a timestamp skips and repeats nothing', async () => {
  const lines = Array.from({ length: 25 }, (_, i) => `line ${i}`);
  for (let i = 0; i < lines.length; i += 4) await pushLines('paged', lines.slice(i, i + 4));
  await pushLines('paged', ['before'], T0 - 1n);
  await pushLines('paged', ['after'], T0 + 1n);
  const paged = async (direction: string) => {
    const range = [
      '--from',
      '2024-01-01T11:00:00Z',
      '--to',
      '2024-01-01T13:00:00Z',
      '--direction',
      direction,
    ];
    const address = ['--addr', store.url, '--tenant', 'paged'];
    const args = [
      'query',
      '{app="a"}',
      ...range,
      ...address,
      '--limit',
      '0',
      '--batch',
      '2',
      '--output',
      'raw',
    ];
    const { code, stdout } = await logboom(args);
    expect(code).toBe(0);
    return stdout.trimEnd().split('\n');
  };
  const all = ['before', ...lines, 'after'];
  expect(await paged('forward')).toEqual(all);
  expect(await paged('backward')).toEqual(all.toReversed());
});

test('a tail begins with the last of them, in order of arrival', async () => {
  const ns = BigInt(Date.now() - 1000) * 1_000_000n;
  for (const lines of [['a', 'b'], ['c'], ['d', 'e']]) await pushLines('tailed', lines, ns);
  const tail = await openTail(
    store,
    { query: '{app="a"}', start: `${ns}`, limit: '4' },
    { tenant: 'tailed' },
  );
  expect(await tail.atLeast(4)).toEqual(['b', 'c', 'd', 'e']);
  await tail.close();
});
