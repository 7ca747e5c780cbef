/** Elasticsearch's bulk API as the official client and the agents of docs/reference/receivers.md use it. */
import { gzipSync } from 'node:zlib';
import { Client } from '@elastic/elasticsearch';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findEntries } from './support/ask.ts';
import { startStore, type TestStore } from './support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startStore('auth_enabled: true');
});
afterAll(() => store.stop());

const linesOf = async (tenant: string, query: string) =>
  (await findEntries(store.client, { query, limit: '5000', direction: 'forward' }, { tenant }))
    .map(({ labels, line }) => ({ labels, line }))
    .sort((a, b) => (a.line < b.line ? -1 : 1));

function bulk(
  tenant: string | undefined,
  body: string | Uint8Array,
  given: { path?: string; headers?: object } = {},
) {
  const headers = { 'content-type': 'application/x-ndjson', ...given.headers } as Record<string, string>;
  if (tenant !== undefined) headers['x-scope-orgid'] = tenant;
  return store.client.send({ method: 'POST', path: given.path ?? '/_bulk', headers, body });
}

test('stores documents of the bulk helper of the official client', async () => {
  const client = new Client({ node: `${store.url}/elasticsearch`, headers: { 'x-scope-orgid': 'client' } });
  const dropped: unknown[] = [];
  const documents = Array.from({ length: 300 }, (_, i) => ({
    '@timestamp': new Date().toISOString(),
    message: `line ${String(i).padStart(3, '0')}`,
    service: { name: 'shop' },
    'log.level': 'warn',
    http: { status: 500 },
  }));
  const old = { '@timestamp': '2001-01-01T00:00:00Z', message: 'old' };
  const { successful, failed, total } = await client.helpers.bulk({
    datasource: [...documents, old],
    onDocument: () => ({ create: { _index: 'logs-2026.11.21' } }),
    onDrop: ({ status, error }) => dropped.push([status, error?.type, error?.reason]),
  });
  await client.close();
  expect({ total, successful, failed }).toEqual({ total: 301, successful: 300, failed: 1 });
  expect(dropped).toEqual([
    [400, 'illegal_argument_exception', expect.stringContaining('has timestamp too old')],
  ]);
  const stored = await linesOf('client', '{index="logs", service_name="shop"}');
  expect(stored.map(({ line }) => line)).toEqual(documents.map(({ message }) => message));
  expect(stored[0].labels).toEqual({
    index: 'logs',
    service_name: 'shop',
    level: 'warn',
    detected_level: 'warn',
    http_status: '500',
  });
});

test('the official client finds the server and its version by HEAD', async () => {
  const client = new Client({ node: `${store.url}/elasticsearch`, headers: { 'x-scope-orgid': 'client' } });
  expect(await client.ping()).toBe(true);
  expect((await client.info()).version.number).toMatch(/^8\./);
  await client.close();
  for (const path of ['/elasticsearch', '/elasticsearch/']) {
    const [head, get] = [
      await store.client.send({ method: 'HEAD', path }),
      await store.client.send({ path }),
    ];
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    expect(head.headers['x-elastic-product']).toBe('Elasticsearch');
    expect(head.headers['content-length']).toBe(String(get.bytes.length));
  }
  expect((await store.client.send({ method: 'HEAD', path: '/elasticsearch/_license' })).status).toBe(405);
});

test('each item has its own answer', async () => {
  const body = [
    '{"index":{"_id":"7"}}',
    '{"message":"a"}',
    '{"create":{"_index":"b"}}',
    'no json',
    '{"update":{"_index":"b","_id":"1"}}',
    '{"doc":{}}',
    '{"delete":{"_index":"b","_id":"1"}}',
    '{"create":{"_index":"b"}}',
    '{"message":"b"}',
  ].join('\n');
  const answer = await bulk('items', gzipSync(body), {
    path: '/a/_bulk',
    headers: { 'content-encoding': 'gzip' },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers['x-elastic-product']).toBe('Elasticsearch');
  const error = (type: string) => ({ status: 400, error: { type, reason: expect.any(String) } });
  expect(answer.json()).toMatchObject({
    took: expect.any(Number),
    errors: true,
    items: [
      { index: { _index: 'a', _id: '7', status: 201, result: 'created' } },
      { create: { _index: 'b', ...error('document_parsing_exception') } },
      { update: { _index: 'b', _id: '1', ...error('illegal_argument_exception') } },
      { delete: { _index: 'b', _id: '1', ...error('illegal_argument_exception') } },
      { create: { _index: 'b', status: 201 } },
    ],
  });
  expect((await linesOf('items', '{index=~".+"}')).map(({ line }) => line)).toEqual(['a', 'b']);
  const none = await bulk('items', '{"delete":{"_index":"b","_id":"1"}}\n', {
    path: '/_bulk?filter_path=errors,items.*.error',
  });
  expect(none.json()).toMatchObject({ errors: true, items: [{ delete: { status: 400 } }] });
});

describe('a request that is wrong as a whole', () => {
  test.each([
    ['no tenant', undefined, '{}', 401, 'security_exception', 'no org id'],
    ['nothing', 't', '', 400, 'illegal_argument_exception', 'request body is required'],
    [
      'no action',
      't',
      '{"message":"m"}\n{}',
      400,
      'illegal_argument_exception',
      'Malformed action/metadata line [1]',
    ],
    [
      'no document',
      't',
      '{"create":{"_index":"a"}}',
      400,
      'illegal_argument_exception',
      'Malformed action/metadata line [1]',
    ],
    ['no index', 't', '{"create":{}}\n{}', 400, 'illegal_argument_exception', 'index is missing'],
  ])('%s', async (...[, tenant, body, status, type, reason]) => {
    const answer = await bulk(tenant, body);
    expect(answer.status).toBe(status);
    expect(answer.headers['x-elastic-product']).toBe('Elasticsearch');
    expect(answer.json()).toMatchObject({ status, error: { type, reason: expect.stringContaining(reason) } });
  });
});

test.each([
  '/elasticsearch',
  '/elasticsearch/',
  '/elasticsearch/_license',
  '/elasticsearch/_cluster/health',
  '/elasticsearch/_xpack',
  '/elasticsearch/_ilm/policy/filebeat',
  '/elasticsearch/_index_template/filebeat-8.19.0',
])('agents may request %s before they send logs', async path => {
  const answer = await store.client.send({ path });
  expect([answer.status, answer.headers['x-elastic-product']]).toEqual([200, 'Elasticsearch']);
  expect(answer.json()).toEqual(expect.any(Object));
});

describe('a push beyond a rate', () => {
  let throttled: TestStore;
  beforeAll(async () => {
    throttled = await startStore(
      'auth_enabled: false\nlimits_config: {ingestion_rate_mb: 0.01, ingestion_burst_size_mb: 0.01, per_stream_rate_limit: 1KB, per_stream_rate_limit_burst: 1KB}',
    );
  });
  afterAll(() => throttled.stop());

  const push = (...documents: object[]) =>
    throttled.client.send({
      method: 'POST',
      path: '/_bulk',
      headers: { 'content-type': 'application/x-ndjson' },
      body: documents.map(one => `{"create":{"_index":"web"}}\n${JSON.stringify(one)}\n`).join(''),
    });
  const failure = {
    type: 'es_rejected_execution_exception',
    reason: expect.stringMatching(/rate limit exceeded/),
  };

  test('is answered 429 if the whole of it is refused, because some agents ignore the status of items', async () => {
    const { status, headers, text } = await push({ message: 'x'.repeat(20_000) });
    expect({ status, body: JSON.parse(text) }).toEqual({
      status: 429,
      body: { status: 429, error: { ...failure, root_cause: [failure] } },
    });
    expect(headers['x-elastic-product']).toBe('Elasticsearch');
  });

  test('is answered for each item if only one stream is refused', async () => {
    const service = (name: string, message: string) => ({ service: { name }, message });
    const { status, text } = await push(service('a', 'x'.repeat(2000)), service('b', 'short'));
    const { errors, items } = JSON.parse(text);
    expect([status, errors]).toEqual([200, true]);
    expect(items).toMatchObject([
      { create: { status: 429, error: { type: failure.type } } },
      { create: { status: 201 } },
    ]);
  });
});
