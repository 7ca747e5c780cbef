/** Grafana's Loki data source (docs/dev/wire-format.md#grafana): its requests in its order, and what it decodes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Replay, startReplay } from './replay.ts';
import {
  buildInfo,
  categorizedStreams,
  detectedFields,
  detectedLabels,
  detectedValues,
  indexStats,
  matrix,
  names,
  series,
  vector,
} from './schemas.ts';

const ROOT = '/loki/api/v1';
const CATEGORIZE = { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' };

let replay: Replay;
/** Times of resource calls: JavaScript prints ns of that size, so the last digits are zeros. */
let spanNs: { start: string; end: string };

beforeAll(async () => {
  replay = await startReplay();
  spanNs = { start: String(replay.fromMs * 1e6), end: String(replay.toMs * 1e6) };
});

afterAll(async () => {
  await replay?.store.stop();
});

test('save and test: the health check', async () => {
  const query = { query: 'vector(1)+vector(1)', time: '4000000000', direction: 'backward' };
  const { data } = await replay.read(vector, `${ROOT}/query`, query, CATEGORIZE);
  // Ten digits are seconds, in the reference too. Only the value counts.
  expect(data.result).toEqual([{ metric: {}, value: [4_000_000_000, '2'] }]);
});

describe('the query editor', () => {
  test('label names: detected labels first, then the list', async () => {
    const { detectedLabels: probed = [] } = await replay.read(
      detectedLabels,
      `${ROOT}/detected_labels`,
      spanNs,
    );
    expect(probed.map(({ label }) => label)).toEqual(['app', 'namespace', 'pod', 'service_name']);
    const { data = [] } = await replay.read(names, `${ROOT}/labels`, spanNs);
    expect(data).toEqual(['app', 'namespace', 'pod', 'service_name']);
    const selected = { ...spanNs, query: '{app="nosuch"}' };
    expect((await replay.read(names, `${ROOT}/labels`, selected)).data ?? []).toEqual([]);
    expect(await replay.read(detectedLabels, `${ROOT}/detected_labels`, selected)).toEqual({});
  });

  test('values of a label, all and of a selector', async () => {
    const path = `${ROOT}/label/pod/values`;
    expect((await replay.read(names, path, spanNs)).data).toEqual(['checkout-0', 'mail-0']);
    const selected = { ...spanNs, query: '{app="mail"}' };
    expect((await replay.read(names, path, selected)).data).toEqual(['mail-0']);
  });

  test('series of a selector', async () => {
    const { data } = await replay.read(series, `${ROOT}/series`, { ...spanNs, 'match[]': '{app="mail"}' });
    expect(data).toEqual([{ app: 'mail', namespace: 'shop', pod: 'mail-0', service_name: 'mail' }]);
  });

  test('fields and their values', async () => {
    const query = { ...spanNs, limit: '1000', query: '{app="mail"} |= ``' };
    const { fields = [] } = await replay.read(detectedFields, `${ROOT}/detected_fields`, query);
    expect(fields.map(({ label, type }) => `${label} ${type}`)).toContain('retries int');
    const values = await replay.read(detectedValues, `${ROOT}/detected_field/retries/values`, query);
    expect(values.values).toEqual(['0', '1', '2']);
  });

  test('the size hint of a selector', async () => {
    const found = await replay.read(indexStats, `${ROOT}/index/stats`, { ...spanNs, query: '{app="mail"}' });
    expect(found).toMatchObject({ streams: 1, entries: 60 });
    const none = await replay.read(indexStats, `${ROOT}/index/stats`, { ...spanNs, query: '{app="x"}' });
    expect(none).toEqual({ streams: 0, chunks: 0, bytes: 0, entries: 0 });
  });
});

describe('Explore', () => {
  const lines = () => ({ ...spanNs, direction: 'backward', limit: '1000', step: '2000ms' });

  test('log lines have their labels separated by origin', async () => {
    const query = { ...lines(), query: '{app="checkout"} | json' };
    const { data } = await replay.read(categorizedStreams, `${ROOT}/query_range`, query, CATEGORIZE);
    const [{ stream, values }] = data.result;
    expect(stream).toMatchObject({ app: 'checkout', service_name: 'checkout' });
    const [, , { structuredMetadata, parsed }] = values[0];
    expect(structuredMetadata).toMatchObject({ trace_id: 'trace-3', detected_level: 'error' });
    expect(parsed).toMatchObject({ http_path: '/pay', app_extracted: 'inner' });
    expect(data.result.flatMap(one => one.values)).toHaveLength(60);
  });

  test('flags precede the values: the client reads the response as it arrives', async () => {
    const { text } = await replay.ask(
      `${ROOT}/query_range`,
      { ...lines(), query: '{app="mail"}' },
      CATEGORIZE,
    );
    const places = ['"resultType"', '"encodingFlags"', '"result"'].map(key => text.indexOf(key));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  test('an answer without lines', async () => {
    const query = { ...lines(), query: '{app="nosuch"}' };
    const { data } = await replay.read(categorizedStreams, `${ROOT}/query_range`, query, CATEGORIZE);
    expect(data.result).toEqual([]);
  });

  // [what, tag, query, what its series are called]
  test.each([
    [
      'histogram of levels',
      'logvolhist',
      'sum by (level, detected_level) (count_over_time({namespace="shop"} | drop __error__ [1m]))',
      ['error', 'info', 'warn'],
    ],
    [
      'sample of a metric',
      'datasample',
      'sum by (detected_level) (count_over_time({app="mail"}[2m]))',
      ['error', 'info', 'warn'],
    ],
  ])('%s', async (_, tag, query, levels) => {
    const asked = { ...spanNs, direction: 'backward', step: '60000ms', query };
    const headers = { ...CATEGORIZE, 'X-Query-Tags': `Source=${tag}` };
    const { data } = await replay.read(matrix, `${ROOT}/query_range`, asked, headers);
    expect(data.result.map(({ metric }) => metric.detected_level).sort()).toEqual(levels);
  });

  test('sample of lines', async () => {
    const query = { ...lines(), limit: '50', query: '{namespace="shop"}' };
    const headers = { ...CATEGORIZE, 'X-Query-Tags': 'Source=logsample' };
    const { data } = await replay.read(categorizedStreams, `${ROOT}/query_range`, query, headers);
    expect(data.result.flatMap(({ values }) => values)).toHaveLength(50);
  });

  test('instant query of a table panel or an alert rule', async () => {
    const query = {
      query: 'sum by (app) (count_over_time({namespace="shop"}[1h]))',
      time: spanNs.end,
      direction: 'backward',
      limit: '100',
    };
    const { data } = await replay.read(vector, `${ROOT}/query`, query, {
      'X-Rule-Name': 'many',
      FromAlert: 'true',
    });
    expect(data.result.map(({ metric, value }) => `${metric.app} ${value[1]}`).sort()).toEqual([
      'checkout 60',
      'mail 60',
    ]);
  });

  // [query, status, what the user reads]
  test.each([
    ['{app="mail"', 400, 'parse error at line 1, col 12: syntax error: unexpected $end'],
    ['{app=~".*"}', 400, 'queries require at least one regexp or equality matcher'],
    ['sum(rate({app="mail"} | json | unwrap x [1m]', 400, 'parse error'],
  ])('%s is refused with a text that can be shown', async (query, status, text) => {
    const answer = await replay.ask(`${ROOT}/query_range`, { ...lines(), query }, CATEGORIZE);
    expect(answer.status).toBe(status);
    const shown = answer.text.startsWith('{')
      ? String(JSON.parse(answer.text).message ?? answer.text)
      : answer.text;
    expect(shown).toContain(text);
  });
});

test('the version decides which features the editor offers', async () => {
  const { version } = await replay.read(buildInfo, `${ROOT}/status/buildinfo`, {});
  expect(Number(version.split('.')[0])).toBeGreaterThanOrEqual(3);
});
