/**
 * Grafana shows a partial result with a warning for a request beyond the limits. Alert rules and other clients
 * get the error.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import type { QueryParams } from '../end-to-end/support/client.ts';
import { type Replay, startReplay } from './replay.ts';

const ROOT = '/loki/api/v1';
const BY_TRACE = 'sum by (trace_id) (count_over_time({app="checkout"} [1m]))';
const SERIES = 'maximum number of series (3) reached for a single query';
const LENGTH = 'the query time range exceeds the limit (query length: 1h0m0s, limit: 30m)';
const ENTRIES = 'max entries limit per query exceeded, limit > max_entries_limit_per_query (100 > 10)';

const warned = z.object({ warnings: z.array(z.string()).optional() });
const metric = warned.extend({
  data: z.object({
    result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })),
  }),
});
const instant = warned.extend({
  data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()) })) }),
});
const lines = warned.extend({
  data: z.object({
    result: z.array(z.object({ values: z.array(z.tuple([z.string(), z.string()]).rest(z.unknown())) })),
  }),
});

let replay: Replay;
beforeAll(async () => {
  const limits = '{max_query_series: 3, max_entries_limit_per_query: 10, max_query_length: 30m}';
  replay = await startReplay(`limits_config: ${limits}`);
});
afterAll(() => replay?.store.stop());

/** The last half hour, and all of the hour. */
const allowed = () => ({ start: `${replay.toMs - 30 * MS_PER_MINUTE}000000`, end: `${replay.toMs}000000` });
const tooLong = () => ({ start: `${replay.fromMs}000000`, end: `${replay.toMs}000000` });

test('a range query over too many series shows some of them', async () => {
  const query = { ...allowed(), query: BY_TRACE, step: '60000ms' };
  const { data, warnings } = await replay.read(metric, `${ROOT}/query_range`, query);
  expect(data.result).toHaveLength(3);
  expect(warnings).toEqual([`${SERIES}; returning partial results`]);
});

test('an instant query over too many series shows the largest', async () => {
  // Traces 0 to 3 have 9 of the 60 entries each, the others 8.
  const query = 'sum by (trace_id) (count_over_time({app="checkout"} [2h]))';
  const at = { query, time: `${replay.toMs + 5}000000`, direction: 'backward' };
  const { data, warnings } = await replay.read(instant, `${ROOT}/query`, at);
  const traces = data.result.map(({ metric: { trace_id } }) => trace_id);
  expect(traces).toHaveLength(3);
  for (const trace of traces) expect(['trace-0', 'trace-1', 'trace-2', 'trace-3']).toContain(trace);
  expect(warnings).toEqual([`${SERIES}; returning partial results`]);
});

test('too long a range shows its end, on the same steps', async () => {
  const count = { query: 'sum(count_over_time({app="checkout"} [1m]))', step: '60000ms' };
  const { data, warnings } = await replay.read(metric, `${ROOT}/query_range`, { ...tooLong(), ...count });
  const within = await replay.read(metric, `${ROOT}/query_range`, { ...allowed(), ...count });
  expect(within.warnings).toBeUndefined();
  expect(within.data.result[0].values.length).toBeGreaterThan(20);
  expect(data.result).toEqual(within.data.result);
  expect(warnings).toEqual([`${LENGTH}; returning partial results for the end of the range`]);
});

test('more lines than one query may return are the newest', async () => {
  const query = { ...allowed(), query: '{app="checkout"}', limit: '100', direction: 'backward' };
  const { data, warnings } = await replay.read(lines, `${ROOT}/query_range`, query);
  expect(data.result.flatMap(({ values }) => values)).toHaveLength(10);
  expect(warnings).toEqual([`${ENTRIES}; returning partial results of up to 10 entries`]);
});

describe('every endpoint over too long a range', () => {
  const mail = { query: '{app="mail"}' };
  test.each<[string, QueryParams, object]>([
    ['labels', {}, { data: ['app', 'namespace', 'pod', 'service_name'] }],
    ['label/app/values', {}, { data: ['checkout', 'mail'] }],
    ['series', { 'match[]': '{app="mail"}' }, { data: [{ app: 'mail' }] }],
    ['index/stats', mail, { streams: 1 }],
    ['index/volume', mail, { data: { resultType: 'vector' } }],
    ['index/volume_range', { ...mail, step: '60' }, { data: { resultType: 'matrix' } }],
    ['detected_labels', {}, { detectedLabels: [{ label: 'app' }, {}, {}, {}] }],
  ])('%s answers for the end of it', async (path, query, found) => {
    const { status, text } = await replay.ask(`${ROOT}/${path}`, { ...tooLong(), ...query });
    expect(text).toContain(LENGTH);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject(found);
  });

  test('detected fields take as many lines as they may', async () => {
    const query = { ...tooLong(), ...mail, line_limit: '100' };
    const schema = warned.extend({ fields: z.array(z.object({ label: z.string() })) });
    const found = await replay.read(schema, `${ROOT}/detected_fields`, query);
    expect(found.fields.map(({ label }) => label)).toContain('retries');
    expect(found.warnings).toEqual([expect.stringContaining(ENTRIES), expect.stringContaining(LENGTH)]);
    const values = warned.extend({ values: z.array(z.string()) });
    const retries = await replay.read(values, `${ROOT}/detected_field/retries/values`, query);
    expect(retries.values).toEqual(['0', '1', '2']);
    expect(retries.warnings).toHaveLength(2);
  });
});

const OTHERS: readonly [string, Record<string, string>][] = [
  ['an alert rule of Grafana', { FromAlert: 'true' }],
  ['logcli', { 'user-agent': 'loki-logcli/3.5.0' }],
  ['Grafana Alloy', { 'user-agent': 'Alloy/v1.10.0 (linux)' }],
];
describe.each(OTHERS)('%s gets the error', (_, headers) => {
  test.each<[string, string, QueryParams, string]>([
    ['too many series', 'query_range', { query: BY_TRACE, since: '20m' }, SERIES],
    ['too long a range', 'query_range', { query: BY_TRACE, since: '1h' }, LENGTH],
    ['too many lines', 'query_range', { query: '{app="mail"}', limit: '100', since: '20m' }, ENTRIES],
    ['too many lines to detect', 'detected_fields', { query: '{app="mail"}', line_limit: '100' }, ENTRIES],
    ['labels over too long a range', 'labels', { since: '1h' }, LENGTH],
  ])('%s', async (_what, path, query, message) => {
    const { status, text } = await replay.ask(`${ROOT}/${path}`, query, headers);
    expect(text).toContain(message);
    expect(status).toBe(400);
  });
});
