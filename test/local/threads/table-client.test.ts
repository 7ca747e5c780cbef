/** The table of files with its commits in a separate thread. */
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqliteTable, type SqliteTable } from '../../../local/sqlite-table.ts';
import { openThreadTable } from '../../../local/threads/table-client.ts';
import type { Item } from '../../../shared/base/ports/table.ts';
import { tableContract } from '../../ports/table.contract.ts';
import { newTableDirectory, tablesOfAFile } from '../../support/tables-of-a-file.ts';

tableContract('sqlite, committed in a thread', tablesOfAFile(openThreadTable), { rounds: 20 });

let directory: string;
let file: string;
let table: SqliteTable;
beforeEach(async () => {
  directory = await newTableDirectory();
  file = path.join(directory, 'new/place/table.db');
  table = await openThreadTable(file);
});
afterEach(async () => {
  await table.close();
  await rm(directory, { recursive: true });
});

const itemOf = (sk: string, body: Uint8Array = Buffer.from(sk)): Item => ({ pk: 'p', sk, version: 1, body });
const textOf = async (sk: string) => String(Buffer.from((await table.get({ pk: 'p', sk }))!.body));

test('a resolved write is readable immediately, also by another process and after a restart', async () => {
  const large = Buffer.alloc(300_000, 'x');
  const writes = Array.from({ length: 50 }, (_, i) =>
    table.put(itemOf(`k${i}`, i === 7 ? large : undefined)),
  );
  await Promise.all(writes);
  // The caller's own is not moved away.
  expect(large.length).toBe(300_000);
  expect((await table.query('p')).items).toHaveLength(50);
  expect(await textOf('k7')).toBe(String(large));
  const other = await openSqliteTable(file);
  expect((await other.query('p')).items).toHaveLength(50);
  await other.close();
  await table.close();
  table = await openThreadTable(file);
  expect(await textOf('k49')).toBe('k49');
});

test('until its thread has started the caller commits, and its writes are there later', async () => {
  const own = path.join(directory, 'later.db');
  // A thread that ends immediately, so that its write fails.
  const entry = new URL('data:text/javascript,process.exit(0)');
  const later = await openThreadTable(own, { startsLater: true, entry });
  await later.put(itemOf('first'));
  later.startThread();
  await expect(later.put(itemOf('second'))).rejects.toThrow('restarted while it processed the request');
  await later.close();
  await expect(later.put(itemOf('late'))).rejects.toThrow('the catalog is closed');
  const again = await openThreadTable(own, { startsLater: true });
  expect(String(Buffer.from((await again.get({ pk: 'p', sk: 'first' }))!.body))).toBe('first');
  await again.close();
});

test('closing waits for running calls, and refuses new ones', async () => {
  const last = table.put(itemOf('last'));
  const closing = table.close();
  await expect(table.put(itemOf('late'))).rejects.toThrow('the catalog is closed');
  await Promise.all([last, closing]);
  table = await openThreadTable(file);
  expect(await textOf('last')).toBe('last');
  expect(await table.get({ pk: 'p', sk: 'late' })).toBeUndefined();
});

test('it sweeps, folds and checks as without the thread', async () => {
  await table.put({ ...itemOf('old'), expiresAt: 1 });
  await table.put(itemOf('new'));
  expect(await table.sweep()).toBe(1);
  expect(await table.fold()).toBe(true);
  expect(await table.check(true)).toEqual([]);
  expect((await table.query('p')).items).toHaveLength(1);
});

test('a thread that ends takes its writes with it, and the next ones have another', async () => {
  const ending = new URL('./ending-table-thread.mjs', import.meta.url);
  const own = path.join(directory, 'own.db');
  const fragile = await openThreadTable(own, { entry: ending });
  await fragile.put(itemOf('a'));
  await expect(fragile.put(itemOf('end'))).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('was restarted while it processed the request'),
    cause: { message: 'the thread table ended with code 3' },
  });
  await fragile.put(itemOf('b'));
  expect((await fragile.query('p')).items.map(({ sk }) => sk)).toEqual(['a', 'b']);
  await fragile.close();
});

test('reports a file that is not a table when it is opened', async () => {
  const broken = path.join(directory, 'broken.db');
  await writeFile(broken, 'this is no database, and long enough to be told from an empty one'.repeat(100));
  await expect(openThreadTable(broken)).rejects.toMatchObject({
    name: 'CorruptionError',
    message: expect.stringContaining('cannot open the catalog'),
  });
});
