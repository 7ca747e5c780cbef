/**
 * The synthesized assets at work: each function's bundle as a process behind the Lambda runtime API, with the environment of
 * the template, behind gateways that read their routes from it, and every call to AWS held against the role's policy.
 *
 * A course through the whole store, in one order, because each step finds what the one before has left. `LOGBOOM_ASSEMBLIES`
 * names a folder with a cloud assembly for each variant instead of one that is made for it.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { logboom } from '../bin/run-command.ts';
import { type ClientAnswer, createClient, type HttpClient } from '../end-to-end/support/client.ts';
import { JSON_TYPE, jsonPush, type PushedEntry } from '../end-to-end/support/push.ts';
import { Cloud } from './cloud/cloud.ts';
import { connectTail } from './cloud/tail-client.ts';
import { type VARIANTS, writeAll } from './cloud/variants.ts';

const EMULATOR = process.env.LOGBOOM_TEST_MINISTACK;
const SYNTH_TIMEOUT_MS = 240_000;
const TENANT = 'assembled';
/** An hour ago: its windows are closed, so that compaction merges these pushes. */
const T0 = (BigInt(Date.now()) - 3_600_000n) * NS_PER_MS;
const RANGE = { start: `${T0}`, end: `${T0 + 60_000n * NS_PER_MS}` };

let folder: string;
let made: string | undefined;
let cloud: Cloud;
let client: HttpClient;

beforeAll(async () => {
  if (EMULATOR === undefined) throw new Error('run me with: npm run test:aws -- assembly');
  folder = process.env.LOGBOOM_ASSEMBLIES ?? '';
  if (folder !== '') return;
  made = folder = await mkdtemp(join(tmpdir(), 'logboom-assembly-'));
  await writeAll(folder);
}, SYNTH_TIMEOUT_MS);
afterAll(async () => {
  if (made !== undefined) await rm(made, { recursive: true });
});

async function start(variant: keyof typeof VARIANTS): Promise<void> {
  cloud = await Cloud.start({ folder: join(folder, variant), emulator: String(EMULATOR) });
  client = createClient(cloud.http.url);
}

async function stop(): Promise<void> {
  client?.close();
  await cloud?.close();
}

function ask(path: string, query: Record<string, string> = {}, tenant = TENANT): Promise<ClientAnswer> {
  return client.send({ path, query, headers: { 'x-scope-orgid': tenant } });
}

async function push(app: string, entries: readonly PushedEntry[], tenant = TENANT): Promise<void> {
  const answer = await client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': tenant },
    body: jsonPush([{ labels: { app }, entries }]),
  });
  expect([answer.status, answer.text]).toEqual([204, '']);
}

interface Streams {
  readonly data: { readonly result: readonly { readonly values: readonly (readonly [string, string])[] }[] };
}

async function linesOf(query: string, range = RANGE): Promise<string[]> {
  const answer = await ask('/loki/api/v1/query_range', { query, limit: '5000', ...range });
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
  const { data } = answer.json() as Streams;
  return data.result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
}

const entriesOf = (count: number, text: (i: number) => string): PushedEntry[] =>
  Array.from({ length: count }, (_, i) => ({ ns: T0 + BigInt(i) * NS_PER_MS, line: text(i) }));

describe('without authentication', () => {
  beforeAll(() => start('open'));
  afterAll(stop);

  describe('pushes and questions', () => {
    test('the query function finds pushed entries', async () => {
      await push(
        'small',
        entriesOf(10, i => `small ${i}`),
      );
      expect(await linesOf('{app="small"}')).toEqual(
        entriesOf(10, i => `small ${i}`).map(({ line }) => line),
      );
    });

    test('a push of several MB becomes an object in the bucket, and one over the limit of the platform is refused', async () => {
      const line = (i: number) => `${i} ${randomUUID().repeat(20)}`;
      const entries = entriesOf(4_000, line);
      await push('large', entries);
      expect(await linesOf('{app="large"} |= "17 "')).not.toHaveLength(0);
      const body = Buffer.alloc(7_000_000, 'x');
      const headers = { 'content-type': JSON_TYPE, 'x-scope-orgid': TENANT };
      const answer = await client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
      expect(answer.status).toBe(413);
    });

    test('OTLP arrives through its own path', async () => {
      const record = { timeUnixNano: `${T0}`, body: { stringValue: 'from a collector' } };
      const attribute = { key: 'service.name', value: { stringValue: 'collected' } };
      const answer = await client.send({
        method: 'POST',
        path: '/otlp/v1/logs',
        headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': TENANT },
        body: JSON.stringify({
          resourceLogs: [{ resource: { attributes: [attribute] }, scopeLogs: [{ logRecords: [record] }] }],
        }),
      });
      expect([answer.status, answer.status < 300 ? '' : answer.text]).toEqual([answer.status, '']);
      expect(await linesOf('{service_name="collected"}')).toEqual(['from a collector']);
    });

    test('a response over 6 MB is refused with a hint', async () => {
      const answer = await client.send({
        path: '/loki/api/v1/query_range',
        query: { query: '{app="large"}', limit: '5000', ...RANGE },
        headers: { 'x-scope-orgid': TENANT, 'accept-encoding': 'identity' },
      });
      const entries = (await ask('/loki/api/v1/query_range', { query: '{app="small"}', ...RANGE })).status;
      expect(entries).toBe(200);
      if (answer.status === 200) expect(answer.bytes.length).toBeLessThan(6 * 1024 * 1024);
      else expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('too large')]);
    });

    test('answers labels, statistics and status, and refuses unknown paths and queries', async () => {
      const { data } = (await ask('/loki/api/v1/label/app/values', RANGE)).json() as { data: string[] };
      expect(data).toEqual(expect.arrayContaining(['large', 'small']));
      const stats = (await ask('/loki/api/v1/index/stats', { query: '{app="small"}', ...RANGE })).json();
      expect(stats).toMatchObject({ entries: 10 });
      expect((await ask('/ready')).status).toBe(200);
      expect((await ask('/nowhere')).status).toBe(404);
      expect((await ask('/loki/api/v1/query', { query: '{' })).status).toBe(400);
    });

    test('a query that spans much is spread over the worker function', async () => {
      const line = (i: number) => `${i} ${'abcdefgh '.repeat(90)}${i % 7 === 0 ? 'hit' : ''}`;
      for (let part = 0; part < 5; part++) await push(`spread-${part}`, entriesOf(4_500, line));
      const worker = cloud.function('worker');
      const before = worker.invocations;
      const query = {
        query: 'sum(count_over_time({app=~"spread-.*"} |~ "h[i]t$" [5m]))',
        time: `${T0 + 240_000n * NS_PER_MS}`,
      };
      const answer = (await ask('/loki/api/v1/query', query)).json();
      expect(answer).toMatchObject({ data: { result: [{ value: [expect.anything(), `${5 * 643}`] }] } });
      expect(worker.invocations).toBeGreaterThan(before);
    });
  });

  describe('live tails', () => {
    test('a push reaches a tail once, and a disconnected tail is removed', async () => {
      const tail = await connectTail(`${cloud.tail.url}/${cloud.tail.stage}`, {
        tenant: TENANT,
        query: '{app="tailed"} |= "shown"',
      });
      const nowNs = BigInt(Date.now()) * NS_PER_MS;
      await push('tailed', [
        { ns: nowNs, line: 'shown 1' },
        { ns: nowNs + 1n, line: 'hidden' },
        { ns: nowNs + 2n, line: 'shown 2' },
      ]);
      expect(await tail.lines(2)).toEqual(['shown 1', 'shown 2']);
      expect(await cloud.tick('DueSchedules')).toMatchObject({
        result: { called: expect.arrayContaining(['compaction', 'tail-dispatch']) },
      });
      expect(tail.received).toEqual(['shown 1', 'shown 2']);
      await tail.close();
    });

    test('a tail that cannot be is refused', async () => {
      const url = `${cloud.tail.url}/${cloud.tail.stage}`;
      await expect(connectTail(url, { tenant: 'a|b', query: '{app="x"}' })).rejects.toThrow('400');
    });
  });

  describe('one address in front of everything', () => {
    test('serves requests, the page and the way to it', async () => {
      const front = createClient(cloud.cdn!.url);
      try {
        const headers = { 'x-scope-orgid': TENANT };
        const query = { query: '{app="small"} |= "7"', ...RANGE };
        const answer = await front.send({ path: '/loki/api/v1/query_range', query, headers });
        expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('small 7')]);
        const page = await front.send({ path: '/ui/' });
        expect([page.status, page.headers['content-type']]).toEqual([
          200,
          expect.stringContaining('text/html'),
        ]);
        const browser = await front.send({ path: '/', headers: { accept: 'text/html,*/*' } });
        expect([browser.status, browser.headers.location]).toEqual([302, '/ui/']);
        expect((await front.send({ path: '/' })).status).not.toBe(302);
      } finally {
        front.close();
      }
    });

    test.each(['/loki/api/v1/tail', '/svc/api/v1/tail', '/api/prom/tail'])('a tail at %s', async path => {
      const tail = await connectTail(`${cloud.cdn!.url.replace('http:', 'ws:')}${path}`, {
        tenant: TENANT,
        query: `{app="fronted"} |= "${path}"`,
      });
      await push('fronted', [{ ns: BigInt(Date.now()) * NS_PER_MS, line: `through ${path}` }]);
      expect(await tail.lines(1)).toEqual([`through ${path}`]);
      await tail.close();
    });

    test('the canary does its round through it', async () => {
      expect(await cloud.tick('Canary')).toHaveProperty('result');
      expect(cloud.function('WatchCanary').lines.join('\n')).not.toContain('"level":"error"');
    });
  });

  describe('scheduled work', () => {
    const JOBS = ['compaction', 'index-sync', 'collection', 'retention', 'deletion', 'rules'];

    test.each(JOBS)('the timer’s call of %s does its job', async job => {
      expect(await cloud.runJob(job)).toMatchObject({ result: { job, failures: [] } });
    });

    test('compaction merges without losing or repeating an entry', async () => {
      const count = { query: 'sum(count_over_time({app=~".+"}[10m]))', time: `${T0 + 500_000n * NS_PER_MS}` };
      const before = (await ask('/loki/api/v1/query', count)).json() as object;
      const { status } = await client.send({
        method: 'POST',
        path: '/flush',
        headers: { 'x-scope-orgid': TENANT },
      });
      expect([200, 204]).toContain(status);
      expect(await cloud.runJob('compaction')).toMatchObject({ result: { failures: [] } });
      expect((await ask('/loki/api/v1/query', count)).json()).toMatchObject({
        data: { result: (before as { data: { result: unknown } }).data.result },
      });
    });

    test('an alerting rule is kept, evaluated, and fires', async () => {
      const answer = await client.send({
        method: 'POST',
        path: '/loki/api/v1/rules/assembly',
        headers: { 'content-type': 'application/yaml', 'x-scope-orgid': TENANT },
        body: [
          'name: counted',
          'interval: 1m',
          'rules:',
          '  - alert: Always',
          '    expr: sum(count_over_time({app="small"}[24h])) > 0',
        ].join('\n'),
      });
      expect([answer.status, answer.text]).toEqual([202, expect.stringContaining('"success"')]);
      expect(await cloud.runJob('rules')).toMatchObject({ result: { failures: [] } });
      const alerts = (await ask('/prometheus/api/v1/alerts')).json();
      expect(alerts).toMatchObject({
        data: { alerts: [{ labels: { alertname: 'Always' }, state: 'firing' }] },
      });
    });

    test('a delete request hides entries immediately, and its schedule completes it', async () => {
      const { status, text } = await client.send({
        method: 'POST',
        path: '/loki/api/v1/delete',
        query: {
          query: '{app="small"} |= "small 3"',
          start: `${T0 / 1_000_000_000n}`,
          end: `${T0 / 1_000_000_000n + 60n}`,
        },
        headers: { 'x-scope-orgid': TENANT },
      });
      expect([status, text]).toEqual([204, '']);
      expect(await linesOf('{app="small"}')).not.toContain('small 3');
      expect(await linesOf('{app="small"}')).toHaveLength(9);
      expect(await cloud.runJob('deletion')).toMatchObject({ result: { failures: [] } });
    });
  });

  describe('roles of a deployment that is open', () => {
    test('no call to AWS was refused or unexpected', () => {
      expect({ missing: [...cloud.proxy.missing], unexpected: cloud.proxy.unexpected }).toEqual({
        missing: [],
        unexpected: [],
      });
    });

    test('every function stays within its memory, and a permission that this course did not use is reported', () => {
      const report: string[] = [];
      for (const [id, lambda] of cloud.functions) {
        const { memoryMb } = lambda.settings;
        const peakMb = Math.round(lambda.peakRssBytes / 1024 / 1024);
        const unused = cloud.roles.get(id)!.unused(['logs', 'xray', 'sqs', 'kms']);
        report.push(
          `${id}: ${lambda.invocations} invocations, ${peakMb} of ${memoryMb} MB, unused: ${unused.join(' ') || 'nothing'}`,
        );
        if (lambda.invocations > 0) expect([id, peakMb]).toEqual([id, expect.any(Number)]);
        expect(peakMb).toBeLessThan(memoryMb);
      }
      process.stderr.write(`${report.join('\n')}\n`);
    });
  });
});

describe('with tokens', () => {
  const TOKENS: Record<string, string> = {};
  beforeAll(async () => {
    await start('tokens');
    const { template } = cloud;
    const place = ['--storage', 's3', '--region', 'us-east-1', '--endpoint', String(EMULATOR)];
    const [bucket] = template.ofType('AWS::S3::Bucket').filter(({ id }) => id.startsWith('Chunks'));
    const [table] = template.ofType('AWS::DynamoDB::Table');
    place.push('--bucket', template.nameOf(bucket), '--table', template.nameOf(table));
    for (const [name, scope, tenant] of [
      ['agent', 'logs:write', TENANT],
      ['reader', 'logs:read', TENANT],
      ['stranger', 'logs:read', 'another'],
    ]) {
      const flags = ['--name', name, '--scope', scope, '--tenant', tenant, '--output', 'json'];
      const env = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
      const { code, stdout, stderr } = await logboom(['token', 'create', ...place, ...flags], { env });
      expect([code, stderr]).toEqual([0, expect.anything()]);
      TOKENS[name] = JSON.parse(stdout).token;
    }
  });
  afterAll(stop);

  const basic = (name: string, tenant = TENANT) => ({
    authorization: `Basic ${Buffer.from(`${tenant}:${TOKENS[name]}`).toString('base64')}`,
  });
  const pushAs = (headers: Record<string, string>) =>
    client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: { 'content-type': JSON_TYPE, ...headers },
      body: jsonPush([{ labels: { app: 'guarded' }, entries: entriesOf(3, i => `guarded ${i}`) }]),
    });
  const query = { query: '{app="guarded"}', ...RANGE };

  test('the first token is made by its function, once, and makes others by HTTP', async () => {
    const first = await cloud.function('FirstToken').invoke({});
    expect(first).toMatchObject({ result: { token: expect.stringMatching(/^lgbm_/) } });
    const { token } = (first as { result: { token: string } }).result;
    expect(await cloud.function('FirstToken').invoke({})).toMatchObject({
      result: { error: expect.stringContaining('cannot be shown again') },
    });
    const made = await client.send({
      method: 'POST',
      path: '/svc/api/v1/tokens',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: 'made', scopes: ['logs:write'], tenants: [TENANT] }),
    });
    expect([made.status, made.text]).toEqual([200, expect.stringContaining('lgbm_')]);
  });

  test('a token writes or reads for its tenant, and nothing else', async () => {
    expect((await pushAs(basic('agent'))).status).toBe(204);
    const path = '/loki/api/v1/query_range';
    const found = await client.send({ path, query, headers: basic('reader') });
    expect([found.status, found.text]).toEqual([200, expect.stringContaining('guarded 2')]);
    const bearer = { authorization: `Bearer ${TOKENS.reader}`, 'x-scope-orgid': TENANT };
    expect((await client.send({ path, query, headers: bearer })).status).toBe(200);
    const statuses = [
      await pushAs(basic('reader')),
      await client.send({ path, query, headers: basic('agent') }),
      await client.send({ path, query, headers: basic('stranger') }),
      await client.send({ path, query, headers: { ...basic('reader'), 'x-scope-orgid': 'another' } }),
      await client.send({ path, query, headers: { authorization: 'Bearer nonsense' } }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 403, 403, 403]);
    expect((await client.send({ path, query, headers: { 'x-scope-orgid': TENANT } })).status).toBe(401);
    expect((await client.send({ path: '/ready' })).status).toBe(200);
  });

  test('Firehose sends its token in a separate header', async () => {
    const data = Buffer.from('from a delivery stream').toString('base64');
    const send = (headers: Record<string, string>) =>
      client.send({
        method: 'POST',
        path: '/aws/firehose',
        headers: { 'content-type': JSON_TYPE, 'x-amz-firehose-request-id': 'r1', ...headers },
        body: JSON.stringify({ requestId: 'r1', timestamp: Date.now(), records: [{ data }] }),
      });
    const key = (name: string) => ({ 'x-amz-firehose-access-key': `${TENANT}:${TOKENS[name]}` });
    expect((await send(key('agent'))).status).toBe(200);
    expect((await send(key('reader'))).status).toBe(403);
    expect((await send({})).status).toBe(401);
  });

  test('a tail takes a token, or the ticket of one, once', async () => {
    const url = `${cloud.tail.url}/${cloud.tail.stage}`;
    const wanted = { tenant: TENANT, query: '{app="guarded"}' };
    await expect(connectTail(url, wanted)).rejects.toThrow('refused: 403');
    await expect(connectTail(url, { ...wanted, headers: basic('agent') })).rejects.toThrow('refused: 403');
    await (await connectTail(url, { ...wanted, headers: basic('reader') })).close();
    const given = await client.send({
      method: 'POST',
      path: '/svc/api/v1/auth/ticket',
      headers: basic('reader'),
    });
    expect([given.status, given.text]).toEqual([200, expect.stringContaining('ticket')]);
    const { ticket } = (given.json() as { data: { ticket: string } }).data;
    await (await connectTail(url, { ...wanted, ticket })).close();
    await expect(connectTail(url, { ...wanted, ticket })).rejects.toThrow('refused: 40');
  });

  test('no call to AWS was refused or unexpected', () => {
    expect([...cloud.proxy.missing, ...cloud.proxy.unexpected]).toEqual([]);
  });
});
