import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PARQUET_TYPE } from '../../shared/server/http/parquet-request.ts';
import { encodeParams, FORM_TYPE } from '../end-to-end/support/client.ts';
import { jsonPush } from '../end-to-end/support/push.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';

const START_NS = 1_700_000_000_000_000_000n;
const RANGE = { start: `${START_NS}`, end: `${START_NS + 60_000_000_000n}` };
const CONFIG = `
auth_enabled: true
querier:
  multi_tenant_queries_enabled: true
limits_config:
  reject_old_samples: false
  discover_log_levels: false
  max_entries_limit_per_query: 500
`;

const LINES = [
  '{"user":{"id":7},"took":"5ms"}',
  '{"user":{"id":8},"took":"6ms"}',
  'size=1500000B app=inner',
  'plain',
];
const FIELDS = [
  { label: 'app_extracted', type: 'string', cardinality: 1, parsers: ['logfmt'] },
  { label: 'size', type: 'bytes', cardinality: 1, parsers: ['logfmt'] },
  { label: 'took', type: 'duration', cardinality: 2, parsers: ['json'], jsonPath: ['took'] },
  { label: 'trace', type: 'string', cardinality: 1, parsers: null },
  { label: 'user_id', type: 'int', cardinality: 2, parsers: ['json'], jsonPath: ['user', 'id'] },
];

let store: TestStore;

async function push(tenant: string, lines: readonly string[]): Promise<void> {
  const entries = lines.map((line, i) => ({ ns: START_NS + BigInt(i), line, metadata: { trace: 'id-1' } }));
  const { status, text } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'x-scope-orgid': tenant, 'content-type': 'application/json' },
    body: jsonPush([{ labels: { app: 'web', service_name: 'web' }, entries }]),
  });
  if (status !== 204) throw new Error(text);
}

beforeAll(async () => {
  store = await startStore(CONFIG);
  await push('a', LINES);
  await push('b', ['level=warn']);
});

afterAll(async () => {
  await store?.stop();
});

type Query = Record<string, string>;
const WEB: Query = { ...RANGE, query: '{app="web"}' };

async function ask(path: string, query: Query, headers: Record<string, string> = {}) {
  const { status, text } = await store.client.send({
    path,
    query,
    headers: { 'x-scope-orgid': 'a', ...headers },
  });
  return { status, text };
}

async function found(path: string, query: Query, headers: Record<string, string> = {}): Promise<unknown> {
  const { status, text } = await ask(`/loki/api/v1${path}`, query, headers);
  expect([status, text]).toEqual([200, text]);
  return JSON.parse(text);
}

describe('fields', () => {
  test('are returned from both roots, by GET and by a form', async () => {
    const headers = { 'x-scope-orgid': 'a', 'content-type': FORM_TYPE };
    for (const root of ['/loki/api/v1', '/svc/api/v1']) {
      const got = await ask(`${root}/detected_fields`, WEB);
      const path = `${root}/detected_fields`;
      const posted = await store.client.send({ method: 'POST', path, headers, body: encodeParams(WEB) });
      for (const { status, text } of [got, posted]) {
        expect([status, JSON.parse(text)]).toEqual([200, { fields: FIELDS, limit: 1000 }]);
      }
    }
  });

  test.each<[string, Query, readonly string[], number]>([
    ['limit', { limit: '2' }, ['size', 'trace'], 2],
    ['field_limit', { field_limit: '1' }, ['trace'], 1],
    ['limit before field_limit', { limit: '1', field_limit: '3' }, ['trace'], 1],
    ['line_limit, the latest lines', { line_limit: '1' }, ['trace'], 1000],
    ['line_limit, two of them', { line_limit: '2' }, ['app_extracted', 'size', 'trace'], 1000],
    ['a line filter', { query: '{app="web"} |= "plain"' }, ['trace'], 1000],
    [
      'a parser in the query',
      { query: '{app="web"} | json u="user.id" | u="7"' },
      ['took', 'trace', 'u', 'user_id'],
      1000,
    ],
    [
      'a line that the query makes',
      { query: '{app="web"} |= "plain" | line_format "made=1"' },
      ['made', 'trace'],
      1000,
    ],
    ['another range', { end: `${START_NS + 2n}` }, ['took', 'trace', 'user_id'], 1000],
  ])('%s', async (_name, query, names, limit) => {
    const { fields, ...rest } = (await found('/detected_fields', {
      ...WEB,
      line_limit: '100',
      ...query,
    })) as {
      fields: { label: string }[];
    };
    // A limit keeps the fields found first: an entry's metadata, then its line.
    expect(fields.map(({ label }) => label)).toEqual(names);
    expect(rest).toEqual({ limit });
  });

  test('are returned for several tenants', async () => {
    const several = { 'x-scope-orgid': 'a|b' };
    const { fields } = (await found('/detected_fields', WEB, several)) as { fields: object[] };
    const level = { label: 'level', type: 'string', cardinality: 1, parsers: ['logfmt'] };
    expect(fields).toEqual([...FIELDS.slice(0, 1), level, ...FIELDS.slice(1)]);
  });

  test('are empty without entries', async () => {
    expect(await found('/detected_fields', { ...RANGE, query: '{app="none"}' })).toEqual({});
    expect(await found('/detected_fields', { query: '{app="web"}' })).toEqual({});
  });
});

describe('values', () => {
  test.each<[string, Query, unknown]>([
    ['user_id', {}, { values: ['7', '8'], limit: 1000 }],
    ['trace', {}, { values: ['id-1'], limit: 1000 }],
    ['size', {}, { values: ['1.5MB'], limit: 1000 }],
    ['app_extracted', {}, { values: ['inner'], limit: 1000 }],
    ['took', { limit: '1' }, { values: ['6ms'], limit: 1 }],
    ['took', { query: '{app="web"} |= "5ms"' }, { values: ['5ms'], limit: 1000 }],
    ['app', {}, {}],
    ['nosuch', {}, {}],
    ['user%5Fid', {}, { values: ['7', '8'], limit: 1000 }],
  ])('%s %j', async (name, query, want) => {
    expect(await found(`/detected_field/${name}/values`, { ...WEB, ...query })).toEqual(want);
  });

  test('need a field name', async () => {
    expect((await ask('/loki/api/v1/detected_field/values', WEB)).status).toBe(404);
  });
});

describe.each(['/detected_fields', '/detected_field/a/values'])('%s refuses', path => {
  test.each<[Query, string]>([
    [{ query: '' }, 'parse error : syntax error: unexpected $end'],
    [{ query: 'rate({app="web"}[5m])' }, 'only log selector is supported'],
    [{ limit: '0' }, 'limit must be a positive value'],
    [{ field_limit: '-1' }, 'limit must be a positive value'],
    [{ limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
    [{ line_limit: '0' }, 'limit must be a positive value'],
    [{ line_limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
    [
      { line_limit: '501' },
      'max entries limit per query exceeded, limit > max_entries_limit_per_query (501 > 500)',
    ],
    [{ step: '0' }, 'zero or negative query resolution step widths are not accepted. Try a positive integer'],
    [
      { step: '1ms' },
      'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
    ],
    [{ since: 'x', start: '' }, `could not parse 'since' parameter: not a valid duration string: "x"`],
    [{ end: '1' }, 'end timestamp must not be before or equal to start time'],
  ])('%j', async (query, message) => {
    const { status, text } = await ask(`/loki/api/v1${path}`, { ...WEB, ...query });
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  });

  test('Parquet, other methods, and parameters that clients never send', async () => {
    expect((await ask(`/loki/api/v1${path}`, WEB, { 'x-scope-orgid': '' })).status).toBe(401);
    expect((await ask(`/loki/api/v1${path}`, WEB, { accept: PARQUET_TYPE })).status).toBe(400);
    const deleted = await store.client.send({ method: 'DELETE', path: `/loki/api/v1${path}` });
    expect([deleted.status, deleted.headers.allow]).toEqual([405, 'GET, POST']);
  });
});
