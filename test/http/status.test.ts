/**
 * Status endpoints: configuration, log level, services, and those of older clients (docs/dev/wire-format.md#administration, #older-clients).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { parse as parseYaml } from 'yaml';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { Services } from '../../shared/server/admin/services.ts';
import { Shutdown } from '../../shared/server/admin/shutdown.ts';
import { shutDown } from '../../shared/server/http/handlers/shutdown.ts';
import { Members } from '../../shared/storage/catalog/members.ts';
import { HEARTBEAT_MS, Membership } from '../../shared/storage/catalog/membership.ts';
import { START_MS, type TestProcess, testStores } from '../maintenance/store.ts';
import { manualClock } from '../support/manual-clock.ts';
import { request } from './request.ts';

const ACME = { 'x-scope-orgid': 'acme' };
let process: TestProcess;
function start(config: Partial<Config> = {}): void {
  process = testStores({}, config).process(1);
}
beforeEach(() => start());

async function ask(method: string, path: string, headers: Record<string, string> = {}, body = '') {
  const [onlyPath, rawQuery = ''] = path.split('?');
  const answer = await process.ask(method, onlyPath, { rawQuery, headers, body: Buffer.from(body) });
  return { ...answer, text: Buffer.from(answer.body).toString() };
}

describe('/config', () => {
  const HEADERS = ['x-svc-config-query', 'x-loki-config-query'];
  const JSON_WANTED = { accept: 'application/json' };

  test('returns YAML, or JSON on request, without a tenant', async () => {
    const yaml = await ask('GET', '/config');
    expect([yaml.status, yaml.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    const json = await ask('GET', '/config', JSON_WANTED);
    expect(json.headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(json.text)).toEqual(parseYaml(yaml.text));
    expect(JSON.parse(json.text).server.http_listen_port).toBe(3100);
    for (const name of HEADERS) expect(yaml.headers).not.toHaveProperty(name);
  });

  test('returns differences, and defaults', async () => {
    start({ limits: { ...DEFAULT_CONFIG.limits, maxQuerySeries: 7 } });
    const { limits_config } = parseYaml((await ask('GET', '/config?mode=diff')).text);
    expect(limits_config).toEqual({ max_query_series: 7 });
    const defaults = parseYaml((await ask('GET', '/config?mode=defaults')).text);
    expect(defaults.limits_config.max_query_series).toBe(500);
    const other = parseYaml((await ask('GET', '/config?mode=whatever')).text);
    expect(other.limits_config.max_query_series).toBe(7);
  });

  test('never contains secrets', async () => {
    const ruler = parseConfig('ruler: {alertmanager_client: {credentials: hunter2}}', {
      name: 'f',
      environment: {},
    });
    start({ ruler: ruler.config.ruler });
    for (const query of ['', '?mode=diff', '?q=ruler', '?q=ruler.alertmanager_client.credentials']) {
      for (const headers of [{}, JSON_WANTED]) {
        const { status, text } = await ask('GET', `/config${query}`, headers);
        expect([status, text.includes('hunter2'), text.includes('<secret>')]).toEqual([200, false, true]);
      }
    }
  });

  test('merges the paths of q into one tree and echoes each of them', async () => {
    const q = 'q=server.http_listen_port&q=server.log_level&q=auth_enabled&q=limits_config.otlp_config';
    const { status, text, headers } = await ask('GET', `/config?${q}`, JSON_WANTED);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      server: { http_listen_port: 3100, log_level: 'info' },
      auth_enabled: true,
      limits_config: { otlp_config: expect.any(Object) },
    });
    for (const name of HEADERS) {
      expect(headers[name]).toBe(
        'server.http_listen_port, server.log_level, auth_enabled, limits_config.otlp_config',
      );
    }
  });

  test('returns a whole section together with one of its values', async () => {
    const { text } = await ask(
      'GET',
      '/config?q=querier&q=querier.multi_tenant_queries_enabled',
      JSON_WANTED,
    );
    expect(JSON.parse(text).querier).toHaveProperty('multi_tenant_queries_enabled');
  });

  test('echoes a known path without a value', async () => {
    const { status, text, headers } = await ask('GET', '/config?mode=diff&q=server.log_level', JSON_WANTED);
    expect([status, JSON.parse(text)]).toEqual([200, {}]);
    expect(headers[HEADERS[0]]).toBe('server.log_level');
  });

  test.each(['nothing', 'server.nothing', 'server.log_level.more', '__proto__', 'server.constructor'])(
    'refuses an unknown path: %s',
    async path => {
      const { status, headers } = await ask('GET', `/config?q=${path}`);
      expect(status).toBe(400);
      for (const name of HEADERS) expect(headers[name]).toBe(path);
    },
  );

  test.each([
    ['', 'malformed'],
    ['a..b', 'malformed'],
    ['.a', 'malformed'],
    ['a-b', 'malformed'],
    ['a%0d%0ab', 'malformed'],
    ['x'.repeat(513), 'longer than 512'],
  ])('refuses an invalid path: %p', async (path, message) => {
    const { status, headers, text } = await ask('GET', `/config?q=server&q=${path}`);
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
    for (const name of HEADERS) expect(headers).not.toHaveProperty(name);
  });

  test('accepts at most 20 paths of 512 characters', async () => {
    const known = Array.from({ length: 20 }, () => 'q=server.log_level').join('&');
    expect((await ask('GET', `/config?${known}`)).status).toBe(200);
    const many = await ask('GET', `/config?${known}&q=server`);
    expect([many.status, many.headers[HEADERS[0]]]).toEqual([400, undefined]);
    const long = await ask('GET', `/config?q=${'x'.repeat(512)}`);
    expect([long.status, long.headers[HEADERS[0]]]).toEqual([400, 'x'.repeat(512)]);
  });

  test('shows the limits of a tenant', async () => {
    expect((await ask('GET', '/config/tenant/v1/limits')).status).toBe(401);
    const { text } = await ask('GET', '/config/tenant/v1/limits', ACME);
    expect(parseYaml(text)).toMatchObject({ max_query_series: 500, retention_period: '0s' });
  });
});

describe('/log_level', () => {
  test('can be read and set', async () => {
    const shown = await ask('GET', '/log_level');
    expect([shown.status, shown.text]).toEqual([200, '{"message":"Current log level is info"}']);
    const set = await ask('POST', '/log_level?log_level=debug');
    expect([set.status, set.text]).toEqual([200, '{"status":"success","message":"Log level set to debug"}']);
    expect((await ask('GET', '/log_level')).text).toBe('{"message":"Current log level is debug"}');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('POST', '/log_level', form, 'log_level=warn')).status).toBe(200);
    expect((await ask('GET', '/log_level')).text).toBe('{"message":"Current log level is warn"}');
  });

  test.each(['x', 'DEBUG', '', 'fatal'])('refuses %p', async level => {
    const { status, text } = await ask('POST', `/log_level?log_level=${level}`);
    expect([status, JSON.parse(text)]).toEqual([
      400,
      { status: 'failed', message: `unrecognized log level "${level}"` },
    ]);
  });
});

describe('services', () => {
  test('start in order, stop in reverse order, and report their state', async () => {
    const seen: string[] = [];
    const of = (name: string) => ({
      name,
      start: async () => void seen.push(`+${name}`),
      stop: async () => void seen.push(`-${name}`),
    });
    const services = new Services([of('store'), of('querier'), { name: 'server' }]);
    expect(services.notReady()).toBe('Some services are not Running:\nNew: 3');
    await services.start();
    expect([...services.list()]).toEqual([
      ['store', 'Running'],
      ['querier', 'Running'],
      ['server', 'Running'],
    ]);
    expect(services.notReady()).toBeUndefined();
    const stopping = services.stop();
    expect([...services.list().values()]).toEqual(['Stopping', 'Stopping', 'Stopping']);
    expect(services.notReady()).toBe('Application is stopping');
    await stopping;
    expect([...services.list().values()]).toEqual(['Terminated', 'Terminated', 'Terminated']);
    expect(seen).toEqual(['+store', '+querier', '-querier', '-store']);
  });

  test('a service that fails prevents later ones from starting', async () => {
    const broken = { name: 'b', start: () => Promise.reject(new Error('no')) };
    const services = new Services([{ name: 'a' }, broken, { name: 'c' }]);
    await expect(services.start()).rejects.toThrow('no');
    expect(Object.fromEntries(services.list())).toEqual({ a: 'Running', b: 'Failed', c: 'New' });
    expect(services.notReady()).toBe('Some services are not Running:\nNew: 1\nFailed: 1');
    await services.stop();
    expect(Object.fromEntries(services.list())).toEqual({ a: 'Terminated', b: 'Failed', c: 'New' });
  });

  test('a service that cannot stop becomes failed, while the others stop', async () => {
    const broken = { name: 'b', stop: () => Promise.reject(new Error('stuck')) };
    const services = new Services([{ name: 'a' }, broken]);
    await services.start();
    await expect(services.stop()).rejects.toThrow('stuck');
    expect(Object.fromEntries(services.list())).toEqual({ a: 'Terminated', b: 'Failed' });
  });
});

describe('endpoints of older clients', () => {
  const NS = `${START_MS - 1000}000000`;

  beforeEach(async () => {
    const lines = ['status=200 ok', 'status=500 bad'].map((line, i) => [`${BigInt(NS) + BigInt(i)}`, line]);
    const body = JSON.stringify({ streams: [{ stream: { app: 'x' }, values: lines }] });
    const type = { ...ACME, 'content-type': 'application/json' };
    expect((await ask('POST', '/loki/api/v1/push', type, body)).status).toBe(204);
  });

  test.each(['/api/prom/query', '/api/compat/query'])('%s', async path => {
    const query = encodeURIComponent('{app="x"} | drop detected_level');
    const { status, text } = await ask('GET', `${path}?query=${query}&direction=forward`, ACME);
    expect(status).toBe(200);
    const time = new Date(START_MS - 1000).toISOString().replace(/\.?0*Z$/, '');
    expect(JSON.parse(text)).toEqual({
      streams: [
        {
          labels: '{app="x", service_name="x"}',
          entries: [
            { ts: `${time}Z`, line: 'status=200 ok' },
            { ts: `${time}.000000001Z`, line: 'status=500 bad' },
          ],
        },
      ],
      stats: expect.any(Object),
    });
    const filtered = await ask('GET', `${path}?query=${query}&regexp=${encodeURIComponent('=5\\d+')}`, ACME);
    expect(JSON.parse(filtered.text).streams[0].entries).toHaveLength(1);
    const metric = await ask('GET', `${path}?query=${encodeURIComponent('rate({app="x"}[1m])')}`, ACME);
    expect([metric.status, metric.text]).toEqual([400, 'legacy endpoints only support streams result type']);
  });

  test('labels, values and series', async () => {
    const labels = JSON.parse((await ask('GET', '/api/prom/label', ACME)).text);
    expect(labels).toEqual({
      status: 'success',
      data: ['app', 'service_name'],
      values: ['app', 'service_name'],
    });
    const values = JSON.parse((await ask('GET', '/api/compat/label/app/values', ACME)).text);
    expect(values).toEqual({ status: 'success', data: ['x'], values: ['x'] });
    const none = JSON.parse((await ask('GET', '/api/compat/label/none/values', ACME)).text);
    expect(none.values).toEqual([]);
    const series = JSON.parse((await ask('GET', '/api/prom/series?match[]={app="x"}', ACME)).text);
    expect(series.data).toEqual([{ app: 'x', service_name: 'x' }]);
  });
});

describe('rings', () => {
  const member = (id: string, components: string[], heartbeatMs: number) => ({
    id,
    state: 'ACTIVE' as const,
    address: '10.0.0.1:3100',
    zone: 'a',
    components,
    registeredMs: START_MS - 7_200_000,
    heartbeatMs,
  });
  beforeEach(async () => {
    await process.catalog.members.put(member('one', ['ingester', 'distributor'], START_MS - 5000));
    await process.catalog.members.put(member('<two>', ['ingester', 'ruler'], START_MS - 61_000));
  });
  const JSON_WANTED = { accept: 'application/json' };

  test('return JSON: the members of the component, and their last heartbeat', async () => {
    const { text } = await ask('GET', '/ring', JSON_WANTED);
    const time = (ms: number) => new Date(ms).toISOString().replace('.000', '');
    const shown = {
      address: '10.0.0.1:3100',
      registered_timestamp: time(START_MS - 7_200_000),
      read_only: false,
      read_only_updated_timestamp: '0001-01-01T00:00:00Z',
      zone: 'a',
      tokens: [],
    };
    expect(JSON.parse(text)).toEqual({
      shards: [
        { id: '<two>', state: 'UNHEALTHY', timestamp: time(START_MS - 61_000), ...shown },
        { id: 'one', state: 'ACTIVE', timestamp: time(START_MS - 5000), ...shown },
      ],
      now: time(START_MS),
    });
    const ids = async (path: string) =>
      (JSON.parse((await ask('GET', path, JSON_WANTED)).text).shards as { id: string }[]).map(({ id }) => id);
    expect(await ids('/distributor/ring')).toEqual(['one']);
    expect(await ids('/ruler/ring')).toEqual(['<two>']);
    expect(await ids('/compactor/ring')).toEqual([]);
    expect(await ids('/indexgateway/ring')).toEqual([]);
  });

  test('return a page that shows names only as text', async () => {
    const { text, headers } = await ask('GET', '/ring');
    expect(headers['content-type']).toMatch(/^text\/html/);
    expect(text).toContain('<title>Ring Status</title>');
    expect(text).toContain('<td>one</td><td>a</td><td>ACTIVE</td><td>10.0.0.1:3100</td>');
    expect(text).toContain('5s ago');
    expect(text).not.toContain('<two>');
  });

  test('show a distributor with local rates', async () => {
    start({ limits: { ...DEFAULT_CONFIG.limits, ingestionRateStrategy: 'local' } });
    expect((await ask('GET', '/distributor/ring')).text).toContain('Not running with Global Rating Limit');
  });

  test('a ring without members is empty', async () => {
    const idsOf = async (path: string) => {
      const { text } = await ask('GET', path, JSON_WANTED);
      return (JSON.parse(text).shards as { id: string }[]).map(({ id }) => id);
    };
    await process.catalog.members.put(member('front', ['query-frontend'], START_MS));
    expect(await idsOf('/scheduler/ring')).toEqual(['front']);
    expect(await idsOf('/partition-ring')).toEqual([]);
    expect(await idsOf('/memberlist')).toEqual(['<two>', 'front', 'one']);
    expect((await ask('GET', '/ruler/ring')).text).toContain('Ruler running with shards disabled');
    start({ patternIngester: { ...DEFAULT_CONFIG.patternIngester, enabled: true } });
    await process.catalog.members.put(member('one', ['ingester'], START_MS));
    expect(await idsOf('/pattern/ring')).toEqual(['one']);
    start({ patternIngester: { ...DEFAULT_CONFIG.patternIngester, enabled: false } });
    await process.catalog.members.put(member('one', ['ingester'], START_MS));
    expect(await idsOf('/pattern/ring')).toEqual([]);
    expect((await ask('GET', '/pattern/ring')).text).toContain('pattern_ingester.enabled is false');
  });

  test('have no partitions to scale down', async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'PUT']) {
      const { status, text } = await ask(method, '/ingester/prepare_partition_downscale');
      expect([method, status, text]).toEqual([method, 405, '']);
    }
  });

  test.each([
    ['GET', '/ingester/flush_shutdown', 404, '404 page not found\n'],
    ['GET', '/nothing/here', 404, '404 page not found\n'],
    ['DELETE', '/memberlist', 405, ''],
    ['PUT', '/ring', 405, ''],
    ['POST', '/ready', 405, ''],
    ['DELETE', '/ingester/shutdown', 405, ''],
  ])('%s %s returns %d', async (method, path, expected, body) => {
    const { status, text } = await ask(method, path);
    expect([status, text]).toEqual([expected, body]);
  });

  test('forget a member', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, headers } = await ask('POST', '/ring', form, 'forget=one');
    expect([status, headers.location]).toEqual([302, '#']);
    expect((await process.catalog.members.list()).map(({ id }) => id)).toEqual(['<two>']);
  });

  test('show that a process joins, sends heartbeats, leaves, and does not return', async () => {
    const clock = manualClock(START_MS);
    const members = new Members({ table: memoryTable({ clock }) });
    const self = { id: 'me', address: 'here', zone: '', components: ['querier'] };
    const membership = new Membership({ members, clock, self, log: { warn: () => {} } });
    const stop = new AbortController();
    await membership.join();
    const beating = membership.keepAlive(stop.signal);
    clock.advance(HEARTBEAT_MS);
    await nextTurn();
    expect(await members.list()).toEqual([
      { ...self, state: 'ACTIVE', registeredMs: START_MS, heartbeatMs: START_MS + HEARTBEAT_MS },
    ]);
    await membership.leaving();
    expect((await members.list())[0].state).toBe('LEAVING');
    await membership.left();
    clock.advance(HEARTBEAT_MS);
    await nextTurn();
    expect(await members.list()).toEqual([]);
    stop.abort();
    await beating;
  });
});

describe('shutdown of processes that accept pushes', () => {
  test('is prepared for this process and the next one of its name', async () => {
    const shown = async () => (await ask('GET', '/ingester/prepare_shutdown')).text;
    expect(await shown()).toBe('unset');
    expect((await ask('POST', '/ingester/prepare_shutdown')).status).toBe(204);
    expect((await ask('POST', '/ingester/prepare_shutdown')).status).toBe(204);
    expect(await shown()).toBe('set');
    expect((await ask('DELETE', '/ingester/prepare_shutdown')).status).toBe(204);
    expect(await shown()).toBe('unset');
  });

  test.each([
    ['', { flushed: true, terminated: true }],
    ['?flush=false', { flushed: false, terminated: true }],
    ['?terminate=F', { flushed: true, terminated: false }],
    ['?flush=0&terminate=nonsense&delete_ring_tokens=true', { flushed: false, terminated: true }],
  ])('%s', async (query, expected) => {
    const seen: string[] = [];
    const shutdown = new Shutdown({
      states: process.catalog.states,
      instance: 'me',
      flush: async () => void seen.push('flush'),
      leave: async () => void seen.push('leave'),
      terminate: () => void seen.push('terminate'),
    });
    const context = { ...process.context, shutdown };
    const rawQuery = query.slice(1);
    const call = () => shutDown(context, { ...request({ method: 'POST', rawQuery }), pathParams: {} });
    expect((await call()).status).toBe(204);
    const done = { flushed: seen.includes('flush'), terminated: seen.at(-1) === 'terminate' };
    expect(done).toEqual(expected);
    expect(() => shutdown.refusePushes()).toThrow('Ingester is stopping or already stopped.');
    await expect(call()).rejects.toMatchObject({ status: 503 });
  });

  test('refuses later pushes and answers queries', async () => {
    expect((await ask('POST', '/ingester/shutdown?terminate=false')).status).toBe(204);
    expect(process.kicked).toContain('compaction');
    const type = { ...ACME, 'content-type': 'application/json' };
    const push = await ask('POST', '/loki/api/v1/push', type, '{"streams":[]}');
    expect([push.status, push.text]).toEqual([503, 'Ingester is stopping or already stopped.\n']);
    const again = await ask('GET', '/ingester/shutdown');
    expect([again.status, again.text]).toEqual([503, 'Ingester is stopping or already stopped.\n']);
    expect((await ask('GET', '/loki/api/v1/labels', ACME)).status).toBe(200);
  });
});
