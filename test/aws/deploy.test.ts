/**
 * Deploys the stack with the command line of the CDK into an emulator, uses its endpoints, updates it with
 * stored data, and destroys it. The tests depend on each other and run in this order.
 *
 * For differences from an account, see docs/dev/aws-emulators.md.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda';
import { GetBucketVersioningCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createS3Client } from '../../shared/aws/clients.ts';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { connectTail } from '../assembly/cloud/tail-client.ts';
import type { ClientAnswer } from '../end-to-end/support/client.ts';
import { JSON_TYPE, jsonPush, type PushedEntry } from '../end-to-end/support/push.ts';
import { ENVIRONMENT, runCdk, writeAssemblies } from './deploy/cdk.ts';
import { DeployedStack } from './deploy/deployed.ts';
import { askEmulator, findInLists } from './deploy/emulator-api.ts';
import { fitToEmulator } from './deploy/emulator-fit.ts';
import { openObjectStore, S3_PLACES } from './support/places.ts';

const STACK = 'Deployed';
const TENANT = 'acme';
/** An hour ago: its windows are closed, so that compaction merges these pushes. */
const T0 = (BigInt(Date.now()) - 3_600_000n) * NS_PER_MS;
const RANGE = { start: `${T0}`, end: `${T0 + 60_000n * NS_PER_MS}` };
const COUNT_ALL = { query: 'sum(count_over_time({app=~".+"}[10m]))', time: `${T0 + 500_000n * NS_PER_MS}` };
const COMMON = { stackName: STACK, removal: 'destroy' };
const CONFIGS = join(import.meta.dirname, 'deploy', 'config');
const VARIANTS = {
  first: { ...COMMON, config: join(CONFIGS, 'first.yaml') },
  second: {
    ...COMMON,
    config: join(CONFIGS, 'second.yaml'),
    alarms: 'yes',
    dashboard: 'yes',
    versioning: 'yes',
    logRetentionDays: '7',
    concurrency: '1000',
  },
};

const [{ endpoint: emulator }] = S3_PLACES;
let folder: string;
let stack: DeployedStack;
let takenOut: string[];
let token: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-deploy-'));
  await writeAssemblies(folder, VARIANTS);
  takenOut = Object.keys(VARIANTS).flatMap(name => fitToEmulator(join(folder, name), STACK));
  await runCdk(emulator, ['bootstrap', ENVIRONMENT, '--app', join(folder, 'first')]);
  stack = await deploy('first');
}, 600_000);
afterAll(async () => {
  stack?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

async function deploy(name: keyof typeof VARIANTS): Promise<DeployedStack> {
  const outputs = join(folder, `${name}.json`);
  const app = ['--app', join(folder, name), '--require-approval', 'never'];
  await runCdk(emulator, ['deploy', ...app, '--outputs-file', outputs]);
  return DeployedStack.open(emulator, STACK, outputs);
}

const identity = () => ({ authorization: `Bearer ${token}`, 'x-scope-orgid': TENANT });

function ask(path: string, query: Record<string, string> = {}): Promise<ClientAnswer> {
  return stack.send({ path, query, headers: identity() });
}

function post(path: string, body: string, type = JSON_TYPE): Promise<ClientAnswer> {
  const headers = { 'content-type': type, ...identity() };
  return stack.send({ method: 'POST', path, headers, body });
}

async function push(app: string, entries: readonly PushedEntry[]): Promise<void> {
  const answer = await post('/loki/api/v1/push', jsonPush([{ labels: { app }, entries }]));
  expect([answer.status, answer.text]).toEqual([204, '']);
}

async function linesOf(query: string): Promise<string[]> {
  const answer = await ask('/loki/api/v1/query_range', { query, limit: '5000', ...RANGE });
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
  const { data } = answer.json() as { data: { result: { values: [string, string][] }[] } };
  return data.result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
}

async function countOf(question: { readonly query: string; readonly time: string }): Promise<string> {
  const answer = await ask('/loki/api/v1/query', question);
  const { data } = answer.json() as { data: { result: { value: [number, string] }[] } };
  return data.result[0].value[1];
}

const entriesOf = (count: number, text: (i: number) => string): PushedEntry[] =>
  Array.from({ length: count }, (_, i) => ({ ns: T0 + BigInt(i) * NS_PER_MS, line: text(i) }));
/** Runs until a merge has released the day. */
const MAX_SYNC_RUNS = 200;
const SMALL = entriesOf(10, i => `small ${i}`);

test('the stack is deployed, except for alarms that the emulator lacks', () => {
  expect(takenOut.map(id => id.replace(/[0-9A-F]{8}$/, ''))).toEqual([
    'WatchAlarmsThrottled',
    'WatchAlarmsServerErrors',
  ]);
  const types = new Set(stack.resources.map(({ type }) => type));
  for (const type of [
    'ApiGateway::Account',
    'ApiGatewayV2::Route',
    'ApiGatewayV2::Authorizer',
    'CloudFront::Distribution',
    'Scheduler::Schedule',
  ])
    expect(types).toContain(`AWS::${type}`);
});

test('the first token is shown once, and the printed commands push and query with it', async () => {
  const shown = await stack.firstToken();
  token = String(shown.token);
  expect(token).toMatch(/^lgbm_/);
  expect(await stack.firstToken()).toEqual({ error: expect.stringContaining('cannot be shown again') });
  expect(JSON.stringify(stack.outputs)).not.toContain(token);
  expect(await stack.runPrinted(stack.outputs.CurlPush, token)).toBe('');
  expect(await stack.runPrinted(stack.outputs.CurlQuery, token)).toContain('hello from curl');
  await expect(stack.runPrinted(stack.outputs.CurlPush, 'lgbm_of_somebody')).rejects.toThrow(/40[13]/);
});

test('queries find pushes of Loki and of OTLP', async () => {
  await push('small', SMALL);
  const record = { timeUnixNano: `${T0}`, body: { stringValue: 'from a collector' } };
  const attribute = { key: 'service.name', value: { stringValue: 'collected' } };
  const resource = { resource: { attributes: [attribute] }, scopeLogs: [{ logRecords: [record] }] };
  expect((await post('/otlp/v1/logs', JSON.stringify({ resourceLogs: [resource] }))).status).toBeLessThan(
    300,
  );
  expect(await linesOf('{app="small"}')).toEqual(SMALL.map(({ line }) => line));
  expect(await linesOf('{service_name="collected"}')).toEqual(['from a collector']);
  expect((await ask('/ready')).text).toBe('ready\n');
  expect((await ask('/nowhere')).status).toBe(404);
});

test('a query over much data is divided among worker functions', async () => {
  const line = (i: number) => `${i} ${'abcdefgh '.repeat(90)}${i % 7 === 0 ? 'hit' : ''}`;
  for (let part = 0; part < 5; part++) await push(`spread-${part}`, entriesOf(4_500, line));
  const before = await stack.calls('Workers');
  const query = 'sum(count_over_time({app=~"spread-.*"} |~ "h[i]t$" [5m]))';
  expect(await countOf({ query, time: `${T0 + 240_000n * NS_PER_MS}` })).toBe(`${5 * 643}`);
  expect(await stack.calls('Workers')).toBeGreaterThan(before);
});

test('the page is in its bucket, and CloudFront serves it', async () => {
  const objects = await openObjectStore(emulator, stack.idOf('AWS::S3::Bucket', 'EdgePage'));
  const keys = (await objects.port.list('ui/')).objects.map(({ key }) => key);
  objects.close();
  expect(keys).toContain('ui/index.html');
  const page = await stack.sendToEdge({ path: '/ui/' });
  // The emulator takes its own read of the bucket for one without TLS, which the bucket refuses. The error
  // names the requested object.
  expect([page.status, page.text]).toEqual([403, expect.stringContaining('/ui/index.html')]);
  expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  const browser = await stack.sendToEdge({ path: '/', headers: { accept: 'text/html,*/*' } });
  expect([browser.status, browser.headers.location]).toEqual([302, '/ui/']);
});

test('a push reaches a tail', async () => {
  const tail = await connectTail(stack.tailUrl, {
    tenant: TENANT,
    query: '{app="tailed"} |= "shown"',
    headers: identity(),
  });
  const nowNs = BigInt(Date.now()) * NS_PER_MS;
  await push('tailed', [
    { ns: nowNs, line: 'hidden' },
    { ns: nowNs + 1n, line: 'shown' },
  ]);
  expect(await tail.lines(1)).toEqual(['shown']);
  expect(await stack.tick('DueSchedulesMinute')).toMatchObject({
    called: expect.arrayContaining(['compaction', 'tail-dispatch']),
  });
  await tail.close();
});

test('jobs of the timer merge, apply retention and evaluate rules', async () => {
  const rule = [
    'name: counted',
    'interval: 1m',
    'rules:',
    '  - alert: Always',
    '    expr: sum(count_over_time({app="small"}[24h])) > 0',
  ];
  expect((await post('/loki/api/v1/rules/deployed', rule.join('\n'), 'application/yaml')).status).toBe(202);
  // A day of one chunk needs no index, and earlier pushes may be merged by now.
  const nowNs = BigInt(Date.now()) * NS_PER_MS;
  for (const line of ['first', 'second']) await push('small', [{ ns: nowNs, line }]);
  const before = await countOf(COUNT_ALL);
  const sync = { method: 'PUT', path: '/sync-indexes', headers: identity() };
  expect((await stack.send(sync)).status).toBeLessThan(300);
  // A merge that the timer has begun may hold the day.
  const syncOnce = async () => (await stack.runJob('index-sync')) as { readonly done: boolean };
  let synced = await syncOnce();
  for (let runs = 1; runs < MAX_SYNC_RUNS && !synced.done; runs++) synced = await syncOnce();
  expect(synced).toMatchObject({ done: true, failures: [] });
  expect((await post('/flush', '')).status).toBeLessThan(300);
  for (const job of ['compaction', 'collection', 'retention', 'deletion', 'rules'])
    expect(await stack.runJob(job)).toMatchObject({ failures: [] });
  expect(await countOf(COUNT_ALL)).toBe(before);
  const objects = await openObjectStore(emulator, stack.outputs.BucketName);
  const keys = (await objects.port.list('')).objects.map(({ key }) => key);
  objects.close();
  expect(keys).toEqual(expect.arrayContaining([expect.stringContaining('/index/')]));
  expect((await ask('/prometheus/api/v1/alerts')).json()).toMatchObject({
    data: { alerts: [{ labels: { alertname: 'Always' }, state: 'firing' }] },
  });
});

test('a delete request hides its lines', async () => {
  const seconds = T0 / 1_000_000_000n;
  const query = { query: '{app="small"} |= "small 3"', start: `${seconds}`, end: `${seconds + 60n}` };
  const headers = identity();
  expect((await stack.send({ method: 'POST', path: '/loki/api/v1/delete', query, headers })).status).toBe(
    204,
  );
  expect(await stack.runJob('deletion')).toMatchObject({ failures: [] });
  expect(await linesOf('{app="small"}')).toEqual(
    SMALL.map(({ line }) => line).filter(line => line !== 'small 3'),
  );
});

test('an update keeps stored entries and settings', async () => {
  const long = entriesOf(1, () => 'x'.repeat(3_000));
  await push('long', long);
  const before = await countOf(COUNT_ALL);
  const { outputs } = stack;
  stack.close();
  stack = await deploy('second');
  expect(stack.outputs).toEqual(outputs);
  expect(await countOf(COUNT_ALL)).toBe(before);
  expect(await linesOf('{app="small"}')).toHaveLength(9);
  expect(await linesOf('{app="long"}')).toEqual(['x'.repeat(3_000)]);
  const refused = await post('/loki/api/v1/push', jsonPush([{ labels: { app: 'long' }, entries: long }]));
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("'2048' bytes")]);
  await push('after', SMALL);
  expect(await linesOf('{app="after"}')).toHaveLength(10);
  const s3 = createS3Client({ endpoint: emulator });
  const bucket = { Bucket: outputs.BucketName };
  expect(await s3.send(new GetBucketVersioningCommand(bucket))).toMatchObject({ Status: 'Enabled' });
  s3.destroy();
  const FunctionName = stack.idOf('AWS::Lambda::Function', 'Push');
  expect(await stack.lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))).toMatchObject({
    Runtime: 'nodejs24.x',
    MemorySize: 1769,
  });
}, 300_000);

test('destroying the stack leaves only the account role by which API Gateway logs', async () => {
  const ids = stack.resources
    .filter(({ type, logicalId }) => !type.startsWith('Custom::') && !logicalId.startsWith('GatewayLogs'))
    .map(({ physicalId }) => physicalId);
  const words = [STACK, ...ids.filter(id => id.length > 7)];
  const present = await findInLists(emulator, words);
  for (const [list, found] of present) expect([list, found.length]).toEqual([list, expect.any(Number)]);
  expect([...present.values()].filter(found => found.length === 0)).toEqual([]);
  const said = await runCdk(emulator, ['destroy', '--force', '--app', join(folder, 'second')]);
  expect(said).toContain(`${STACK}: destroyed`);
  const left = await findInLists(emulator, words);
  // The name begins with the name of the stack.
  expect([...left].filter(([, found]) => found.length > 0)).toEqual([['iam ListRoles', [STACK]]]);
  const form = { Action: 'DescribeStacks', StackName: STACK, Version: '2010-05-15' };
  await expect(askEmulator(emulator, { service: 'cloudformation', form })).rejects.toThrow('does not exist');
}, 300_000);
