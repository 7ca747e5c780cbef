/** Logs Drilldown (docs/dev/wire-format.md#logs-drilldown): its requests in the order of a visit, and what it decodes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { QueryParams } from '../end-to-end/support/client.ts';
import { type Replay, startReplay } from './replay.ts';
import {
  categorizedStreams,
  detectedFields,
  detectedLabels,
  detectedValues,
  drilldownLimits,
  matrix,
  names,
  patterns,
  vector,
} from './schemas.ts';

const ROOT = '/loki/api/v1';
const TAGS = { 'X-Query-Tags': 'Source=grafana-lokiexplore-app' };

let replay: Replay;
/** The app sends ISO texts; `from` and `to` next to them are for itself, and ignored here. */
let span: QueryParams;

beforeAll(async () => {
  replay = await startReplay();
  const [start, end] = [replay.fromMs, replay.toMs].map(ms => new Date(ms).toISOString());
  span = { start, end, from: start, to: end };
});

afterAll(async () => {
  await replay?.store.stop();
});

test('configuration lists the available features', async () => {
  const { limits, pattern_ingester_enabled } = await replay.read(
    drilldownLimits,
    `${ROOT}/drilldown-limits`,
    {},
    TAGS,
  );
  expect(limits).toMatchObject({ volume_enabled: true, max_query_length: '30d1h' });
  expect(pattern_ingester_enabled).toBe(false);
});

describe('the list of services', () => {
  test.each([
    ['by service', 'service_name', ['checkout', 'mail']],
    ['by another label', 'pod', ['checkout-0', 'mail-0']],
  ])('%s', async (_, label, values) => {
    const query = { ...span, query: `{${label}=~".+"}`, expr: `{${label}=~".+"}`, limit: '5000' };
    const { data } = await replay.read(vector, `${ROOT}/index/volume`, query, TAGS);
    expect(data.result.map(({ metric }) => metric[label]).sort()).toEqual(values);
    for (const { metric, value } of data.result) {
      expect(Object.keys(metric)).toEqual([label]);
      expect(Number(value[1])).toBeGreaterThan(1000);
    }
  });

  test('search for an unknown service', async () => {
    const query = { ...span, query: '{service_name=~"(?i).*nosuch.*"}', limit: '5000' };
    const { data } = await replay.read(vector, `${ROOT}/index/volume`, query, TAGS);
    expect(data.result).toEqual([]);
  });

  test('a volume panel and first lines for each', async () => {
    const volume = {
      ...span,
      query: 'sum by (detected_level) (count_over_time({service_name=`mail`} | detected_level != "" [60s]))',
      step: '60000ms',
      direction: 'backward',
    };
    const { data } = await replay.read(matrix, `${ROOT}/query_range`, volume, TAGS);
    expect(data.result.map(({ metric }) => metric.detected_level).sort()).toEqual(['error', 'info', 'warn']);
    const lines = {
      ...span,
      query: '{service_name=`mail`}',
      limit: '100',
      direction: 'backward',
      step: '1000ms',
    };
    const headers = { ...TAGS, 'X-Loki-Response-Encoding-Flags': 'categorize-labels' };
    const found = await replay.read(categorizedStreams, `${ROOT}/query_range`, lines, headers);
    for (const { values } of found.data.result) {
      for (const [, , { structuredMetadata }] of values)
        expect(structuredMetadata).toHaveProperty('detected_level');
    }
  });
});

describe('tabs of a service', () => {
  test('labels, with a query and with an empty one', async () => {
    for (const query of ['{service_name="checkout"}', '']) {
      const { detectedLabels: found = [] } = await replay.read(
        detectedLabels,
        `${ROOT}/detected_labels`,
        { ...span, query },
        TAGS,
      );
      expect(found.map(({ label }) => label)).toEqual(['app', 'namespace', 'pod', 'service_name']);
    }
    const { data } = await replay.read(names, `${ROOT}/labels`, span, TAGS);
    expect(data).toContain('service_name');
    const breakdown = {
      ...span,
      query: 'sum(count_over_time({service_name=`checkout`, pod != ""} [60s])) by (pod)',
      step: '60000ms',
    };
    expect((await replay.read(matrix, `${ROOT}/query_range`, breakdown, TAGS)).data.result).toHaveLength(1);
  });

  test('fields: types, parsers, paths and metadata', async () => {
    const query = { ...span, query: '{service_name="checkout"}', line_limit: '1000', limit: '1000' };
    const { fields = [] } = await replay.read(detectedFields, `${ROOT}/detected_fields`, query, TAGS);
    const shown = Object.fromEntries(fields.map(field => [field.label, field]));
    expect(shown.http_status).toEqual({
      label: 'http_status',
      type: 'int',
      cardinality: 2,
      parsers: ['json'],
      jsonPath: ['http', 'status'],
    });
    expect(shown.took).toMatchObject({ type: 'duration', parsers: ['json'] });
    expect(shown.size).toMatchObject({ type: 'bytes', cardinality: 1 });
    expect(shown.app_extracted).toMatchObject({ jsonPath: ['app'] });
    expect(shown.trace_id).toEqual({ label: 'trace_id', type: 'string', cardinality: 7, parsers: null });
    expect(shown.detected_level.parsers).toBeNull();
    expect(shown).not.toHaveProperty('app');
  });

  // [field, values]
  test.each([
    ['http_status', ['200', '500']],
    ['size', ['12kB']],
    ['detected_level', ['error', 'info', 'warn']],
  ])('values of %s for a filter', async (field, values) => {
    const query = { ...span, query: '{service_name="checkout"}', line_limit: '1000', limit: '1000' };
    const found = await replay.read(detectedValues, `${ROOT}/detected_field/${field}/values`, query, TAGS);
    expect(found.values).toEqual(values);
  });

  // [what, query, labels of its series]
  test.each([
    [
      'a panel of a field',
      'sum by (http_status) (count_over_time({service_name=`checkout`} | json http_status="http.status" | drop __error__, __error_details__ | http_status!="" [60s]))',
      ['200', '500'],
    ],
    [
      'a filter on a field of both parsers',
      'sum by (http_status) (count_over_time({service_name=`checkout`} | json | logfmt | drop __error__, __error_details__ | http_status="500" [60s]))',
      ['500'],
    ],
  ])('%s', async (_, query, statuses) => {
    const asked = { ...span, query, step: '60000ms' };
    const { data } = await replay.read(matrix, `${ROOT}/query_range`, asked, TAGS);
    expect(data.result.map(({ metric }) => metric.http_status).sort()).toEqual(statuses);
  });

  test('a panel of durations', async () => {
    const query =
      'avg_over_time({service_name=`checkout`} | json took="took" | drop __error__, __error_details__ | took!="" | unwrap duration(took) | __error__="" [60s]) by ()';
    const { data } = await replay.read(
      matrix,
      `${ROOT}/query_range`,
      { ...span, query, step: '60000ms' },
      TAGS,
    );
    expect(data.result).toHaveLength(1);
  });

  test('patterns are off by default: a clean 404', async () => {
    const query = { ...span, query: '{service_name="checkout"}', step: '30s' };
    expect(await replay.ask(`${ROOT}/patterns`, query, TAGS)).toEqual({ status: 404, text: '' });
  });
});

describe('the patterns tab works if it is enabled', () => {
  let mined: Replay;

  beforeAll(async () => {
    mined = await startReplay('pattern_ingester:\n  enabled: true\n');
  });

  afterAll(async () => {
    await mined?.store.stop();
  });

  test('the app gets the reason', async () => {
    const found = await mined.read(drilldownLimits, `${ROOT}/drilldown-limits`, {}, TAGS);
    expect(found.pattern_ingester_enabled).toBe(true);
  });

  test('patterns with levels and samples, in steps of the panel', async () => {
    const [start, end] = [mined.fromMs, mined.toMs].map(ms => new Date(ms).toISOString());
    const query = { start, end, query: '{service_name="mail"}', step: '30s' };
    const { data } = await mined.read(patterns, `${ROOT}/patterns`, query, TAGS);
    const counts = new Map<string, number>();
    for (const { level, samples } of data) {
      for (const [second, count] of samples) {
        expect(second % 30).toBe(0);
        counts.set(level, (counts.get(level) ?? 0) + count);
      }
    }
    // Warnings and errors have 12 lines each, too few to be shown (shared/upkeep/pattern-mining/bounds.ts).
    expect([...counts]).toEqual([['info', 36]]);
  });
});

test('a shard of a busy service: the additional matcher finds nothing here, without an error', async () => {
  const query = {
    ...span,
    query: '{service_name="mail", __stream_shard__=~"0|1"}',
    limit: '100',
    step: '1000ms',
  };
  const headers = { ...TAGS, 'X-Loki-Response-Encoding-Flags': 'categorize-labels' };
  const { data } = await replay.read(categorizedStreams, `${ROOT}/query_range`, query, headers);
  expect(data.result).toEqual([]);
});
