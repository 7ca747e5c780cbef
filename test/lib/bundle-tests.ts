import { isAscii } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AnyFunctionName,
  EVENT_FUNCTION_NAMES,
  FUNCTION_NAMES,
  type FunctionName,
  STACK_FUNCTION_NAMES,
  type StackFunctionName,
  TAIL_FUNCTION_NAMES,
  WORKER_FUNCTION_NAMES,
} from '../../functions/groups.ts';
import type { HttpApiEvent, HttpApiResult } from '../../functions/lambda-event.ts';
import { fileOfPackage, PACKAGES_APART } from '../../lib/packages-apart.ts';
import {
  AUTHORIZER_RIGHTS,
  EXPORT_RIGHTS,
  MAINTENANCE_RIGHTS,
  PUSH_RIGHTS,
  QUERY_RIGHTS,
  type Rights,
  STATUS_RIGHTS,
  TAIL_CONNECT_RIGHTS,
  TAIL_DISCONNECT_RIGHTS,
  TAIL_DISPATCH_RIGHTS,
} from '../../lib/rights.ts';
import { newToken } from '../../shared/server/auth/token-text.ts';
import { httpApiEvent, textOf } from '../functions/events.ts';
import { notAllowed } from './allowed.ts';
import type { Built } from './build.ts';
import { type FakeServices, startFakeServices } from './fake-services.ts';

const INVOKE = fileURLToPath(new URL('invoke.mjs', import.meta.url));
const tenant = { 'x-scope-orgid': 'acme' };
const NAMES = [
  ...FUNCTION_NAMES,
  ...EVENT_FUNCTION_NAMES,
  ...TAIL_FUNCTION_NAMES,
  ...WORKER_FUNCTION_NAMES,
  ...STACK_FUNCTION_NAMES,
];
const MODULE = 'index.js';
/** Size limit of a bundle, because each is read at each cold start. */
const MAX_BUNDLE_BYTES = 3_000_000;

/** The bundles run, each in a separate process, as Lambda would run them. */
export function bundleTests(built: () => Built): void {
  let folder: string;
  let services: FakeServices;
  beforeAll(async () => {
    folder = join(built().folder, 'bundles');
    services = await startFakeServices();
  });
  afterAll(() => services?.close());

  /** The function has rights for all accesses since the last check, and it made the accesses of a push. */
  function expectAllowed(rights: Rights, ...calls: readonly string[]): void {
    expect(notAllowed(services.accesses.splice(0), rights)).toEqual([]);
    expect(new Set(services.calls.splice(0))).toEqual(new Set(calls));
  }
  const PUSH_CALLS = ['GetItem', 'PutItem', 'PutObject', 'Query', 'TransactWriteItems'];

  function forget(): void {
    services.calls.length = 0;
    services.accesses.length = 0;
  }

  /** Resolves to the output of a process that exits successfully. */
  async function run(
    args: readonly string[],
    input: string,
    environment: Record<string, string>,
  ): Promise<string> {
    const child = spawn(process.execPath, args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(input);
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (child.exitCode !== 0) throw new Error(`exit status ${child.exitCode}: ${errors}`);
    return out;
  }

  /** Results of one process of a function, which serves one event after the other. */
  async function invoke(name: FunctionName, ...events: readonly HttpApiEvent[]): Promise<HttpApiResult[]> {
    return JSON.parse(await outputOf(name, events, {}));
  }

  async function outputOf(
    name: AnyFunctionName | StackFunctionName,
    events: readonly unknown[],
    given: Record<string, string>,
  ): Promise<string> {
    const environment = {
      // Variables that Lambda sets. The endpoint keeps everything on this machine.
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
      LOGBOOM_BUCKET: 'chunks',
      LOGBOOM_TABLE: 'catalog',
      LOGBOOM_ENDPOINT: services.url,
      LOGBOOM_CONFIG_YAML: 'logboom: {inline_max_bytes: 0}',
      ...given,
    };
    const printed = await run([INVOKE, join(folder, name, MODULE)], JSON.stringify(events), environment);
    // Lines of embedded metrics come before it.
    return printed.slice(printed.lastIndexOf('\n') + 1);
  }

  test('a bundle has one module in ASCII and the files that it names', () => {
    const packages = PACKAGES_APART.map(fileOfPackage);
    for (const name of NAMES) {
      const code = readFileSync(join(folder, name, MODULE));
      expect([name, code.length < MAX_BUNDLE_BYTES]).toEqual([name, true]);
      // V8 holds any other text with two bytes for each character.
      expect([name, isAscii(code)]).toEqual([name, true]);
      expect(existsSync(join(folder, `${name}.js.map`))).toBe(true);
      const text = code.toString('latin1');
      expect(text).not.toContain('sourceMappingURL');
      const files = readdirSync(join(folder, name));
      const texts = files.map(file => readFileSync(join(folder, name, file), 'latin1'));
      const named = texts.flatMap(one =>
        [...one.matchAll(/require\)?\("\.\/([^"]+)"\)/g)].map(([, file]) => file),
      );
      expect([name, ...files.sort()]).toEqual([name, ...[...new Set([MODULE, ...named])].sort()]);
      for (const file of named) {
        if (!/^(part|shared)-[-\w]+\.js$/.test(file)) expect(packages).toContain(file);
      }
    }
  });

  test('status answers within its read rights', async () => {
    forget();
    const tenanted = { headers: tenant };
    const [ready, build, metrics, rules, level, set, missing] = await invoke(
      'status',
      httpApiEvent(),
      httpApiEvent({ path: '/loki/api/v1/status/buildinfo' }),
      httpApiEvent({ path: '/metrics' }),
      httpApiEvent({ ...tenanted, path: '/prometheus/api/v1/rules' }),
      httpApiEvent({ path: '/log_level' }),
      httpApiEvent({ method: 'POST', path: '/log_level', query: 'log_level=info' }),
      httpApiEvent({ path: '/loki/api/v1/labels' }),
    );
    expect(ready).toMatchObject({ statusCode: 200, body: 'ready\n' });
    expect(JSON.parse(textOf(build)).revision).toMatch(/^logboom-/);
    expect([metrics, rules, level, set].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    expect(missing.statusCode).toBe(404);
    expect(notAllowed(services.accesses.splice(0), STATUS_RIGHTS)).toEqual([]);
    expect(services.calls.splice(0).length).toBeGreaterThan(2);
  });

  test('tails are opened, closed and served within the rights of their functions', async () => {
    const place = { LOGBOOM_CONNECTIONS_ENDPOINT: services.url };
    const event = {
      headers: { 'X-Scope-OrgID': 'acme' },
      queryStringParameters: { query: '{app="shop"}' },
      requestContext: { connectionId: 'c1', eventType: 'CONNECT', requestId: 'r1' },
    };
    const steps = [
      ['tail-connect', event, TAIL_CONNECT_RIGHTS, 'tc/'],
      ['tail-dispatch', {}, TAIL_DISPATCH_RIGHTS, 'tt/'],
      ['tail-disconnect', event, TAIL_DISCONNECT_RIGHTS, 'tx/'],
    ] as const;
    for (const [name, given, rights, touched] of steps) {
      forget();
      const environment = { ...place, REMAINING_MS: '22000' };
      expect(JSON.parse(await outputOf(name, [given], environment))).toHaveLength(1);
      const accesses = services.accesses.splice(0);
      expect([name, notAllowed(accesses, rights)]).toEqual([name, []]);
      expect(accesses.some(({ of }) => of.startsWith(touched))).toBe(true);
    }
  });

  test('the authorizer checks the token, and denies requests without it', async () => {
    forget();
    const { text: token } = newToken({ randomHex: bytes => 'ab'.repeat(bytes) });
    const authorization = `Bearer ${token}`;
    const event = httpApiEvent({ headers: { authorization } });
    const results = JSON.parse(await outputOf('authorizer', [event, httpApiEvent()], {}));
    expect(results).toEqual([{ isAuthorized: false }, { isAuthorized: false }]);
    const accesses = services.accesses.splice(0);
    expect(accesses.length).toBeGreaterThan(0);
    expect(notAllowed(accesses, AUTHORIZER_RIGHTS)).toEqual([]);
  });

  test('nothing is stored or read without a tenant', async () => {
    services.items.length = 0;
    const push = httpApiEvent({ method: 'POST', path: '/loki/api/v1/push', body: '{"streams":[]}' });
    expect(await invoke('push', push)).toMatchObject([{ statusCode: 401, body: 'no org id\n' }]);
    expect(await invoke('query', httpApiEvent({ path: '/loki/api/v1/labels' }))).toMatchObject([
      { statusCode: 401, body: 'no org id\n' },
    ]);
    // Except for the heartbeats of the functions themselves.
    expect(services.items.filter(({ pk }) => pk.S !== 'm/instances')).toEqual([]);
  });

  test('the query function finds entries of the push function, each with its SDK', async () => {
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    const streams = [{ stream: { app: 'shop' }, values: [[String(nowNs), 'sold 3 of größe M']] }];
    const pushed = await invoke(
      'push',
      httpApiEvent({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { ...tenant, 'content-type': 'application/json' },
        body: JSON.stringify({ streams }),
        timeEpoch: Date.now(),
      }),
    );
    expect(pushed).toMatchObject([{ statusCode: 204, body: '' }]);
    expectAllowed(PUSH_RIGHTS, ...PUSH_CALLS);

    const ask = { headers: tenant, timeEpoch: Date.now() };
    const [labels, found] = await invoke(
      'query',
      httpApiEvent({ ...ask, path: '/loki/api/v1/label/app/values' }),
      httpApiEvent({
        ...ask,
        path: '/loki/api/v1/query_range',
        query: 'query=%7Bapp%3D%22shop%22%7D%7C~%22M%24%22',
      }),
    );
    expect(JSON.parse(textOf(labels)).data).toEqual(['shop']);
    expect(JSON.parse(textOf(found)).data.result).toMatchObject([
      { values: [[String(nowNs), 'sold 3 of größe M']] },
    ]);
    // It records the requests, for usage.
    // The item is the version of the tenant's delete requests.
    expectAllowed(QUERY_RIGHTS, 'GET object', 'GetItem', 'PutItem', 'Query');
  });

  test('the export of closed days writes them to another bucket within its rights', async () => {
    const before = { items: [...services.items], objects: [...services.objects] };
    const threeDaysAgoNs = BigInt(Date.now() - 3 * 86_400_000) * 1_000_000n;
    const streams = [{ stream: { app: 'old' }, values: [[`${threeDaysAgoNs}`, 'sold 7']] }];
    const push = httpApiEvent({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: { 'x-scope-orgid': 'closed', 'content-type': 'application/json' },
      body: JSON.stringify({ streams }),
      timeEpoch: Date.now(),
    });
    expect(await invoke('push', push)).toMatchObject([{ statusCode: 204 }]);
    const environment = { LOGBOOM_EXPORT_TO: 's3://lake/logs', REMAINING_MS: '900000' };
    // The second run finds the state of the first.
    for (const files of [1, 0]) {
      forget();
      const [report] = JSON.parse(await outputOf('export-days', [{}], environment));
      expect(report).toMatchObject({ files, entries: files, isDone: true });
      const inLake = (of: string) => of.startsWith('logs/');
      expect(
        notAllowed(
          services.accesses.filter(({ of }) => !inLake(of)),
          EXPORT_RIGHTS,
        ),
      ).toEqual([]);
      expect(services.accesses.filter(({ of }) => inLake(of)).length).toBeGreaterThan(0);
    }
    const keys = [...services.objects.keys()].filter(key => key.startsWith('/lake/'));
    const day = new Date(Number(threeDaysAgoNs / 1_000_000n)).toISOString().slice(0, 10);
    expect(keys.map(key => key.replace(/\d+\.parquet$/, '')).sort()).toEqual([
      `/lake/logs/entries/tenant%3Dclosed/day%3D${day}/service%3Dold/`,
      '/lake/logs/export-state/closed.json',
    ]);
    services.items.splice(0, services.items.length, ...before.items);
    services.objects.clear();
    for (const [key, bytes] of before.objects) services.objects.set(key, bytes);
  });

  describe('the query function finds entries of a function for events', () => {
    const environment = { LOGBOOM_TENANT: 'events', LOGBOOM_LABELS: 'env=prod' };
    const nowMs = Date.now();
    let before: { items: FakeServices['items']; objects: [string, Buffer][] };
    beforeAll(() => {
      before = { items: [...services.items], objects: [...services.objects] };
    });
    // Data stored here must not affect the following tests.
    afterAll(() => {
      services.items.splice(0, services.items.length, ...before.items);
      services.objects.clear();
      for (const [key, bytes] of before.objects) services.objects.set(key, bytes);
    });
    const linesOf = async (query: string) => {
      const event = httpApiEvent({
        headers: { 'x-scope-orgid': 'events' },
        timeEpoch: Date.now(),
        path: '/loki/api/v1/query_range',
        query: `query=${encodeURIComponent(query)}`,
      });
      const [found] = await invoke('query', event);
      const { result } = JSON.parse(textOf(found)).data as { result: { values: [string, string][] }[] };
      return result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
    };

    test('finds an entry of the function for CloudWatch Logs', async () => {
      const envelope = {
        messageType: 'DATA_MESSAGE',
        owner: '111122223333',
        logGroup: '/aws/lambda/shop',
        logStream: 'a',
        subscriptionFilters: ['logboom'],
        logEvents: [{ id: '1', timestamp: nowMs, message: 'sold 4' }],
      };
      const data = gzipSync(JSON.stringify(envelope)).toString('base64');
      forget();
      await outputOf('cloudwatch-logs', [{ awslogs: { data } }], environment);
      expectAllowed(PUSH_RIGHTS, ...PUSH_CALLS);
      expect(await linesOf('{log_group="/aws/lambda/shop", env="prod"}')).toEqual(['sold 4']);
    });

    test('finds an entry of the function for S3 objects', async () => {
      services.objects.set('/my-logs/web/access.log', Buffer.from('sold 5\nsold 6\n'));
      const eventOf = (key: string) => ({
        source: 'aws.s3',
        'detail-type': 'Object Created',
        detail: { bucket: { name: 'my-logs' }, object: { key } },
      });
      forget();
      await outputOf('s3-objects', [eventOf('web/access.log')], environment);
      // Reads of the other bucket need a separate permission.
      const ofStore = services.accesses.splice(0).filter(({ of }) => of !== 'web/access.log');
      expect(notAllowed(ofStore, PUSH_RIGHTS)).toEqual([]);
      expect(new Set(services.calls.splice(0))).toEqual(new Set(['GET object', ...PUSH_CALLS]));
      expect(await linesOf('{bucket="my-logs", env="prod"}')).toEqual(['sold 5', 'sold 6']);
    });

    test('neither function starts without a tenant', async () => {
      for (const name of EVENT_FUNCTION_NAMES)
        await expect(outputOf(name, [], {})).rejects.toThrow('LOGBOOM_TENANT is not set');
    });
  });

  test('maintenance merges, indexes and collects pushed chunks, by request and by schedule', async () => {
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    const pushOf = (i: number) =>
      httpApiEvent({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'x-scope-orgid': 'packed', 'content-type': 'application/json' },
        body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values: [[`${nowNs}`, `line ${i}`]] }] }),
        timeEpoch: Date.now(),
      });
    services.items.length = 0;
    services.objects.clear();
    // The walk for orphans is due: it ended two days ago.
    const walk = { startedMs: Date.now() - 2 * 86_400_000, ended: true, sinceMs: 0 };
    const body = { B: Buffer.from(JSON.stringify(walk)).toString('base64') };
    services.items.push({ pk: { S: 'y/orphans' }, sk: { S: 'state' }, version: { N: '0' }, body });
    const pushes = await invoke('push', ...[1, 2, 3].map(pushOf));
    expect(pushes.map(({ statusCode }) => statusCode)).toEqual([204, 204, 204]);
    forget();

    const events = [
      httpApiEvent({ method: 'POST', path: '/flush', timeEpoch: Date.now() }),
      ...['compaction', 'index-sync', 'collection'].map(job => ({ job })),
    ];
    const environment = {
      REMAINING_MS: '900000',
      LOGBOOM_CONFIG_YAML: 'logboom: {inline_max_bytes: 0, object_grace_period: 0s}',
    };
    const [flush, ...runs] = JSON.parse(await outputOf('maintenance', events, environment));
    expect(flush).toMatchObject({ statusCode: 204 });
    expect(runs).toMatchObject([
      { job: 'compaction', done: true, failures: [], figures: { merges: 1, rows: 3 } },
      { job: 'index-sync', done: true, failures: [] },
      { job: 'collection', done: true, failures: [], figures: { deleted: 3, orphans: 0 } },
    ]);
    expectAllowed(
      MAINTENANCE_RIGHTS,
      ...['DeleteItem', 'GetItem', 'PutItem', 'Query', 'TransactWriteItems'],
      ...['DeleteObject', 'GET object', 'ListObjectsV2', 'PutObject'],
    );
  });
}
