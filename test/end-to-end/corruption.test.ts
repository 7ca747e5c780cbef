/** A store on disk with damaged files: errors that clients get, data that is still served, and repair. */
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startLocal } from '../../local/start.ts';
import { openStorage } from '../../local/storage.ts';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import { rebuildCatalog } from '../../shared/upkeep/integrity/rebuild-catalog.ts';
import { bySuite } from '../support/suite.ts';
import { createClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';

const NOW = BigInt(Date.now()) * 1_000_000n;
const TENANTS = ['first', 'second'];
/** Changes of single bytes of the catalog. Each takes a start of the store. */
const CHANGES = bySuite({ fast: 6, full: 36 });
let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-corruption-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function start(dir: string) {
  const { config } = parseConfig('auth_enabled: true', { name: 'test', environment: {} });
  const storage = { kind: 'embedded', dataDir: dir } as const;
  return startLocal({ config, storage, host: '127.0.0.1', port: 0, logLevel: 'silent' });
}

type Client = ReturnType<typeof createClient>;

async function withStore<T>(dir: string, use: (client: Client) => Promise<T>): Promise<T> {
  const store = await start(dir);
  const client = createClient(store.url);
  try {
    return await use(client);
  } finally {
    client.close();
    await store.stop();
  }
}

/** For each tenant two chunks in objects and one inline. */
function fill(client: Client): Promise<void> {
  return (async () => {
    for (const tenant of TENANTS) {
      for (const [app, rows] of [
        ['a', 400],
        ['b', 400],
        ['small', 1],
      ] as const) {
        const entries = Array.from({ length: rows }, (_, i) => ({
          ns: NOW + BigInt(i),
          line: `${app} ${i} ${Math.imul(i + 1, 0x9e3779b1) >>> 0} ${Math.imul(i + 7, 0x85ebca6b) >>> 0}`,
        }));
        const body = jsonPush([{ labels: { app }, entries }]);
        const headers = { 'x-scope-orgid': tenant, 'content-type': JSON_TYPE };
        const answer = await client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
        expect(answer.status).toBe(204);
      }
    }
  })();
}

interface Streams {
  readonly data: { readonly result: readonly { readonly values: readonly unknown[] }[] };
}

/** Status, and the number of entries or the message. */
async function ask(client: Client, tenant: string, query: string): Promise<[number, number | string]> {
  const headers = { 'x-scope-orgid': tenant };
  const range = { query, start: `${NOW - 1n}`, end: `${NOW + 1000n}`, limit: '5000' };
  const answer = await client.send({ path: '/loki/api/v1/query_range', query: range, headers });
  if (answer.status !== 200) return [answer.status, answer.text];
  const { data } = answer.json() as Streams;
  return [200, data.result.reduce((sum, { values }) => sum + values.length, 0)];
}

async function objectsOf(tenant: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'objects', tenant), { recursive: true, withFileTypes: true });
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
}

async function openParts(dir: string) {
  const storage = await openStorage({ kind: 'embedded', dataDir: dir });
  const catalog = new Catalog({ table: storage.table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  return { ...storage, catalog, clock: SYSTEM_CLOCK };
}

describe('a damaged store on disk', () => {
  test('a damaged object: 500 that names it for queries that need it, all others are answered', async () => {
    await withStore(dataDir, fill);
    const [file] = await objectsOf('first');
    const object = await readFile(file);
    object[10] ^= 1;
    await writeFile(file, object);
    await withStore(dataDir, async client => {
      expect(await ask(client, 'first', '{app="a"}')).toEqual([
        500,
        expect.stringMatching(
          /^stored data is damaged: chunk first\/chunks\/\d+\/0\/[0-9a-f]{32}; run logboom doctor$/,
        ),
      ]);
      expect(await ask(client, 'first', '{app="b"}')).toEqual([200, 400]);
      expect(await ask(client, 'first', '{app="small"}')).toEqual([200, 1]);
      expect(await ask(client, 'second', '{app=~".+"}')).toEqual([200, 801]);
    });
    await rm(file);
    await withStore(dataDir, async client => {
      expect(await ask(client, 'first', '{app="a"}')).toEqual([
        500,
        expect.stringMatching(
          /^stored data is damaged: no object with key first\/chunks\/.*; run logboom doctor$/,
        ),
      ]);
      expect(await ask(client, 'first', '{app="b"}')).toEqual([200, 400]);
    });
  });

  test.each(['damaged', 'missing'])(
    'a %s object: Grafana gets all other entries, with a warning',
    async damage => {
      await withStore(dataDir, fill);
      const [file] = await objectsOf('first');
      const object = await readFile(file);
      object[10] ^= 1;
      await (damage === 'damaged' ? writeFile(file, object) : rm(file));
      await withStore(dataDir, async client => {
        const headers = { 'x-scope-orgid': 'first', 'user-agent': 'Grafana/12.1.0' };
        const range = { query: '{app=~".+"}', start: `${NOW - 1n}`, end: `${NOW + 1000n}`, limit: '5000' };
        const answer = await client.send({ path: '/loki/api/v1/query_range', query: range, headers });
        const { data, warnings } = answer.json() as Streams & { readonly warnings: readonly string[] };
        expect(data.result.reduce((sum, { values }) => sum + values.length, 0)).toBe(401);
        expect(warnings).toEqual([
          expect.stringMatching(
            /^stored data is damaged; the result does not cover [0-9.]+KB of [0-9.]+KB of lines in its range: chunk first\/chunks\/\d+\/0\/[0-9a-f]{32}; run logboom doctor$/,
          ),
        ]);
      });
    },
  );

  test('a catalog that is not a database: a clear error at startup, and a rebuilt one serves all objects', async () => {
    await withStore(dataDir, fill);
    const file = join(dataDir, 'catalog.sqlite');
    await writeFile(file, Buffer.alloc(8192, 'x'));
    await expect(start(dataDir)).rejects.toThrow(CorruptionError);
    await expect(start(dataDir)).rejects.toThrow(
      /^cannot open the catalog .*catalog\.sqlite: .*not a database$/,
    );
    await rename(file, `${file}.damaged`);
    const { close, ...parts } = await openParts(dataDir);
    const options = {
      includeRecent: true,
      forgetMissing: false,
      report: () => expect('a problem').toBe('none'),
    };
    expect(await rebuildCatalog(parts, options)).toMatchObject({ added: 4, unreadable: 0 });
    await close();
    await withStore(dataDir, async client => {
      for (const tenant of TENANTS) expect(await ask(client, tenant, '{app=~".+"}')).toEqual([200, 800]);
    });
  });

  // SQLite has no checksums: a key that is changed in place hides its record. So the promise is weaker here:
  // what the answer does not show, the doctor does.
  test('bytes of the catalog changed by seed: the right answer, an error, or a catalog that the doctor finds damaged', async () => {
    await withStore(dataDir, fill);
    const random = seededRandom(11);
    const outcomes = { right: 0, refused: 0, found: 0 };
    for (let run = 0; run < CHANGES; run++) {
      const dir = join(folder, `run-${run}`);
      await cp(dataDir, dir, { recursive: true });
      const file = join(dir, 'catalog.sqlite');
      const bytes = await readFile(file);
      const isCut = run % 6 === 5;
      const offset = Math.floor(random() * bytes.length);
      bytes[offset] ^= 1 + Math.floor(random() * 255);
      await writeFile(file, isCut ? bytes.subarray(0, offset) : bytes);
      const outcome = await outcomeOf(dir);
      if (outcome === 'wrong') throw new Error(`run ${run}: a wrong answer after a change of byte ${offset}`);
      outcomes[outcome]++;
      await rm(dir, { recursive: true });
    }
    expect(outcomes.refused).toBeGreaterThan(CHANGES / 8);
    expect(outcomes.right).toBeGreaterThan(CHANGES / 8);
  });
});

async function outcomeOf(dir: string): Promise<'right' | 'refused' | 'found' | 'wrong'> {
  let answers: readonly [number, number | string][];
  try {
    answers = await withStore(dir, client =>
      Promise.all(TENANTS.map(tenant => ask(client, tenant, '{app=~".+"}'))),
    );
  } catch (error) {
    // It did not start, or could not be closed: reported as damage of the catalog, by name.
    expect(String(error)).toMatch(/catalog/);
    return 'refused';
  }
  for (const [status, answer] of answers) {
    if (status === 200) continue;
    expect([status, answer]).toEqual([
      500,
      expect.stringMatching(/^stored data is damaged: .*; run logboom doctor$/),
    ]);
    return 'refused';
  }
  if (answers.every(([, entries]) => entries === 801)) return 'right';
  const { close, checkTable, ...parts } = await openParts(dir);
  try {
    const messages = (await checkTable?.(true)) ?? [];
    const { problems } = await checkStore(parts, { full: true, report: () => undefined });
    return messages.length + problems > 0 ? 'found' : 'wrong';
  } finally {
    await close().catch(() => undefined);
  }
}
