/**
 * The store on one machine after the loss of its catalog: it refuses to start, the doctor names the reason, and
 * either remedy works.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type LocalStore, startLocal } from '../../local/start.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { LostCatalogError } from '../../shared/upkeep/integrity/lost-catalog.ts';
import { logboom } from '../bin/run-command.ts';
import { findEntries } from './support/ask.ts';
import { createClient } from './support/client.ts';

const YAML = 'auth_enabled: false\nlimits_config: {reject_old_samples: false}\n';
const { config } = parseConfig(YAML, { name: 'test', environment: {} });

let dataDir: string;
let catalog: string;
let store: LocalStore | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'logboom-lost-'));
  catalog = join(dataDir, 'catalog.sqlite');
});
afterEach(async () => {
  await stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(beginAnew = false): Promise<void> {
  store = await startLocal({
    config,
    storage: { kind: 'embedded', dataDir },
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    beginAnew,
  });
}

async function stop(): Promise<void> {
  await store?.stop();
  store = undefined;
}

/** Lines with few repetitions, so that those of a large push are an object. */
async function push(lines: number): Promise<void> {
  const values = Array.from({ length: lines }, (_, i) => [
    `${Date.now() - i}000000`,
    `${randomUUID()} of ${i}`,
  ]);
  const answer = await fetch(`${store!.url}/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
  });
  expect(answer.status).toBe(204);
}

async function found(): Promise<number> {
  const client = createClient(store!.url);
  try {
    return (await findEntries(client, { query: '{app="a"}', limit: '5000', since: '1h' })).length;
  } finally {
    client.close();
  }
}

const losses: readonly (readonly [string, () => void])[] = [
  ['deleted', () => rmSync(catalog)],
  ['truncated to nothing', () => truncateSync(catalog)],
];

test.each(losses)(
  'a store with a catalog that was %s does not start, and its chunks can be recovered',
  async (_, lose) => {
    await start();
    await push(2_000);
    await stop();
    lose();
    await expect(start()).rejects.toThrow(LostCatalogError);
    const { code, stdout } = await logboom(['doctor', '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^lost-records {2}catalog\n {4}new or empty/m);
    expect(stdout).not.toMatch(/sound|every checksum/);
    const cli = await logboom(['start', '--data-dir', dataDir, '--port', '0']);
    expect(cli.code).toBe(1);
    expect(cli.stderr).toMatch(/^logboom: the catalog is new or empty.*--rebuild-catalog.*--begin-anew/m);
    expect(cli.stderr).not.toMatch(/^ +at /m);
    expect((await logboom(['doctor', '--data-dir', dataDir, '--rebuild-catalog', '--stopped'])).code).toBe(0);
    await start();
    expect(await found()).toBe(2_000);
  },
);

test('a store of small pushes, whose entries lay in the catalog alone, is refused as well', async () => {
  await start();
  await push(1);
  await stop();
  renameSync(catalog, `${catalog}.lost`);
  await expect(start()).rejects.toThrow(LostCatalogError);
  await start(true);
  expect(await found()).toBe(0);
  await push(1);
  await stop();
  await start();
  expect(await found()).toBe(1);
});

test('half of a catalog is refused as damaged', async () => {
  await start();
  await push(2_000);
  await stop();
  truncateSync(catalog, 8192);
  await expect(start()).rejects.toThrow(/malformed|damaged|not a database/);
  const { code, stdout } = await logboom(['doctor', '--data-dir', dataDir]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^catalog {2}/m);
  expect(stdout).not.toMatch(/sound|every checksum/);
});
