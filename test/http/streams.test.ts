/**
 * Labels, label values and series over HTTP: labels that other stores add themselves, and several tenants.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { START_MS, type TestProcess, testStores } from '../maintenance/store.ts';

const FROM = START_MS / 1000 - 3600;
let store: TestProcess;

beforeEach(() => {
  const limits = { ...DEFAULT_CONFIG.limits, discoverLogLevels: false, discoverServiceName: [] };
  const querier = { ...DEFAULT_CONFIG.querier, multiTenantQueriesEnabled: true };
  store = testStores({}, { limits, querier }).process(1);
});

async function push(stream: Record<string, string>, tenant = 'acme'): Promise<void> {
  const { status } = await store.ask('POST', '/loki/api/v1/push', {
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    body: Buffer.from(JSON.stringify({ streams: [{ stream, values: [[`${FROM}000000000`, 'line']] }] })),
  });
  expect(status).toBe(204);
}

async function read(path: string, params: Record<string, string> = {}, tenant = 'acme') {
  const rawQuery = new URLSearchParams({ start: `${FROM - 60}`, end: `${FROM + 60}`, ...params }).toString();
  const headers = { 'x-scope-orgid': tenant };
  const { status, body } = await store.ask('GET', `/loki/api/v1/${path}`, { headers, rawQuery });
  expect([status, status === 200 ? '' : Buffer.from(body).toString()]).toEqual([200, '']);
  return JSON.parse(Buffer.from(body).toString());
}

describe.each(['__stream_shard__', '__aggregated_metric__', '__pattern__'])('a pushed label %s', name => {
  beforeEach(async () => {
    for (const value of ['0', '1', 'x']) await push({ app: 'a', [name]: value });
  });

  test('is an ordinary label in names, values, series, detected labels and entries', async () => {
    expect((await read('labels')).data).toEqual([name, 'app']);
    expect((await read('labels', { query: `{${name}="1"}` })).data).toEqual([name, 'app']);
    expect((await read(`label/${name}/values`)).data).toEqual(['0', '1', 'x']);
    const { data } = await read('series', { 'match[]': '{app="a"}' });
    expect(data).toEqual(['0', '1', 'x'].map(value => ({ [name]: value, app: 'a' })));
    expect((await read('series', { 'match[]': `{${name}=~"0|1"}` })).data).toHaveLength(2);
    const { detectedLabels } = await read('detected_labels', { query: '{app="a"}' });
    expect(detectedLabels).toEqual([
      { label: name, cardinality: 3 },
      { label: 'app', cardinality: 1 },
    ]);
    const { result } = (await read('query_range', { query: `{${name}="1"}` })).data;
    expect(result.map(({ stream }: { stream: object }) => stream)).toEqual([{ app: 'a', [name]: '1' }]);
  });

  test('creates no duplicate label sets', async () => {
    const asked: Record<string, string>[] = [
      {},
      { 'match[]': '{app="a"}' },
      { match: `{app=~".+", ${name}!="7"}` },
    ];
    for (const params of asked) {
      const { data } = await read('series', params);
      const sets = data.map((labels: object) => JSON.stringify(labels));
      expect(new Set(sets).size).toBe(sets.length);
    }
  });
});

describe('an empty tenant next to another', () => {
  beforeEach(() => push({ app: 'a' }, 'acme'));

  test.each(['acme|', '|acme', 'acme||acme'])('%s counts as one without data', async tenant => {
    expect((await read('labels', {}, tenant)).data).toEqual(['__tenant_id__', 'app']);
    expect((await read('label/__tenant_id__/values', {}, tenant)).data).toEqual(['', 'acme']);
    expect((await read('label/app/values', {}, tenant)).data).toEqual(['a']);
    expect((await read('series', {}, tenant)).data).toEqual([{ __tenant_id__: 'acme', app: 'a' }]);
    const { result } = (await read('query_range', { query: '{app="a"}' }, tenant)).data;
    expect(result).toMatchObject([{ stream: { __tenant_id__: 'acme', app: 'a' } }]);
    const metric = { query: 'count_over_time({app="a"}[1h])', time: `${FROM + 60}` };
    const instant = (await read('query', metric, tenant)).data.result;
    expect(instant).toMatchObject([{ metric: { __tenant_id__: 'acme', app: 'a' } }]);
    expect(await read('index/stats', { query: '{app="a"}' }, tenant)).toMatchObject({
      entries: 1,
      streams: 1,
    });
  });

  test('adds no labels', async () => {
    expect((await read('labels', {}, 'nobody|')).data).toEqual(['__tenant_id__']);
    expect(await read('labels', {}, 'nobody')).toEqual({ status: 'success' });
  });

  test('is refused if only one tenant is allowed', async () => {
    const { status, body } = await store.ask('POST', '/loki/api/v1/push', {
      headers: { 'content-type': 'application/json', 'x-scope-orgid': 'acme|' },
      body: Buffer.from('{"streams":[]}'),
    });
    expect([status, Buffer.from(body).toString()]).toEqual([400, 'multiple org IDs present\n']);
  });
});
