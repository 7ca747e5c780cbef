/**
 * Deploys the packaged template as a user without Node.js does: copies zip files into a bucket, and gives the
 * template to CloudFormation, without a bootstrap. It uses `endpoint=function-url`, which is also what the free
 * LocalStack gets.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createS3Client } from '../../shared/aws/clients.ts';
import { until } from '../support/until.ts';
import { askEmulator, resourcesOf, type StackResource } from './deploy/emulator-api.ts';
import { functionOf, runInShell } from './deploy/printed.ts';
import { S3_PLACES } from './support/places.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const STACK = 'Packaged';
const CODE_BUCKET = 'packaged-code';
const CONTEXT = ['endpoint=function-url', 'edge=no', 'removal=destroy', `stackName=${STACK}`];

const [{ endpoint: emulator }] = S3_PLACES;
const lambda = new LambdaClient({ endpoint: emulator, region: 'us-east-1' });
let folder: string;
let outputs: Record<string, string>;
let resources: readonly StackResource[];
let token: string;

const ask = (form: Record<string, string>) =>
  askEmulator(emulator, {
    service: 'cloudformation',
    form: { ...form, StackName: STACK, Version: '2010-05-15' },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-packaged-'));
  const script = join(ROOT, 'scripts', 'package-cloudformation.mjs');
  const flags = CONTEXT.flatMap(setting => ['--context', setting]);
  const out = join(folder, 'package');
  const env = { ...process.env, LOGBOOM_PACKAGE_FOLDER: out };
  await promisify(execFile)(process.execPath, [script, ...flags], { cwd: ROOT, env });
  const s3 = createS3Client({ endpoint: emulator });
  await s3.send(new CreateBucketCommand({ Bucket: CODE_BUCKET }));
  const put = (Key: string, Body: Buffer) =>
    s3.send(new PutObjectCommand({ Bucket: CODE_BUCKET, Key, Body }));
  for (const name of await readdir(join(out, 'assets')))
    await put(`logboom/${name}`, await readFile(join(out, 'assets', name)));
  await put('logboom/template.json', await readFile(join(out, 'template.json')));
  s3.destroy();
  await ask({
    Action: 'CreateStack',
    TemplateURL: `${emulator}/${CODE_BUCKET}/logboom/template.json`,
    'Capabilities.member.1': 'CAPABILITY_IAM',
    'Parameters.member.1.ParameterKey': 'AssetsBucket',
    'Parameters.member.1.ParameterValue': CODE_BUCKET,
  });
  const xml = await until(async () => {
    const found = await ask({ Action: 'DescribeStacks' });
    return !found.includes('CREATE_IN_PROGRESS') && found;
  });
  expect(xml).toContain('<StackStatus>CREATE_COMPLETE</StackStatus>');
  const pairs = [...xml.matchAll(/<OutputKey>(.*?)<\/OutputKey>\s*<OutputValue>(.*?)<\/OutputValue>/gs)];
  outputs = Object.fromEntries(pairs.map(([, key, value]) => [key, unescaped(value)]));
  resources = await resourcesOf(emulator, STACK);
}, 600_000);
afterAll(async () => {
  lambda.destroy();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

function unescaped(xml: string): string {
  const marks: Record<string, string> = {
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    '#x27': "'",
    '#39': "'",
  };
  return xml.replace(/&([a-z]+|#x?[0-9a-f]+);/g, (all, name: string) => marks[name] ?? all);
}

async function invoke(name: string, event: object): Promise<Record<string, unknown>> {
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName: name, Payload: Buffer.from(JSON.stringify(event)) }),
  );
  expect(FunctionError).toBeUndefined();
  return JSON.parse(Buffer.from(Payload ?? []).toString()) as Record<string, unknown>;
}

/** The emulator has the address of a function at its own. */
function here(command: string): string {
  const id = new URL(outputs.PushUrl).hostname.split('.')[0];
  return command.replaceAll(outputs.PushUrl, `${emulator}/_aws/lambda-url/${id}`);
}

test('the printed commands push and query with the first token; requests without one are refused', async () => {
  token = String((await invoke(functionOf(outputs.FirstTokenCommand), {})).token);
  expect(token).toMatch(/^lgbm_/);
  expect(await runInShell(here(outputs.CurlPush), token)).toBe('');
  expect(await runInShell(here(outputs.CurlQuery), token)).toContain('hello from curl');
  await expect(runInShell(here(outputs.CurlQuery), 'wrong')).rejects.toThrow('401');
});

test('rules are stored and evaluated, and jobs run', async () => {
  const { url, headers } = {
    url: here(`${outputs.PushUrl}/loki/api/v1/rules/packaged`),
    headers: { authorization: `Bearer ${token}`, 'x-scope-orgid': 'main' },
  };
  const body = 'name: g\ninterval: 1m\nrules:\n  - alert: Always\n    expr: vector(1) > 0\n';
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(202);
  for (const job of ['compaction', 'index-sync', 'rules'])
    expect(await invoke(outputs.MaintenanceFunction, { job })).toMatchObject({ job, failures: [] });
  const alerts = await fetch(here(`${outputs.PushUrl}/prometheus/api/v1/alerts`), { headers });
  expect(await alerts.json()).toMatchObject({ data: { alerts: [{ labels: { alertname: 'Always' } }] } });
});

test('the function of rules finds due groups', async () => {
  const timer = resources.find(
    ({ type, logicalId }) => type === 'AWS::Lambda::Function' && logicalId.startsWith('DueTimer'),
  );
  expect(await invoke(String(timer?.physicalId), {})).toMatchObject({
    called: expect.arrayContaining(['compaction', 'rules']),
  });
  expect(resources.map(({ type }) => type)).toContain('AWS::Events::Rule');
});

test('deleting the stack leaves nothing', async () => {
  await ask({ Action: 'DeleteStack' });
  const xml = await until(async () => {
    const found = await ask({ Action: 'DescribeStacks' }).catch(String);
    return !found.includes('DELETE_IN_PROGRESS') && found;
  });
  expect(xml).toMatch(/does not exist|DELETE_COMPLETE/);
}, 120_000);
