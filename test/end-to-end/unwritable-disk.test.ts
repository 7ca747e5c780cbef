/**
 * The whole store over stores that fail like a full, read-only or broken disk: for machines that cannot
 * create one (test/adversarial/full-disk.test.ts uses real ones).
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { DiskPort } from '../../local/disk.ts';
import { type LocalStore, startLocal } from '../../local/start.ts';
import type { ReplacedStorage } from '../../local/storage.ts';
import { type StorageProblem, StorageUnavailableError } from '../../shared/base/ports/storage-unavailable.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { type ClientAnswer, createClient, type HttpClient } from './support/client.ts';

const YAML = `
auth_enabled: false
limits_config: {deletion_mode: filter-and-delete}
logboom: {query_workers: 0}
`;
const { config } = parseConfig(YAML, { name: 'test', environment: {} });
const GIB = 1024 ** 3;

/** Failure: none; none yet, but there is no space; all writes. With the reported problem. */
let failing: { readonly what: 'nothing' | 'space' | 'all'; readonly how: StorageProblem };
let dataDir: string;
let store: LocalStore;
let client: HttpClient;

/** A quota, if writes fail: there is space to see. */
const disk: DiskPort = {
  space: async () => ({ freeBytes: failing.what === 'space' ? 0 : GIB, totalBytes: 100 * GIB }),
  hasReserve: async () => true,
  async writeReserve() {
    if (failing.what !== 'nothing') throw new StorageUnavailableError(failing.how);
  },
  removeReserve: async () => undefined,
};

function refuse(): void {
  if (failing.what === 'all') throw new StorageUnavailableError(failing.how);
}

const replaced: ReplacedStorage = {
  disk,
  table: table => ({
    ...table,
    async put(item, condition) {
      refuse();
      return table.put(item, condition);
    },
    async transact(writes) {
      refuse();
      return table.transact(writes);
    },
  }),
};

beforeEach(async () => {
  failing = { what: 'nothing', how: 'full' };
  dataDir = await mkdtemp(join(tmpdir(), 'logboom-unwritable-'));
  await start();
});
afterEach(async () => {
  await stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  store = await startLocal({
    config,
    storage: { kind: 'embedded', dataDir },
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    replaced,
  });
  client = createClient(store.url);
}

async function stop(): Promise<void> {
  client.close();
  await store.stop();
}

let pushed = 0;
function push(lines: number): Promise<ClientAnswer> {
  const values = Array.from({ length: lines }, () => [
    `${Date.now()}000000`,
    `line ${pushed++} ${randomUUID()}`,
  ]);
  return client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
  });
}

const found = async () =>
  (await findEntries(client, { query: '{app="a"}', limit: '5000', since: '1h' })).length;
const ready = () => client.send({ path: '/ready' });
const askDelete = () =>
  client.send({
    method: 'POST',
    path: '/loki/api/v1/delete',
    query: { query: '{app="a"} |= "nothing"', start: String(Math.floor(Date.now() / 1000) - 3_600) },
  });

/** The store tries the disk every few seconds. */
const untilReady = () => until(async () => (await ready()).status === 200);

const PROBLEMS: readonly (readonly [StorageProblem, RegExp])[] = [
  ['full', /^the disk of the store is full: /],
  ['read-only', /^the disk of the store is read-only: /],
];
test.each(PROBLEMS)(
  'if writes fail with %s, clients get the reason, queries work, and the store recovers',
  async (how, message) => {
    expect((await push(500)).status).toBe(204);
    failing = { what: 'all', how };
    // The first push detects it, and the next ones are refused immediately.
    for (let i = 0; i < 3; i++) {
      const { status, text } = await push(i === 1 ? 500 : 1);
      expect([status, text]).toEqual([503, expect.stringMatching(message)]);
    }
    expect(await ready()).toMatchObject({ status: 503, text: expect.stringMatching(message) });
    expect(await askDelete()).toMatchObject({ status: 503, text: expect.stringMatching(message) });
    const rules = await client.send({
      method: 'POST',
      path: '/loki/api/v1/rules/ns',
      body: '{name: g, rules: []}',
    });
    expect(rules).toMatchObject({ status: 503, text: expect.stringMatching(message) });
    expect(await found()).toBe(500);
    failing = { what: 'nothing', how };
    await untilReady();
    expect((await push(1)).status).toBe(204);
    expect(await found()).toBe(501);
  },
);

test('no space for entries, and some in reserve: delete requests are accepted', async () => {
  expect((await push(500)).status).toBe(204);
  failing = { what: 'space', how: 'full' };
  await until(async () => (await ready()).status !== 200);
  // Small enough for the table alone. It is refused nevertheless, because the space is reserved for deletes.
  expect((await push(1)).status).toBe(503);
  expect((await askDelete()).status).toBe(204);
  expect(await found()).toBe(500);
});

test('a disk that breaks: the push fails with the reason, and the next one may go through', async () => {
  failing = { what: 'all', how: 'failing' };
  expect(await push(1)).toMatchObject({
    status: 503,
    text: expect.stringMatching(/^the disk of the store failed/),
  });
  expect((await ready()).status).toBe(200);
  failing = { what: 'nothing', how: 'failing' };
  expect((await push(1)).status).toBe(204);
  expect(await found()).toBe(1);
});

test('a store that cannot be written when it starts answers queries, and pushes later', async () => {
  expect((await push(500)).status).toBe(204);
  await stop();
  failing = { what: 'all', how: 'full' };
  await start();
  expect((await push(1)).status).toBe(503);
  expect(await found()).toBe(500);
  failing = { what: 'nothing', how: 'full' };
  await untilReady();
  expect((await push(1)).status).toBe(204);
});
