/** `logboom doctor` as a person runs it, on a store on disk. */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../local/storage.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { batch } from '../integrity/world.ts';
import { pushOf } from '../support/pushes.ts';
import { logboom } from './run-command.ts';

let dataDir: string;
let objects: string[];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'logboom-doctor-'));
  const { store, table, close } = await openStorage({ kind: 'embedded', dataDir });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 300, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  for (const name of ['one', 'two']) await committer.commit('t', pushOf(batch(name, 40)));
  await committer.commit('t', pushOf(batch('inline', 1)));
  await close();
  objects = readdirSync(join(dataDir, 'objects'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const doctor = (...args: string[]) => logboom(['doctor', '--data-dir', dataDir, ...args]);

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes[offset] ^= 0x10;
  writeFileSync(path, bytes);
}

describe('logboom doctor', () => {
  test('prints totals of a sound store and exits with 0', async () => {
    const { code, stdout, stderr } = await doctor();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^1 tenant, 1 day, 3 chunks \(1 inline\), 81 entries, .*: every checksum verified\n2 objects, .*\nsound\n$/,
    );
    const { check, problems } = JSON.parse((await doctor('--json')).stdout);
    expect(problems).toEqual([]);
    expect(check).toMatchObject({ chunks: 3, rows: 81, objects: 2, orphans: 0, problems: 0 });
  });

  test('reports a flipped byte and a truncated object with its path and the action, and exits with 1', async () => {
    flip(objects[0], 5);
    truncateSync(objects[1], 100);
    const { code, stdout } = await doctor();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^corrupt {2}t\/chunks\/20000\/0\/[0-9a-f]{32}\n.*checksum.*\n {4}fix: restore it/m,
    );
    expect(stdout).toMatch(
      /^mismatch {2}t\/chunks\/20000\/0\/[0-9a-f]{32}\n {4}object has 100 bytes, its record says/m,
    );
    expect(stdout).toMatch(/\n2 problems\n$/);
    const quick = await doctor('--quick', '--json');
    expect(quick.code).toBe(1);
    expect(JSON.parse(quick.stdout).problems).toMatchObject([{ kind: 'mismatch', toDo: expect.any(String) }]);
  });

  test('reports a deleted object', async () => {
    rmSync(objects[0]);
    const { code, stdout } = await doctor();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^missing-object {2}t\/chunks\/20000\/0\//m);
  });

  test('reports a damaged catalog and rebuilds it', async () => {
    const file = join(dataDir, 'catalog.sqlite');
    writeFileSync(
      file,
      'no database at all, but as long as a header of SQLite, which has 100 bytes. '.repeat(100),
    );
    const damaged = await doctor();
    expect(damaged.code).toBe(1);
    expect(damaged.stdout).toMatch(/^catalog {2}\S+catalog\.sqlite\n.*file is not a database\n {4}fix: stop/);
    const refused = await doctor('--rebuild-catalog');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('move it and its -wal and -shm files away');

    renameSync(file, `${file}.damaged`);
    const missing = await doctor();
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('run with --rebuild-catalog'),
    ]);
    const recent = await doctor('--rebuild-catalog');
    expect([recent.code, recent.stdout]).toEqual([
      0,
      expect.stringContaining('objects younger than 20 minutes, which may belong to pushes in progress: 2'),
    ]);
    const rebuilt = await doctor('--rebuild-catalog', '--stopped');
    expect(rebuilt).toMatchObject({ code: 0, stderr: '' });
    expect(rebuilt.stdout).toContain('1 day: 2 records added, 0 kept');
    expect(rebuilt.stdout).toContain('Small pushes');
    const again = JSON.parse((await doctor('--rebuild-catalog', '--stopped', '--json')).stdout);
    expect(again.rebuild).toMatchObject({ added: 0, kept: 2 });
    // The inline chunk is gone with the catalog.
    expect((await doctor()).stdout).toMatch(/2 chunks \(0 inline\), 80 entries/);
  });

  test.each([
    [['--config', '/nowhere.yaml'], 'file not found: /nowhere.yaml'],
    [['--storage', 's3'], 'needs a bucket and a table'],
  ])('exits with 2 if %j cannot run', async (args, message) => {
    const { code, stdout, stderr } = await doctor(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('checks a machine without a store, and reports that there is none', async () => {
    const { code, stdout, stderr } = await doctor('--data-dir', '/nowhere/at/all');
    expect(code).toBe(2);
    expect(stderr).toBe(
      'logboom: no store in /nowhere/at/all; run logboom start --data-dir /nowhere/at/all to create one\n',
    );
    const found = stdout.trimEnd().split('\n');
    expect(found.map(line => line.split(/ +/)[1])).toEqual([
      ...['runtime', 'folder', 'disk', 'memory', 'clock', 'port'],
    ]);
  });
});
