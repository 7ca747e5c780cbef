/**
 * index/stats, index/shards, index/volume, index/volume_range, detected_labels and drilldown-limits over
 * HTTP.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Limits } from '../../shared/base/model/limits.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { START_MS, type TestProcess, testStores } from '../maintenance/store.ts';

const acme = { 'x-scope-orgid': 'acme' };
/** Unix seconds; two hours before the store's time. */
const FROM = START_MS / 1000 - 7200;
const TO = START_MS / 1000;
const ENDPOINTS = ['index/stats', 'index/shards', 'index/volume', 'index/volume_range', 'detected_labels'];

let process: TestProcess;
type Given = Readonly<Record<string, string | number>>;

function start(limits: Partial<Limits> = {}, given: Partial<Config> = {}): void {
  const config = { limits: { ...DEFAULT_CONFIG.limits, discoverLogLevels: false, ...limits }, ...given };
  process = testStores({}, config).process(1);
}
beforeEach(() => start());

async function send(
  endpoint: string,
  params: Given = {},
  { root = '/loki/api/v1', headers = acme as Record<string, string>, form = false } = {},
) {
  const all: Given = { start: FROM, end: TO, ...params };
  const pairs = Object.entries(all).map(([name, value]): [string, string] => [name, `${value}`]);
  const encoded = new URLSearchParams(pairs).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const { status, body } = form
    ? await process.ask('POST', `${root}/${endpoint}`, {
        headers: { ...headers, ...type },
        body: Buffer.from(encoded),
      })
    : await process.ask('GET', `${root}/${endpoint}`, { headers, rawQuery: encoded });
  return { status, text: Buffer.from(body).toString() };
}

async function answer(...asked: Parameters<typeof send>) {
  const { status, text } = await send(...asked);
  expect([status, text.slice(0, status === 200 ? 0 : 200)]).toEqual([200, '']);
  return JSON.parse(text);
}

async function push(streams: Record<string, string>[], seconds: readonly number[], tenant = 'acme') {
  const values = seconds.map(second => [`${FROM + second}000000000`, 'x'.repeat(100)]);
  const { status } = await process.ask('POST', '/loki/api/v1/push', {
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    body: Buffer.from(JSON.stringify({ streams: streams.map(stream => ({ stream, values })) })),
  });
  expect(status).toBe(204);
}

const shop = (pod: string) => ({ service_name: 'shop', pod });
async function pushShop(): Promise<void> {
  await push([shop('a'), shop('b')], [10, 3700]);
  await push([{ service_name: 'web', env: 'dev' }], [20, 30, 40, 50, 60]);
}

const byMetric = (result: { metric: object; value?: unknown[]; values?: unknown[][] }[]) =>
  result.map(({ metric, value, values }) => [metric, value ?? values]);

test.each(ENDPOINTS)('%s works under both roots, by GET and form, and uses its tenant', async endpoint => {
  await pushShop();
  const params = { query: '{service_name=~".+"}', targetBytesPerShard: '1MB' };
  const told = async (...given: [{ root?: string; form?: boolean }?]) => {
    const { data, statistics: _times, ...rest } = await answer(endpoint, params, ...given);
    return { ...rest, result: data?.result };
  };
  const first = await told();
  expect(JSON.stringify(first)).toMatch(/service_name|[1-9]/);
  for (const given of [{ root: '/svc/api/v1' }, { form: true }, { root: '/svc/api/v1', form: true }]) {
    expect(await told(given)).toEqual(first);
  }
  expect(await send(endpoint, params, { headers: {} })).toEqual({ status: 401, text: 'no org id\n' });
  const several = await send(endpoint, params, { headers: { 'x-scope-orgid': 'a|b' } });
  expect(several).toEqual({ status: 400, text: 'multiple org IDs present' });
});

test('statistics are returned, with one shard that covers everything', async () => {
  await pushShop();
  const stats = { streams: 2, chunks: 1, bytes: 400, entries: 4 };
  const query = '{service_name="shop"}';
  expect(await answer('index/stats', { query })).toEqual(stats);
  expect(await answer('index/stats', { query, end: FROM + 600 })).toEqual({
    ...stats,
    bytes: 200,
    entries: 2,
  });
  expect(await answer('index/stats', { query: '{service_name="none"}' })).toEqual({
    streams: 0,
    chunks: 0,
    bytes: 0,
    entries: 0,
  });
  const { text } = await send('index/shards', { query, targetBytesPerShard: '100' });
  expect(text).toContain('"bounds":{"min":0,"max":18446744073709551615}');
  const { shards, statistics, chunkGroups } = JSON.parse(text);
  expect(shards.map((shard: { stats: object }) => shard.stats)).toEqual([stats]);
  expect(statistics.summary.execTime).toBeGreaterThanOrEqual(0);
  expect(chunkGroups).toEqual([{ refs: [] }]);
});

describe('volume', () => {
  const SHOP = { service_name: 'shop' };
  // [case, parameters, series and bytes]
  const rows: [string, Given, unknown[]][] = [
    [
      'labels of the selector',
      { query: '{service_name=~".+"}' },
      [
        [{ service_name: 'web' }, 500],
        [SHOP, 400],
      ],
    ],
    [
      'everything',
      { query: ' { } ' },
      [
        [{ service_name: 'web', env: 'dev' }, 500],
        [shop('a'), 200],
        [shop('b'), 200],
      ],
    ],
    [
      'targets, of which streams lack one',
      { query: '{service_name=~".+"}', targetLabels: 'pod' },
      [
        [{ pod: 'a' }, 200],
        [{ pod: 'b' }, 200],
      ],
    ],
    [
      'a target that the selector names may lack',
      { query: '{service_name=~".+", env!="x"}', targetLabels: 'env' },
      [
        [{ env: 'dev' }, 500],
        [{}, 400],
      ],
    ],
    [
      'labels',
      { query: '{service_name=~".+"}', aggregateBy: 'labels' },
      [
        [{ service_name: '' }, 900],
        [{ env: '' }, 500],
        [{ pod: '' }, 400],
      ],
    ],
    [
      'labels, only some',
      { query: '{service_name=~".+"}', aggregateBy: 'labels', targetLabels: 'pod,service_name' },
      [
        [{ pod: '' }, 400],
        [{ service_name: '' }, 400],
      ],
    ],
    ['the largest', { query: '{service_name=~".+"}', limit: 1 }, [[{ service_name: 'web' }, 500]]],
    ['limit 0 is none', { query: '{service_name="shop"}', limit: 0 }, [[SHOP, 400]]],
    ['nothing', { query: '{service_name="none"}' }, []],
  ];
  test.each(rows)('%s', async (_, params, want) => {
    await pushShop();
    const { status, data } = await answer('index/volume', params);
    expect([status, data.resultType]).toEqual(['success', 'vector']);
    expect(data.stats.summary.totalLinesProcessed).toBe(0);
    expect(byMetric(data.result)).toEqual(
      want.map(pair => [(pair as unknown[])[0], [TO, `${(pair as unknown[])[1]}`]]),
    );
  });

  test('a volume in steps uses buckets that start at multiples of the step', async () => {
    await pushShop();
    const { data } = await answer('index/volume_range', { query: '{service_name=~".+"}', step: '1h' });
    expect(data.resultType).toBe('matrix');
    expect(byMetric(data.result)).toEqual([
      [{ service_name: 'web' }, [[FROM + 3599.999, '500']]],
      [
        SHOP,
        [
          [FROM + 3599.999, '200'],
          [TO, '200'],
        ],
      ],
    ]);
    const one = await answer('index/volume_range', { query: '{service_name="shop"}', step: '1d' });
    expect([one.data.resultType, byMetric(one.data.result)]).toEqual(['matrix', [[SHOP, [[TO, '400']]]]]);
    const none = await answer('index/volume_range', { query: '{service_name="none"}', step: '1d' });
    expect(none.data).toMatchObject({ resultType: 'vector', result: [] });
  });

  test('orders series by their first samples', async () => {
    await push([{ app: 'late' }], [3700, 3800, 3900]);
    await push([{ app: 'early' }], [1, 2]);
    await push([{ app: 'both' }], [3, 3700, 3800, 3900]);
    const { data } = await answer('index/volume_range', { query: '{app=~".+"}', step: '1h' });
    expect(data.result.map(({ metric }: { metric: { app: string } }) => metric.app)).toEqual([
      'late',
      'early',
      'both',
    ]);
  });

  test('obeys the limits of the tenant', async () => {
    start({ volumeEnabled: false });
    expect(await send('index/volume', { query: '{}' })).toEqual({ status: 404, text: 'not found' });
    start({ volumeMaxSeries: 1 });
    await pushShop();
    expect(await send('index/volume', { query: '{}' })).toEqual({
      status: 400,
      text: 'the query hit the max number of series limit (limit: 1 series)',
    });
  });

  test('sums several tenants', async () => {
    start({}, { querier: { ...DEFAULT_CONFIG.querier, multiTenantQueriesEnabled: true } });
    await push([SHOP], [1]);
    await push([SHOP], [1, 2], 'other');
    const headers = { 'x-scope-orgid': 'acme|other' };
    const { data } = await answer('index/volume', { query: '{service_name=~".+"}' }, { headers });
    expect(byMetric(data.result)).toEqual([[SHOP, [TO, '300']]]);
    expect(await answer('index/stats', { query: '{service_name="shop"}' }, { headers })).toMatchObject({
      streams: 2,
      bytes: 300,
    });
    const { detectedLabels } = await answer('detected_labels', {}, { headers });
    expect(detectedLabels).toEqual([{ label: 'service_name', cardinality: 1 }]);
  });
});

test('detected labels are returned', async () => {
  expect(await answer('detected_labels')).toEqual({});
  await pushShop();
  await push([{ service_name: 'web', id: '7' }], [1]);
  expect(await answer('detected_labels')).toEqual({
    detectedLabels: [
      { label: 'env', cardinality: 1 },
      { label: 'pod', cardinality: 2 },
      { label: 'service_name', cardinality: 2 },
    ],
  });
  const { detectedLabels } = await answer('detected_labels', { query: '{env="dev"}' });
  expect(detectedLabels.map(({ label }: { label: string }) => label)).toEqual(['env', 'service_name']);
});

// [endpoint, parameters, text]
const MISTAKES: [string, Given, string][] = [
  ['index/stats', { query: '{a="b"} |= "x"' }, 'only label matchers are supported'],
  ['index/stats', { query: 'rate({a="b"}[1m])' }, 'only label matchers are supported'],
  ['index/stats', { query: '' }, 'parse error : syntax error: unexpected $end'],
  [
    'index/stats',
    { query: '{a="b"}', step: '1ms' },
    'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
  ],
  ...['index/stats', 'index/shards'].flatMap((endpoint): [string, Given, string][] => [
    [endpoint, { query: '{a="b"}', limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
    [endpoint, { query: '{a="b"}', limit: 0 }, 'limit must be a positive value'],
    [endpoint, { query: '{a="b"}', direction: 'x' }, "invalid direction 'x'"],
    [endpoint, { query: '{a="b"}', step: 'x' }, 'cannot parse "x" to a valid duration'],
    [endpoint, { query: '{a="b"}', interval: -1 }, 'interval must be >= 0'],
    // The limit is checked before the query.
    [endpoint, { query: '{', limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
  ]),
  ['index/shards', { query: '{a="b"}' }, 'targetBytesPerShard must be a positive value'],
  [
    'index/shards',
    { query: '{a="b"}', targetBytesPerShard: 0 },
    'targetBytesPerShard must be a positive value',
  ],
  ['index/volume', { query: '{}', aggregateBy: 'x' }, 'invalid aggregation option'],
  ['index/volume', { query: '{}', limit: -1 }, 'limit must be a positive value'],
  [
    'index/volume_range',
    { query: '{}', step: 0 },
    'zero or negative query resolution step widths are not accepted. Try a positive integer',
  ],
  ['index/volume', { query: '{}', end: FROM - 1 }, 'end timestamp must not be before or equal to start time'],
  [
    'index/volume',
    { query: '{}', start: FROM - 86_400 * 31 },
    'the query time range exceeds the limit (query length: 746h0m0s, limit: 30d1h)',
  ],
  ['detected_labels', { query: '{a="b"} | json' }, 'only label matchers are supported'],
];
test.each(MISTAKES)('%s %j returns 400', async (endpoint, params, text) => {
  expect(await send(endpoint, params)).toEqual({ status: 400, text });
});

test('drilldown-limits returns the limits', async () => {
  const path = 'drilldown-limits';
  const { limits, ...rest } = await answer(path);
  expect(rest).toEqual({ pattern_ingester_enabled: false, version: '3.8.0' });
  expect(Object.keys(limits).sort()).toEqual(
    [
      'discover_log_levels discover_service_name log_level_fields max_entries_limit_per_query max_line_size_truncate',
      'max_query_bytes_read max_query_length max_query_lookback max_query_range max_query_series',
      'metric_aggregation_enabled otlp_config pattern_persistence_enabled query_timeout retention_period',
      'retention_stream volume_enabled volume_max_series',
    ].flatMap(line => line.split(' ')),
  );
  expect(limits).toMatchObject({
    max_query_length: '30d1h',
    max_query_series: 500,
    volume_enabled: true,
    volume_max_series: 1000,
    query_timeout: '1m',
    retention_period: '0s',
  });
  expect(await send(path, {}, { headers: {} })).toMatchObject({ status: 401 });
  expect(await send(path, {}, { headers: { 'x-scope-orgid': 'a|b' } })).toMatchObject({ status: 401 });
});
