/** Settings of the stack, and the small decisions that are made of them; nothing of the CDK is loaded. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { reservationsOf } from '../../lib/concurrency.ts';
import { pageFunctionCode, rootFunctionCode, tailFunctionCode } from '../../lib/edge-functions.ts';
import { eventSettingsOf } from '../../lib/event-settings.ts';
import { FAMILIES } from '../../lib/rights.ts';
import {
  hasCanary,
  isWanted,
  LEAST_QUOTA,
  settingRows,
  settingsOf,
  UNRESERVED_CALLS,
} from '../../lib/settings.ts';
import { VARIANTS } from './variants.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('settings', () => {
  test('have defaults that deploy into any account, and open nothing', () => {
    expect(settingsOf({})).toMatchObject({
      stackName: 'Logboom',
      authorization: 'token',
      public: '',
      removal: 'retain',
      edge: true,
      ui: true,
      canary: 'auto',
      gatewayLogRole: 'create',
      deletionProtection: false,
      versioning: false,
      concurrency: 0,
      logRetentionDays: 30,
    });
  });

  test('are texts, numbers or booleans; settings of the CDK are skipped', () => {
    const flags = { '@aws-cdk/core:target-partitions': ['aws'], 'aws:cdk:enable-path-metadata': true };
    expect(settingsOf({ ...flags, edge: false, logRetentionDays: 7, canaryTenant: ' a ' })).toMatchObject({
      edge: false,
      logRetentionDays: 7,
      canaryTenant: 'a',
    });
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['everybody, without saying so', { authorization: 'none' }, /lets everyone .* public=yes-really/],
    [
      'saying so in other words',
      { authorization: 'none', public: 'yes' },
      /public must be yes-really or omitted, not "yes"/,
    ],
    ['public with authorization', { public: 'yes-really' }, /needs authorization=none, not token/],
    [
      'an unknown authorization',
      { authorization: 'maybe' },
      /authorization must be iam, token or none, not "maybe"/,
    ],
    ['a misspelt name', { removl: 'destroy' }, /removl is not a setting of this stack/],
    ['a list', { logGroups: ['a'] }, /logGroups must be a string, not \["a"\]/],
    ['a removal that is none', { removal: 'delete' }, /removal must be retain or destroy, not "delete"/],
    ['neither yes nor no', { edge: 'perhaps' }, /edge must be yes or no, not "perhaps"/],
    [
      'days that CloudWatch does not know',
      { logRetentionDays: '8' },
      /logRetentionDays must be one of 1, 3, 5/,
    ],
    [
      'a quota too small to reserve of',
      { concurrency: '100' },
      /concurrency must be 0 or at least 200, not "100"/,
    ],
    [
      'a domain alone',
      { domain: 'a.example.com' },
      /domain and certificateArn need each other; set both or none/,
    ],
    ['a domain that is none', { domain: 'https://a' }, /domain must be a host name in lower case/],
    [
      'a certificate elsewhere',
      { domain: 'a.example.com', certificateArn: 'arn:aws:acm:eu-central-1:1:certificate/a' },
      /certificateArn must be in us-east-1 for CloudFront, not in eu-central-1/,
    ],
    ['a web ACL without CloudFront', { ...VARIANTS.full, edge: 'no' }, /webAclArn needs edge=yes/],
    [
      'an alias of a key',
      { kmsKeyArn: 'arn:aws:kms:eu-central-1:1:alias/a' },
      /kmsKeyArn must end with :key\/ID/,
    ],
    [
      'another service',
      { alarmTopicArn: 'arn:aws:sqs:eu-central-1:1:a' },
      /alarmTopicArn must be the ARN of sns/,
    ],
    [
      'a subnet alone',
      { subnetIds: 'subnet-0123456789abcdef0' },
      /subnetIds and securityGroupIds need each other; set both or none/,
    ],
    ['a subnet that is none', { subnetIds: 'a' }, /subnetIds must be a list of subnet-/],
    [
      'a boundary that is none',
      { permissionsBoundaryArn: 'arn:aws:iam::1:role/a' },
      /must be the ARN of a policy/,
    ],
    ['a tag without a value', { tags: 'team' }, /tags must be name=value/],
    [
      'a canary without its token',
      { canary: 'yes' },
      /canary=yes with authorization=token needs canarySecretArn/,
    ],
    [
      'protection of what is to go',
      { deletionProtection: 'yes', removal: 'destroy' },
      /deletionProtection and removal=destroy cannot be combined/,
    ],
    ['CloudFront before one function', { endpoint: 'function-url' }, /endpoint=function-url needs edge=no/],
    [
      'a host name for functions',
      { ...VARIANTS.direct, write: 'functions' },
      /domain needs edge=yes, for CloudFront, or write=service, for its load balancer/,
    ],
    [
      'a host name without certificate',
      { ...VARIANTS.direct, certificateArn: '' },
      /domain and certificateArn need each other/,
    ],
    [
      'a host name that is only for pushes',
      { ...VARIANTS.direct, writeDomain: 'push.example.com' },
      /writeDomain was replaced: set domain, with edge=no/,
    ],
    [
      'a certificate of another region for CloudFront',
      { ...VARIANTS.direct, edge: 'yes' },
      /certificateArn must be in us-east-1 for CloudFront/,
    ],
    [
      'a load balancer for signatures',
      { ...VARIANTS.direct, authorization: 'iam' },
      /does not check signatures/,
    ],
    [
      'containers next to one function',
      { endpoint: 'function-url', edge: 'no', write: 'service' },
      /does not support write=service/,
    ],
    ['no containers', { write: 'service', writeTasks: '0' }, /writeTasks must be at least 1/],
    ['a destination that is not in S3', { exportTo: 'lake/logs' }, /exportTo must be s3:\/\/BUCKET\/PREFIX/],
    [
      'exports of one function',
      { endpoint: 'function-url', edge: 'no', exportTo: 's3://lake/logs' },
      /does not support exportTo/,
    ],
    [
      'two ways to be told',
      { alarmEmail: 'a@b.c', alarmTopicArn: 'arn:aws:sns:eu-central-1:1:a' },
      /cannot be combined/,
    ],
  ])('refuse %s', (_, context, message) => {
    expect(() => settingsOf(context)).toThrow(message);
  });

  test('report all mistakes together', () => {
    expect(() => settingsOf({ removl: 1, edge: 'x', canary: 'y' })).toThrow(/removl.*\nedge.*\ncanary/);
  });

  test('a canary, alarms, dashboard and metrics are created if there is a recipient', () => {
    const names = ['alarms', 'dashboard', 'metrics'] as const;
    const wantedBy = (context: Record<string, string>) => {
      const settings = settingsOf(context);
      return [...names.map(name => isWanted(settings, name)), hasCanary(settings)];
    };
    const told = { alarmEmail: 'a@b.c' };
    expect(wantedBy({})).toEqual([false, false, false, false]);
    expect(wantedBy(told)).toEqual([true, true, true, false]);
    expect(wantedBy({ ...told, authorization: 'iam' })).toEqual([true, true, true, true]);
    expect(wantedBy({ ...told, canarySecretArn: 'arn:aws:secretsmanager:a:1:secret:b' })[3]).toBe(true);
    expect(wantedBy({ ...told, alarms: 'no', dashboard: 'no', metrics: 'no' })).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(wantedBy({ alarms: 'yes', authorization: 'iam', canary: 'yes' })).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test('take all variants of the tests', () => {
    for (const context of Object.values(VARIANTS))
      expect(settingsOf(context).noncurrentDays).toBeGreaterThan(0);
  });

  test('are in the documentation, each with its default and its meaning', () => {
    const page = readFileSync(join(ROOT, 'docs', 'reference', 'aws.md'), 'utf8');
    const rows = settingRows().map(
      ({ name, preset, about }) => `| \`${name}\` | ${preset === '' ? '' : `\`${preset}\``} | ${about} |`,
    );
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(row => !page.includes(row))).toEqual([]);
  });
});

describe('functions for events', () => {
  const given = { logGroups: '', logsBucket: '', eventTenant: '', eventLabels: '' };

  test.each<[string, Partial<typeof given>, RegExp]>([
    ['no tenant', { logGroups: '/a' }, /need eventTenant/],
    [
      'a label that is none',
      { logsBucket: 'my-logs', eventTenant: 'a', eventLabels: 'b' },
      /needs name=value pairs/,
    ],
    ['a log group that is none', { logGroups: '/a b', eventTenant: 'a' }, /is not the name of a log group/],
    [
      'too many log groups',
      { logGroups: Array.from({ length: 41 }, (_, i) => `/g${i}`).join(), eventTenant: 'a' },
      /at most 40/,
    ],
  ])('refuse %s', (_, more, message) => {
    expect(() => eventSettingsOf({ ...given, ...more })).toThrow(message);
  });
});

test('reservations leave the minimum that Lambda requires, and pushes get at least as much as queries', () => {
  expect(reservationsOf(0, 32)).toBeUndefined();
  const quotas = fc.integer({ min: LEAST_QUOTA, max: 100_000 });
  fc.assert(
    fc.property(quotas, fc.integer({ min: 1, max: 20_000 }), (quota, compactionFunctions) => {
      const { query, worker, maintenance } = reservationsOf(quota, compactionFunctions)!;
      for (const calls of [query, worker, maintenance]) expect(calls).toBeGreaterThan(0);
      const left = quota - query - worker - maintenance;
      expect(left).toBeGreaterThanOrEqual(UNRESERVED_CALLS);
      expect(left).toBeGreaterThanOrEqual(query);
    }),
    { numRuns: 200 },
  );
});

test.each([
  { quota: 1000, functions: 32, maintenance: 50 },
  { quota: 1000, functions: 300, maintenance: 310 },
  { quota: 3000, functions: 1000, maintenance: 1010 },
  { quota: 1000, functions: 900, maintenance: 360 },
])('a quota of $quota reserves $maintenance calls for $functions compaction functions', given => {
  expect(reservationsOf(given.quota, given.functions)!.maintenance).toBe(given.maintenance);
});

test('every family of items in the catalog has a name among the rights', () => {
  const folder = join(ROOT, 'shared/storage/catalog');
  const sources = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'));
  const found = sources.flatMap(source => [...source.matchAll(/['`]([a-z]{1,2})\/(?:\$\{|[a-z]+['`/])/g)]);
  const letters = [...new Set(found.map(([, letter]) => letter))].filter(letter => letter !== 'h');
  expect(letters.length).toBeGreaterThan(15);
  const named = new Set(Object.values(FAMILIES).flat());
  expect(letters.filter(letter => !named.has(`${letter}/*`))).toEqual([]);
});

describe('code that CloudFront runs', () => {
  interface EdgeRequest {
    uri: string;
    headers: Record<string, { value: string }>;
    querystring: Record<string, { value: string; multiValue?: { value: string }[] }>;
  }
  // biome-ignore lint/suspicious/noExplicitAny: a request or a response, as CloudFront distinguishes them
  const run = (code: string, request: Partial<EdgeRequest>): any =>
    runInNewContext(`${code}; handler(event)`, {
      event: { request: { uri: '/', headers: {}, querystring: {}, ...request } },
    });

  test('a tail is sent to the stage, with its original path', () => {
    expect(run(tailFunctionCode('live'), { uri: '/api/prom/tail' })).toMatchObject({
      uri: '/live',
      headers: { 'x-logboom-path': { value: '/api/prom/tail' } },
    });
  });

  test.each([
    ['text/html,application/xhtml+xml', true],
    ['TEXT/HTML', true],
    ['*/*', false],
    ['application/json', false],
    [undefined, false],
  ])('/ with Accept %s: the page %s', (accept, isPage) => {
    const headers: EdgeRequest['headers'] = accept === undefined ? {} : { accept: { value: accept } };
    const answer = run(rootFunctionCode(), { headers });
    if (isPage) expect(answer).toMatchObject({ statusCode: 302, headers: { location: { value: '/ui/' } } });
    else expect(answer).toMatchObject({ uri: '/' });
  });

  test('/ui leads to /ui/ with its query, which leads to the file; other files stay', () => {
    const querystring = {
      q: { value: '%7Ba%3D1%7D', multiValue: [{ value: '%7Ba%3D1%7D' }, { value: 'b' }] },
      t: { value: '1h' },
    };
    expect(run(pageFunctionCode(), { uri: '/ui', querystring })).toMatchObject({
      statusCode: 302,
      headers: { location: { value: '/ui/?q=%7Ba%3D1%7D&q=b&t=1h' } },
    });
    expect(run(pageFunctionCode(), { uri: '/ui' }).headers.location.value).toBe('/ui/');
    expect(run(pageFunctionCode(), { uri: '/ui/' }).uri).toBe('/ui/index.html');
    expect(run(pageFunctionCode(), { uri: '/ui/main-1.js' }).uri).toBe('/ui/main-1.js');
  });
});
