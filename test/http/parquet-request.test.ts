import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  PARQUET_TYPE,
  parquetRequested,
  parquetWanted,
  refuseParquet,
} from '../../shared/server/http/parquet-request.ts';
import { jsonPush } from '../end-to-end/support/push.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { readRows } from './parquet-read.ts';
import { messageThrown } from './request.ts';

const DISABLED =
  'support for Parquet encoded responses is disabled. Enable with -frontend.support-parquet-encoding=true';
const UNSUPPORTED = 'request does not support Parquet responses';
const ASKING = { accept: PARQUET_TYPE };
const ON = {
  compressResponses: true,
  supportParquetEncoding: true,
  maxBodySize: 1,
  maxOutstandingPerTenant: 0,
};
const OFF = { ...ON, supportParquetEncoding: false };

describe('Parquet content negotiation', () => {
  test.each<[Record<string, string>, boolean]>([
    [ASKING, true],
    [{}, false],
    [{ accept: '*/*' }, false],
    [{ accept: '' }, false],
    [{ accept: 'application/json' }, false],
    [{ accept: `${PARQUET_TYPE}, application/json` }, false],
    [{ accept: `${PARQUET_TYPE};q=1` }, false],
    [{ accept: 'Application/Vnd.Apache.Parquet' }, false],
    [{ 'content-type': PARQUET_TYPE }, false],
  ])('%j is Parquet: %j', (headers, want) => {
    expect(parquetRequested(headers)).toBe(want);
    expect(parquetWanted(headers, ON)).toBe(want);
  });

  test('refuses Parquet for endpoints without it', () => {
    expect(parquetWanted({}, OFF)).toBe(false);
    expect(messageThrown(() => parquetWanted(ASKING, OFF))).toBe(DISABLED);
    expect(messageThrown(() => refuseParquet(ASKING))).toBe(UNSUPPORTED);
    expect(() => refuseParquet({})).not.toThrow();
  });
});

const START_NS = 1_700_000_000_000_000_001n;
const TENANT = { 'x-scope-orgid': 'a' };
const RANGE = { start: `${START_NS}`, end: `${START_NS + 60_000_000_000n}`, direction: 'forward' };

describe('a store that is asked for Parquet', () => {
  let store: TestStore;
  let closed: TestStore;

  beforeAll(async () => {
    store = await startStore('limits_config:\n  reject_old_samples: false\n');
    closed = await startStore('frontend:\n  support_parquet_encoding: false\n');
    const body = jsonPush([
      {
        labels: { app: 'web', service_name: 'web' },
        entries: [
          { ns: START_NS, line: 'level=info one', metadata: { trace: 't1' } },
          { ns: START_NS + 1n, line: 'level=info two' },
        ],
      },
    ]);
    const headers = { ...TENANT, 'content-type': 'application/json' };
    const pushed = await store.client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
    if (pushed.status !== 204) throw new Error(pushed.text);
  });

  afterAll(async () => {
    await store?.stop();
    await closed?.stop();
  });

  const ask = (
    path: string,
    query: Record<string, string>,
    headers: Record<string, string> = {},
    at: TestStore = store,
  ) => at.client.send({ path: `/loki/api/v1${path}`, query, headers: { ...TENANT, ...ASKING, ...headers } });

  const LABELS = { app: 'web', service_name: 'web' };

  test.each<[string, string, Record<string, string>, Record<string, string>, object[]]>([
    [
      'entries, their metadata among the labels',
      '/query_range',
      { ...RANGE, query: '{app="web"} | drop detected_level' },
      {},
      [
        { timestamp: START_NS, labels: { ...LABELS, trace: 't1' }, line: 'level=info one' },
        { timestamp: START_NS + 1n, labels: LABELS, line: 'level=info two' },
      ],
    ],
    [
      'entries without their metadata',
      '/query_range',
      { ...RANGE, query: '{app="web"}' },
      { 'x-loki-response-encoding-flags': 'categorize-labels' },
      [
        { timestamp: START_NS, labels: LABELS, line: 'level=info one' },
        { timestamp: START_NS + 1n, labels: LABELS, line: 'level=info two' },
      ],
    ],
    ['no entries', '/query_range', { ...RANGE, query: '{app="none"}' }, {}, []],
    [
      'series',
      '/query_range',
      {
        start: '1700000001',
        end: '1700000002',
        step: '1',
        query: 'sum by (app) (count_over_time({app="web"}[5s]))',
      },
      {},
      [
        { timestamp: 1_700_000_001_000n, labels: { app: 'web' }, value: 2 },
        { timestamp: 1_700_000_002_000n, labels: { app: 'web' }, value: 2 },
      ],
    ],
    [
      'a vector',
      '/query',
      { time: '1700000001', query: 'sum(count_over_time({app="web"}[5s]))' },
      {},
      [{ timestamp: 1_700_000_001_000n, labels: {}, value: 2 }],
    ],
    [
      'a number',
      '/query',
      { time: '1700000001', query: '1+1' },
      {},
      [{ timestamp: 1_700_000_001_000n, labels: {}, value: 2 }],
    ],
  ])('returns %s', async (_, path, query, headers, want) => {
    const answer = await ask(path, query, { 'accept-encoding': 'gzip', ...headers });
    expect({ status: answer.status, type: answer.headers['content-type'] }).toEqual({
      status: 200,
      type: PARQUET_TYPE,
    });
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(await readRows(answer.bytes)).toEqual(want);
  });

  test.each<[string, Record<string, string>]>([
    ['/labels', {}],
    ['/label/app/values', {}],
    ['/series', {}],
    ['/format_query', { query: '{app="web"}' }],
  ])('refuses %s', async (path, query) => {
    const { status, text } = await ask(path, query);
    expect({ status, text }).toEqual({ status: 400, text: UNSUPPORTED });
  });

  test.each<[string, Record<string, string>]>([
    ['/query_range', { ...RANGE, query: '{app="web"}' }],
    ['/query', { query: '1+1' }],
  ])('refuses %s if Parquet is disabled, and returns JSON to others', async (path, query) => {
    const { status, text } = await ask(path, query, {}, closed);
    expect({ status, text }).toEqual({ status: 400, text: DISABLED });
    const inJson = await ask(path, query, { accept: 'application/json' }, closed);
    expect({ status: inJson.status, type: inJson.headers['content-type'] }).toEqual({
      status: 200,
      type: 'application/json; charset=UTF-8',
    });
  });

  test('returns errors as text, a missing tenant first', async () => {
    const { status, headers } = await ask('/query_range', { ...RANGE, query: '{' });
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 400,
      type: 'text/plain; charset=utf-8',
    });
    const nobody = await closed.client.send({
      path: '/loki/api/v1/query',
      query: { query: '1' },
      headers: ASKING,
    });
    expect(nobody.status).toBe(401);
  });
});
