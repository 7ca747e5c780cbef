/** Limits of a tenant that change while the store runs, queried over HTTP. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStore, type TestStore } from './support/store.ts';

let folder: string;
let store: TestStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-overrides-'));
  await writeFile(join(folder, 'o.yaml'), 'overrides: {strict: {enforced_labels: [team]}}');
  store = await startStore(`runtime_config: {file: ${join(folder, 'o.yaml')}, period: 20ms}`);
});

afterAll(async () => {
  await store.stop();
  await rm(folder, { recursive: true, force: true });
});

async function push(
  tenant: string,
  headers: Record<string, string> = {},
  ageMs = 0,
): Promise<[number, string]> {
  const ns = `${Date.now() - ageMs}000000`;
  const response = await fetch(`${store.url}/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant, ...headers },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values: [[ns, 'line']] }] }),
  });
  return [response.status, await response.text()];
}

/** Pushes until the response has a status. The test does not check how long a change takes. */
async function pushUntil(status: number): Promise<string> {
  for (;;) {
    const [answered, text] = await push('strict');
    if (answered === status) return text;
  }
}

test('a change of the file counts without a restart', async () => {
  const missing = `missing required labels 'team' for user 'strict' for stream '{app="a", service_name="a"}' (policy: '')\n`;
  expect(await push('strict')).toEqual([400, missing]);
  expect(await push('other')).toEqual([204, '']);
  await writeFile(join(folder, 'o.yaml'), 'overrides: {strict: {block_ingestion_until: 2999-01-01}}');
  expect(await pushUntil(260)).toBe(
    `ingestion blocked for user 'strict' until '2999-01-01T00:00:00Z' with status code '260'\n`,
  );
  await writeFile(join(folder, 'o.yaml'), 'overrides: {}');
  expect(await pushUntil(204)).toBe('');
});

test('X-Loki-Backfill-Shard lets old entries in', async () => {
  const month = 30 * 86_400_000;
  expect((await push('other', {}, month))[0]).toBe(400);
  expect(await push('other', { 'x-loki-backfill-shard': '2026-06' }, month)).toEqual([204, '']);
  expect(await push('other', { 'x-loki-backfill-shard': 'x'.repeat(129) })).toEqual([
    400,
    'invalid X-Loki-Backfill-Shard header: value length 129 exceeds limit of 128\n',
  ]);
});

test('a wrong value ends the start', async () => {
  await writeFile(join(folder, 'wrong.yaml'), 'overrides: {a: {max_line_size: big}}');
  await expect(startStore(`runtime_config: {file: ${join(folder, 'wrong.yaml')}}`)).rejects.toThrow(
    'overrides.a.max_line_size: expected a size',
  );
});
