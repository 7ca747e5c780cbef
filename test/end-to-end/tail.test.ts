/** Live tails through the gateway with real clients: visible entries, their frames, and the end of a tail. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStore, type TestStore } from './support/store.ts';
import { openTail, refusedTail, type TailClient } from './support/tail-client.ts';

const NOW_MS = Date.now();
let store: TestStore;
let time = 0;
beforeAll(async () => {
  store = await startStore(
    'compactor: {compaction_interval: 1h, delete_request_cancel_period: 0s}\n' +
      'limits_config: {max_concurrent_tail_requests: 4, ingestion_rate_mb: 100, ingestion_burst_size_mb: 100, ' +
      'per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB}\n' +
      'querier: {tail_max_duration: 1h}\nlogboom: {index_sync_interval: 1h}',
  );
});
afterAll(() => store.stop());

/** A timestamp after all before it, in the last minutes. */
function nextNs(): string {
  return `${BigInt(NOW_MS - 120_000) * 1_000_000n + BigInt(++time) * 1_000_000n}`;
}

type Value = readonly [string, string, Record<string, string>?];

async function push(tenant: string, app: string, ...values: readonly (string | Value)[]): Promise<void> {
  const stream = { app, service_name: app };
  const body = JSON.stringify({
    streams: [{ stream, values: values.map(one => (typeof one === 'string' ? [nextNs(), one] : one)) }],
  });
  const headers = { 'content-type': 'application/json', 'x-scope-orgid': tenant };
  const { status, text } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers,
    body,
  });
  expect([status, text]).toEqual([204, '']);
}

async function withTail(
  tenant: string,
  params: Readonly<Record<string, string>>,
  use: (tail: TailClient) => Promise<void>,
  options: { path?: string; headers?: Record<string, string> } = {},
): Promise<void> {
  const tail = await openTail(store, params, { tenant, ...options });
  try {
    await use(tail);
  } finally {
    await tail.close();
  }
}

test('a tail sends the newest entries before it, oldest first, then live ones; each once', async () => {
  await push('lookback', 'a', 'old 1', 'old 2', 'old 3', 'other');
  await withTail('lookback', { query: '{app="a"} |= "old"', limit: '2' }, async tail => {
    expect(await tail.atLeast(2)).toEqual(['old 2', 'old 3']);
    await push('lookback', 'a', 'old 4', 'not this');
    await push('lookback', 'b', 'old of another stream');
    await push('lookback', 'a', 'old 5');
    expect(await tail.atLeast(4)).toEqual(['old 2', 'old 3', 'old 4', 'old 5']);
  });
});

test('a frame has an object for each entry, and nothing that was not requested', async () => {
  await withTail('frames', { query: '{app="a"}' }, async tail => {
    const ns = nextNs();
    await push('frames', 'a', [ns, 'line "1"', { trace: 'x' }]);
    await tail.atLeast(1);
    const labels = '{"app":"a","detected_level":"unknown","service_name":"a","trace":"x"}';
    expect(tail.texts).toEqual([`{"streams":[{"stream":${labels},"values":[["${ns}","line \\"1\\""]]}]}`]);
  });
});

test('sends labels by category if the client requests them, in lookback and live', async () => {
  const headers = { 'x-loki-response-encoding-flags': 'categorize-labels' };
  await push('categories', 'a', [nextNs(), 'a=1', { trace: 'x' }]);
  await withTail(
    'categories',
    { query: '{app="a"} | logfmt' },
    async tail => {
      await push('categories', 'a', [nextNs(), 'a=2', { trace: 'y' }]);
      await tail.atLeast(2);
      const third = (trace: string, a: string) => ({
        structuredMetadata: { detected_level: 'unknown', trace },
        parsed: { a },
      });
      const shown = tail.frames.flatMap(({ streams }) => streams);
      expect(shown.map(({ stream }) => stream)).toEqual(Array(2).fill({ app: 'a', service_name: 'a' }));
      expect(shown.map(({ values }) => values[0][2])).toEqual([third('x', '1'), third('y', '2')]);
      expect(tail.frames.every(({ encodingFlags }) => encodingFlags?.[0] === 'categorize-labels')).toBe(true);
    },
    { headers },
  );
});

test('a tail of /api/prom sends frames of the old form', async () => {
  await withTail(
    'legacy',
    { query: '{app="a"}' },
    async tail => {
      await push('legacy', 'a', [`${BigInt(NOW_MS - 100_000) * 1_000_000n}`, 'line']);
      await tail.until(() => tail.texts.length > 0);
      const labels = '{app=\\"a\\", detected_level=\\"unknown\\", service_name=\\"a\\"}';
      const ts = new Date(NOW_MS - 100_000).toISOString().replace(/\.?0*Z$/, 'Z');
      expect(tail.texts).toEqual([
        `{"streams":[{"labels":"${labels}","entries":[{"ts":"${ts}","line":"line"}]}],"dropped_entries":null}`,
      ]);
    },
    { path: '/api/prom/tail' },
  );
});

test('tails of one tenant see nothing of another', async () => {
  await withTail('one', { query: '{app="a"}' }, async one => {
    await withTail('two', { query: '{app="a"}' }, async two => {
      await push('one', 'a', 'of one');
      await push('two', 'a', 'of two');
      expect(await one.atLeast(1)).toEqual(['of one']);
      expect(await two.atLeast(1)).toEqual(['of two']);
      await push('one', 'a', 'of one again');
      expect(await one.atLeast(2)).toEqual(['of one', 'of one again']);
      expect(two.lines()).toEqual(['of two']);
    });
  });
});

test('errors before the upgrade are plain HTTP', async () => {
  const tenant = { 'x-scope-orgid': 'acme' };
  const query = '{app="a"}';
  const rows: readonly [Record<string, string>, Record<string, string>, number, string][] = [
    [
      { query: '{app=' },
      tenant,
      400,
      'parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING',
    ],
    [{ query, delay_for: '6' }, tenant, 400, "delay_for can't be greater than 5"],
    [{ query, delay_for: '2s' }, tenant, 400, 'strconv.Atoi: parsing "2s": invalid syntax'],
    [{ query, limit: '0' }, tenant, 400, 'limit must be a positive value'],
    [
      { query, start: 'x' },
      tenant,
      400,
      `could not parse 'start' parameter: strconv.ParseInt: parsing "x": invalid syntax`,
    ],
    [{ query }, { 'x-scope-orgid': 'a|b' }, 400, 'multiple org IDs present'],
    [{ query }, {}, 401, 'no org id\n'],
  ];
  for (const [params, headers, status, text] of rows) {
    expect(await refusedTail(store, params, { headers })).toEqual({ status, text });
  }
  const plain = await store.client.send({ path: '/loki/api/v1/tail', query: { query }, headers: tenant });
  expect([plain.status, plain.text, plain.headers['sec-websocket-version']]).toEqual([
    400,
    'Bad Request\n',
    '13',
  ]);
  const wrong = await store.client.send({
    path: '/loki/api/v1/tail',
    query: { query },
    headers: { ...tenant, connection: 'upgrade', upgrade: 'h2c' },
  });
  expect([wrong.status, wrong.text]).toEqual([426, 'Upgrade Required\n']);
  const posted = await store.client.send({ method: 'POST', path: '/loki/api/v1/tail', query: { query } });
  expect(posted.status).toBe(405);
});

test('an upgrade to another protocol on another path is a normal request', async () => {
  const headers = {
    'content-type': 'application/json',
    'x-scope-orgid': 'up',
    connection: 'Upgrade',
    upgrade: 'h2c',
  };
  const body = JSON.stringify({ streams: [{ stream: { app: 'a' }, values: [[nextNs(), 'line']] }] });
  const { status } = await store.client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
  expect(status).toBe(204);
});

test('errors after the upgrade are closes', async () => {
  const rows: readonly [Record<string, string>, string][] = [
    [{ query: 'rate({app="a"}[1m])' }, 'only log selector is supported'],
    [
      { query: '{app="a"}', start: '1' },
      'rpc error: code = Code(400) desc = the query time range exceeds the limit (query length: ',
    ],
  ];
  for (const [params, reason] of rows) {
    const tail = await openTail(store, params, { tenant: 'closes' });
    const closed = await tail.closed;
    expect(closed.code).toBe(1011);
    expect(closed.reason.startsWith(reason)).toBe(true);
  }
});

test('more tails than a tenant may have are refused, and a slot is free again when one ends', async () => {
  const open = [];
  for (let i = 0; i < 4; i++) open.push(await openTail(store, { query: '{app="a"}' }, { tenant: 'many' }));
  await push('many', 'a', 'seen by all');
  for (const tail of open) await tail.atLeast(1);
  const fifth = await openTail(store, { query: '{app="a"}' }, { tenant: 'many' });
  expect(await fifth.closed).toEqual({
    code: 1011,
    reason:
      'rpc error: code = Code(400) desc = max concurrent tail requests limit exceeded, count > limit (5 > 4)',
  });
  await open[0].close();
  const again = await openTail(store, { query: '{app="a"}' }, { tenant: 'many' });
  expect(await again.atLeast(1)).toEqual(['seen by all']);
  for (const tail of [again, ...open.slice(1)]) await tail.close();
});

test('shows no entries that delete requests hide, neither old nor new', async () => {
  await push('hidden', 'a', 'secret 1', 'plain 1');
  const { status } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/delete',
    query: { query: '{app="a"} |= "secret"', start: `${Math.floor(NOW_MS / 1000) - 3600}` },
    headers: { 'x-scope-orgid': 'hidden' },
  });
  expect(status).toBe(204);
  await withTail('hidden', { query: '{app="a"}' }, async tail => {
    expect(await tail.atLeast(1)).toEqual(['plain 1']);
    await push('hidden', 'a', 'plain 2');
    expect(await tail.atLeast(2)).toEqual(['plain 1', 'plain 2']);
  });
});

test('reports dropped entries to a slow client, with labels and times, and continues', async () => {
  await withTail('slow', { query: '{app="a"}' }, async tail => {
    await push('slow', 'a', 'first');
    await tail.atLeast(1);
    tail.socket.pause();
    const text = 'x'.repeat(60_000);
    const sent: string[] = [];
    // More entries than the queue of the tail and the buffers of both sockets can hold.
    for (let i = 0; i < 7; i++) {
      const values: Value[] = Array.from({ length: 40 }, (_, j) => [nextNs(), `${i}/${j} ${text}`]);
      sent.push(...values.map(([ns]) => ns));
      await push('slow', 'a', ...values);
    }
    tail.socket.resume();
    const seen = () =>
      tail.frames.flatMap(({ streams }) => streams.map(({ values }) => values[0][0])).slice(1);
    const dropped = () => tail.frames.flatMap(({ dropped_entries }) => dropped_entries ?? []);
    await tail.until(() => seen().length + dropped().length >= sent.length);
    expect(dropped().length).toBeGreaterThan(0);
    expect([...seen(), ...dropped().map(({ timestamp }) => timestamp)].sort()).toEqual([...sent].sort());
    for (const { labels } of dropped()) {
      expect(labels).toEqual({ app: 'a', detected_level: 'unknown', service_name: 'a' });
    }
    await push('slow', 'a', 'last');
    await tail.until(() => tail.lines().includes('last'));
  });
});

test('entries wait until they are as old as delay_for', async () => {
  await withTail('delayed', { query: '{app="a"}', delay_for: '1' }, async tail => {
    // Entries that are pushed before the tail reads earlier ones, on a loaded machine, come with those, without a delay.
    await push('delayed', 'a', [`${BigInt(Date.now() - 10_000) * 1_000_000n}`, 'before']);
    await tail.atLeast(1);
    const now = BigInt(Date.now()) * 1_000_000n;
    await push('delayed', 'a', [`${now + 2n}`, 'second']);
    await push('delayed', 'a', [`${now + 1n}`, 'first']);
    // Their order depends on the load, if the second push takes longer than the delay (test/tail/outbox.test.ts).
    expect((await tail.atLeast(3)).sort()).toEqual(['before', 'first', 'second']);
    expect(BigInt(Date.now()) * 1_000_000n - now).toBeGreaterThanOrEqual(1_000_000_000n);
  });
});
