/** `logboom tenant move` as a person runs it, on a store on disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openStorage } from '../../local/storage.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { batch } from '../integrity/world.ts';
import { pushOf } from '../support/pushes.ts';
import { logboom } from './run-command.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'logboom-tenant-'));
const move = (...args: string[]) => logboom(['tenant', 'move', ...args]);

beforeAll(async () => {
  const { store, table, close } = await openStorage({ kind: 'embedded', dataDir });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 300, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  await committer.commit('fake', pushOf(batch('one', 40)));
  await committer.commit('fake', pushOf(batch('inline', 1)));
  const nowMs = SYSTEM_CLOCK.nowMs();
  const times = { registeredMs: nowMs, heartbeatMs: nowMs };
  await catalog.members.put({
    id: 'a',
    state: 'ACTIVE',
    address: 'here:3100',
    zone: '',
    components: [],
    ...times,
  });
  await close();
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('tenant move is refused while the store is in use', async () => {
  const { code, stdout, stderr } = await move('fake', 'home', '--data-dir', dataDir);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^logboom: the store is in use by here:3100: stop them first/);
});

test('tenant move reports what it moved', async () => {
  const { code, stdout, stderr } = await move('fake', 'home', '--data-dir', dataDir, '--stopped');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^fake is now home\n2 chunks \(1 inline\) of 1 day, 41 entries, \d+ bytes of objects\ndelete requests: 0, /,
  );
});

test('tenant move does not create a store in an empty folder', async () => {
  const { code, stderr } = await move('fake', 'home', '--data-dir', join(dataDir, 'nowhere'));
  expect([code, stderr]).toEqual([1, `logboom: no store in ${join(dataDir, 'nowhere')}; set --data-dir\n`]);
});
