/** Entries pushed in every encoding, queried in every way that the query endpoints offer, over HTTP. */
import { deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import type { Explained } from '../../shared/server/http/encode-explain.ts';
import { findEntries, getJson, type Root } from './support/ask.ts';
import { encodeParams, FORM_TYPE, type QueryParams } from './support/client.ts';
import { JSON_TYPE, jsonPush, PROTOBUF_TYPE, type PushedStream, snappyPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const ROOTS: readonly Root[] = ['/svc', '/loki'];
/** A whole minute of a day long ago, so that no answer depends on the clock. */
const T0 = 1_704_067_200n * NS_PER_SECOND;

let store: TestStore;

beforeAll(async () => {
  store = await startStore('auth_enabled: true\nlimits_config: { reject_old_samples: false }');
});
afterAll(() => store.stop());

async function push(
  tenant: string,
  body: string | Uint8Array,
  { type = JSON_TYPE, encoding, root = '/loki' }: { type?: string; encoding?: string; root?: Root } = {},
): Promise<void> {
  const headers: Record<string, string> = { 'content-type': type, 'x-scope-orgid': tenant };
  if (encoding !== undefined) headers['content-encoding'] = encoding;
  const answer = await store.client.send({ method: 'POST', path: `${root}/api/v1/push`, headers, body });
  expect([answer.status, answer.text]).toEqual([204, '']);
}

describe('one push in every encoding', () => {
  const streams: readonly PushedStream[] = [
    {
      labels: { app: 'web', env: 'prod' },
      entries: [
        {
          ns: T0,
          line: 'first "quoted" \\ <b>&amp; 日本 🚀\ttab',
          metadata: { trace: 'abc', 'user.id': 'ü' },
        },
        { ns: T0 + 1n, line: '' },
        { ns: T0 + 1n, line: 'same time' },
      ],
    },
    { labels: { job: 'cron' }, entries: [{ ns: T0 + 2n, line: 'level=error x=1' }] },
  ];
  const json = jsonPush(streams);
  const snappy = snappyPush(streams);
  const encodings: [string, string | Uint8Array, string, string | undefined][] = [
    ['JSON', json, JSON_TYPE, undefined],
    ['gzip around JSON', gzipSync(json), JSON_TYPE, 'gzip'],
    ['deflate around JSON', deflateRawSync(json), JSON_TYPE, 'deflate'],
    ['snappy protobuf', snappy, PROTOBUF_TYPE, undefined],
    ['gzip around snappy protobuf', gzipSync(snappy), PROTOBUF_TYPE, 'gzip'],
    ['deflate around snappy protobuf', deflateRawSync(snappy), PROTOBUF_TYPE, 'deflate'],
  ];
  const cases = ROOTS.flatMap(root => encodings.map(row => [root, ...row] as const));

  test.each(cases)('%s, %s', async (root, name, body, type, encoding) => {
    const tenant = `${root}-${name}`.replace(/[^a-z]+/gi, '-');
    await push(tenant, body, { type, encoding, root });
    const range = { start: `${T0}`, end: `${T0 + 10n}`, direction: 'forward' };
    const found = await findEntries(
      store.client,
      { query: '{service_name=~".+"}', ...range },
      { tenant, root },
    );
    const web = { app: 'web', detected_level: 'unknown', env: 'prod', service_name: 'web' };
    expect(found.sort((a, b) => Number(a.ns - b.ns) || (a.line < b.line ? -1 : 1))).toEqual([
      { labels: { ...web, trace: 'abc', user_id: 'ü' }, ns: T0, line: streams[0].entries[0].line },
      { labels: web, ns: T0 + 1n, line: '' },
      { labels: web, ns: T0 + 1n, line: 'same time' },
      {
        labels: { detected_level: 'error', job: 'cron', service_name: 'cron' },
        ns: T0 + 2n,
        line: 'level=error x=1',
      },
    ]);
  });
});

describe('questions', () => {
  const tenant = 'questions';
  const options = { tenant };
  const SECONDS = 300;
  const NAMES = ['a', 'b', 'c'];

  beforeAll(async () => {
    // Three streams, each with an entry every three seconds, across two pushes that interleave.
    for (const half of [0, 1]) {
      const streams = NAMES.map((app, offset) => ({
        labels: { app, env: app === 'c' ? 'test' : 'prod' },
        entries: Array.from({ length: SECONDS }, (_, second) => second)
          .filter(second => second % 3 === offset && (second % 2 === 0) === (half === 0))
          .map(second => ({ ns: T0 + BigInt(second) * NS_PER_SECOND, line: `s=${second}` })),
      }));
      await push(tenant, jsonPush(streams));
    }
  });

  const all = { query: '{app=~".+"}', start: `${T0}`, end: `${T0 + BigInt(SECONDS) * NS_PER_SECOND}` };
  async function secondsOf(query: QueryParams): Promise<number[]> {
    const found = await findEntries(store.client, { ...all, ...query }, options);
    return found.map(({ line }) => Number(line.slice(2))).sort((a, b) => a - b);
  }
  const span = (from: number, to: number, step = 1) =>
    Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => from + i * step);

  // [what, parameters, seconds of the entries]
  const logQueries: [string, QueryParams, number[]][] = [
    ['100 newest by default', {}, span(200, 300)],
    ['forward', { direction: 'forward' }, span(0, 100)],
    ['any letter case', { direction: 'FORWARD', limit: '3' }, [0, 1, 2]],
    ['a limit', { limit: '7' }, span(293, 300)],
    ['a limit over what is there', { limit: '5000' }, span(0, 300)],
    [
      'start is included, end is not',
      { start: `${T0 + 10n * NS_PER_SECOND}`, end: `${T0 + 13n * NS_PER_SECOND}` },
      [10, 11, 12],
    ],
    [
      'one nanosecond',
      { start: `${T0 + 10n * NS_PER_SECOND}`, end: `${T0 + 10n * NS_PER_SECOND + 1n}` },
      [10],
    ],
    ['before everything', { start: `${T0 - 3600n * NS_PER_SECOND}`, end: `${T0}` }, []],
    ['after everything', { start: `${T0 + 300n * NS_PER_SECOND}`, end: `${T0 + 3600n * NS_PER_SECOND}` }, []],
    ['seconds', { start: '1704067210', end: '1704067213' }, [10, 11, 12]],
    ['seconds with a fraction', { start: '1704067209.5', end: '1704067212.5' }, [10, 11, 12]],
    ['RFC 3339', { start: '2024-01-01T00:00:10Z', end: '2024-01-01T01:00:13+01:00' }, [10, 11, 12]],
    ['an interval', { direction: 'forward', limit: '5000', interval: '30' }, span(0, 300, 30)],
    ['an interval as a duration', { direction: 'forward', limit: '5000', interval: '1m' }, span(0, 300, 60)],
    ['an interval backward', { limit: '5000', interval: '100s' }, [99, 199, 299]],
    ['a selector', { query: '{app="a"}', limit: '2' }, [294, 297]],
    [
      'a filter',
      { query: '{env="prod"} |= "s=1" != "0"', limit: '5', direction: 'forward' },
      [1, 12, 13, 15, 16],
    ],
    ['a parser', { query: '{env=~".+"} | logfmt | s >= 298' }, [298, 299]],
  ];
  test.each(logQueries)('%s', async (_, query, want) => {
    expect(await secondsOf(query)).toEqual(want);
  });

  test('since is counted from the end', async () => {
    const end = `${T0 + 20n * NS_PER_SECOND}`;
    const found = await findEntries(store.client, { query: all.query, end, since: '5s' }, options);
    expect(found.map(({ line }) => line).sort()).toEqual(['s=15', 's=16', 's=17', 's=18', 's=19']);
  });

  test('explain reports the considered and read data on request', async () => {
    const ask = async (query: string, more: object) => {
      const answer = await getJson(store.client, '/api/v1/query_range', { ...all, query, ...more }, options);
      return (answer as { data: { explain?: Explained } }).data.explain;
    };
    expect(await ask('{app=~".+"}', {})).toBeUndefined();
    const read = await ask('{app=~".+"}', { explain: 'true' });
    expect(read!.chunks.considered).toBeGreaterThan(0);
    // Chunks that overlap are read for it, too.
    expect(read!.pages.read).toBeGreaterThanOrEqual(read!.pages.considered - read!.pages.prunedByStreams);
    expect(read!.ranIn).not.toBe('');
    const none = await ask('{app="nobody"}', { explain: 'true' });
    expect(none).toMatchObject({ pages: { read: 0 }, bytes: { read: 0 } });
    expect(none!.chunks.prunedByLabels).toBe(none!.chunks.considered);
  });

  test('a client that bypasses the results cache reads the chunks again', async () => {
    const query = { ...all, query: 'sum(count_over_time({app=~".+"}[1m]))' };
    const chunksRead = async (headers: Record<string, string>) => {
      const { status, json } = await store.client.send({
        path: '/loki/api/v1/query_range',
        query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
        headers: { 'x-scope-orgid': options.tenant, ...headers },
      });
      expect(status).toBe(200);
      const { data } = json() as { data: { stats: { querier: { store: Record<string, number> } } } };
      return data.stats.querier.store.totalChunksDownloaded;
    };
    await chunksRead({});
    expect(await chunksRead({})).toBe(0);
    expect(await chunksRead({ 'cache-control': 'no-cache' })).toBeGreaterThan(0);
  });

  test('streams are sorted, and their entries are in the requested direction', async () => {
    for (const [direction, sign] of [
      ['forward', 1],
      ['backward', -1],
    ] as const) {
      const { data } = (await getJson(
        store.client,
        '/api/v1/query_range',
        { ...all, direction },
        options,
      )) as {
        data: { resultType: string; result: { stream: { app: string }; values: [string, string][] }[] };
      };
      expect(data.resultType).toBe('streams');
      expect(data.result.map(({ stream }) => stream.app)).toEqual(NAMES);
      for (const { values } of data.result) {
        const times = values.map(([ns]) => BigInt(ns));
        expect(times).toEqual([...times].sort((a, b) => sign * Number(a - b)));
      }
    }
  });

  test('evaluates a metric over a range and at an instant', async () => {
    const query = 'sum by (app) (count_over_time({app=~".+"}[1m]))';
    const range = {
      query,
      start: `${T0 + 60n * NS_PER_SECOND}`,
      end: `${T0 + 180n * NS_PER_SECOND}`,
      step: '60',
    };
    const matrix = (await getJson(store.client, '/api/v1/query_range', range, options)) as { data: object };
    expect(matrix.data).toMatchObject({
      resultType: 'matrix',
      result: NAMES.map(app => ({
        metric: { app },
        values: [60, 120, 180].map(second => [1_704_067_200 + second, '20']),
      })),
    });
    const vector = await getJson(store.client, '/api/v1/query', { query, time: '1704067320' }, options);
    expect(vector).toMatchObject({
      status: 'success',
      data: {
        resultType: 'vector',
        result: NAMES.map(app => ({ metric: { app }, value: [1_704_067_320, '20'] })),
      },
    });
  });

  const range = { start: all.start, end: all.end };
  const data = (list: unknown) => ({ status: 'success', data: list });

  describe.each(ROOTS)('%s', root => {
    const ask = (path: string, query: QueryParams) => getJson(store.client, path, query, { tenant, root });

    test('lists labels and their values', async () => {
      expect(await ask('/api/v1/labels', range)).toEqual(data(['app', 'env', 'service_name']));
      expect(await ask('/api/v1/label', range)).toEqual(data(['app', 'env', 'service_name']));
      expect(await ask('/api/v1/label/app/values', range)).toEqual(data(NAMES));
      expect(await ask('/api/v1/label/app/values', { ...range, query: '{env="test"}' })).toEqual(data(['c']));
      expect(await ask('/api/v1/label/nosuch/values', range)).toEqual({ status: 'success' });
      expect(await ask('/api/v1/labels', { start: '1', end: '2' })).toEqual({ status: 'success' });
    });

    test('series by GET and POST', async () => {
      const prod = ['a', 'b'].map(app => ({ app, env: 'prod', service_name: app }));
      const test = { app: 'c', env: 'test', service_name: 'c' };
      const params: [QueryParams, object[]][] = [
        [{ 'match[]': '{env="prod"}' }, prod],
        [{ match: ['{app="a"}', '{app="c"}'] }, [prod[0], test]],
        [{ 'match[]': ['{env="prod"}', '{app="b"}'] }, prod],
        [{}, [...prod, test]],
        [{ match: '{app="nosuch"}' }, []],
      ];
      for (const [query, want] of params) {
        const sorted = (answer: unknown) =>
          (answer as { data: { app: string }[] }).data.sort((x, y) => (x.app < y.app ? -1 : 1));
        expect(sorted(await ask('/api/v1/series', { ...range, ...query }))).toEqual(want);
        const posted = await store.client.send({
          method: 'POST',
          path: `${root}/api/v1/series`,
          headers: { 'content-type': FORM_TYPE, 'x-scope-orgid': tenant },
          body: encodeParams({ ...range, ...query }),
        });
        expect(sorted(posted.json())).toEqual(want);
      }
    });

    test('takes the parameters of a POST from the form and the URL', async () => {
      const answer = await store.client.send({
        method: 'POST',
        path: `${root}/api/v1/query_range`,
        query: range,
        headers: { 'content-type': FORM_TYPE, 'x-scope-orgid': tenant },
        body: encodeParams({ query: '{app="c"}', limit: '1' }),
      });
      expect(answer.json()).toMatchObject({
        data: { result: [{ values: [[`${T0 + 299n * NS_PER_SECOND}`, 's=299']] }] },
      });
    });

    test('formats a query', async () => {
      const formatted = await ask('/api/v1/format_query', { query: '{ app = "a" }|="x"' });
      expect(formatted).toEqual({ status: 'success', data: '{app="a"} |= "x"' });
    });

    test('returns build information', async () => {
      const info = await ask('/api/v1/status/buildinfo', {});
      const names = ['version', 'revision', 'branch', 'buildDate', 'buildUser', 'goVersion'];
      expect(Object.keys(info as object)).toEqual(expect.arrayContaining(names));
    });
  });

  test('responses are compressed for clients that accept it', async () => {
    const headers = { 'x-scope-orgid': tenant, 'accept-encoding': 'gzip' };
    const answer = await store.client.send({ path: '/loki/api/v1/query_range', query: all, headers });
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(answer.bytes).toString())).toMatchObject({ status: 'success' });
  });

  test('returns labels by category if the client requests them', async () => {
    const tenant = 'categorized';
    const labels = { app: 'x' };
    await push(tenant, jsonPush([{ labels, entries: [{ ns: T0, line: 'k=v', metadata: { m: '1' } }] }]));
    const query = { query: '{app="x"} | logfmt', start: `${T0}`, end: `${T0 + 1n}` };
    const headers = { 'x-scope-orgid': tenant, 'x-loki-response-encoding-flags': 'categorize-labels' };
    const answer = await store.client.send({ path: '/loki/api/v1/query_range', query, headers });
    expect((answer.json() as { data: object }).data).toMatchObject({
      resultType: 'streams',
      encodingFlags: ['categorize-labels'],
      result: [
        {
          stream: { app: 'x', service_name: 'x' },
          values: [
            [
              `${T0}`,
              'k=v',
              { structuredMetadata: { detected_level: 'unknown', m: '1' }, parsed: { k: 'v' } },
            ],
          ],
        },
      ],
    });
  });

  test('another tenant sees nothing of it', async () => {
    const other = { tenant: 'other' };
    expect(await findEntries(store.client, all, other)).toEqual([]);
    expect(await getJson(store.client, '/api/v1/labels', range, other)).toEqual({ status: 'success' });
    expect(await getJson(store.client, '/api/v1/series', range, other)).toEqual(data([]));
  });

  test('repeated entries are there once', async () => {
    const tenant = 'twice';
    const line = (n: number) => ({ ns: T0 + BigInt(n), line: `${n}` });
    const labels = { app: 'x' };
    await push(tenant, jsonPush([{ labels, entries: [line(1), line(2)] }]));
    await push(tenant, jsonPush([{ labels, entries: [line(1), line(2)] }]));
    await push(tenant, snappyPush([{ labels, entries: [line(2), line(3), line(3)] }]), {
      type: PROTOBUF_TYPE,
    });
    const found = await findEntries(
      store.client,
      { query: '{app="x"}', start: `${T0}`, end: `${T0 + 9n}` },
      { tenant },
    );
    expect(found.map(one => one.line).sort()).toEqual(['1', '2', '3']);
    const count = { query: 'sum(count_over_time({app="x"}[1m]))', time: '1704067201' };
    expect(await getJson(store.client, '/api/v1/query', count, { tenant })).toMatchObject({
      data: { result: [{ value: [1_704_067_201, '3'] }] },
    });
  });
});

describe('without a tenant', () => {
  test('/ready and buildinfo answer', async () => {
    expect((await store.client.send({ path: '/ready' })).text).toBe('ready\n');
    expect((await store.client.send({ path: '/loki/api/v1/status/buildinfo' })).status).toBe(200);
  });

  test('other endpoints return 401', async () => {
    for (const path of ['query_range', 'query', 'labels', 'label/a/values', 'series']) {
      const answer = await store.client.send({ path: `/loki/api/v1/${path}`, query: { query: '{a="b"}' } });
      expect([answer.status, answer.text]).toEqual([401, 'no org id\n']);
    }
  });

  test('refuses unknown paths and wrong methods', async () => {
    const rows: [string, string, number, string | undefined][] = [
      ['GET', '/nosuch', 404, undefined],
      ['GET', '/loki/api/v1/nosuch', 404, undefined],
      ['GET', '/loki/api/v1/push', 405, 'POST'],
      ['DELETE', '/loki/api/v1/query_range', 405, 'GET, POST'],
    ];
    for (const [method, path, status, allow] of rows) {
      const answer = await store.client.send({ method, path });
      expect([answer.status, answer.headers.allow]).toEqual([status, allow]);
      expect(answer.text).toBe(status === 404 ? '404 page not found\n' : '');
    }
  });
});
