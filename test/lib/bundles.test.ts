import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FUNCTION_NAMES, type FunctionName } from '../../functions/groups.ts';
import type { HttpApiEvent, HttpApiResult } from '../../functions/lambda-event.ts';
import { httpApiEvent, textOf } from '../functions/events.ts';
import { type FakeServices, startFakeServices } from './fake-services.ts';

const INVOKE = fileURLToPath(new URL('invoke.mjs', import.meta.url));
const BUNDLE = fileURLToPath(new URL('../../lib/bundle.ts', import.meta.url));
const tenant = { 'x-scope-orgid': 'acme' };

let folder: string;
let services: FakeServices;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'logboom-bundles-'));
  services = await startFakeServices();
  // esbuild will not run in the realm of jest.
  const script = `const { bundleFunction } = await import(${JSON.stringify(BUNDLE)});
    for (const name of ${JSON.stringify(FUNCTION_NAMES)}) await bundleFunction(name, ${JSON.stringify(folder)});`;
  await run(['--input-type=module', '--eval', script], '', {});
});
afterAll(async () => {
  await services.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a process prints, once it ended well. */
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
  const environment = {
    // As Lambda sets them; the endpoint keeps everything on this machine.
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'none',
    AWS_SECRET_ACCESS_KEY: 'none',
    LOGBOOM_BUCKET: 'chunks',
    LOGBOOM_TABLE: 'catalog',
    LOGBOOM_ENDPOINT: services.url,
    LOGBOOM_CONFIG_YAML: 'logboom: {inline_max_bytes: 0}',
  };
  const out = await run([INVOKE, join(folder, name, 'index.mjs')], JSON.stringify(events), environment);
  return JSON.parse(out);
}

test('each bundle is one module, which names no other package', () => {
  for (const name of FUNCTION_NAMES) {
    expect(readdirSync(join(folder, name))).toEqual(['index.mjs']);
    const code = readFileSync(join(folder, name, 'index.mjs'), 'utf8');
    const imports = [...code.matchAll(/(?:^|[;}\n])import(?:[^'"`();]*?from)?\s*["']([^'"\n]+)["']/g)];
    const requires = [...code.matchAll(/__require\(["']([^'"]+)["']\)/g)];
    expect(imports.length).toBeGreaterThan(5);
    for (const [, module] of [...imports, ...requires]) expect(isBuiltin(module)).toBe(true);
    expect(code).not.toContain('sourceMappingURL');
  }
});

test('status answers', async () => {
  const [ready, build, missing] = await invoke(
    'status',
    httpApiEvent(),
    httpApiEvent({ path: '/loki/api/v1/status/buildinfo' }),
    httpApiEvent({ path: '/loki/api/v1/labels' }),
  );
  expect(ready).toMatchObject({ statusCode: 200, body: 'ready\n' });
  expect(JSON.parse(textOf(build)).revision).toMatch(/^logboom-/);
  expect(missing.statusCode).toBe(404);
});

test('nothing is stored or read without a tenant', async () => {
  const push = httpApiEvent({ method: 'POST', path: '/loki/api/v1/push', body: '{"streams":[]}' });
  expect(await invoke('push', push)).toMatchObject([{ statusCode: 401, body: 'no org id\n' }]);
  expect(await invoke('query', httpApiEvent({ path: '/loki/api/v1/labels' }))).toMatchObject([
    { statusCode: 401, body: 'no org id\n' },
  ]);
  expect(services.items).toEqual([]);
});

test('what the push function stored, the query function finds, each through its own SDK', async () => {
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
  // What lib/function-classes.ts grants must be enough for this; a transaction of puts needs the right to put.
  expect(services.calls.splice(0).sort()).toEqual(['PutObject', 'TransactWriteItems']);

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
  expect(new Set(services.calls)).toEqual(new Set(['Query', 'GET object']));
});
