import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Item } from '../../shared/base/ports/table.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { tableContract } from '../ports/table.contract.ts';
import { newTableDirectory, tablesOfAFile } from '../support/tables-of-a-file.ts';

tableContract('sqlite', tablesOfAFile(openSqliteTable));

describe('the SQLite table', () => {
  let directory: string;
  let file: string;
  beforeEach(async () => {
    directory = await newTableDirectory();
    file = path.join(directory, 'new/place/table.db');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const itemOf = (sk: string, version = 1, body: Uint8Array = Buffer.from(sk)): Item => ({
    pk: 'p',
    sk,
    version,
    body,
  });

  test('the log is not cut and extended again at each checkpoint', async () => {
    const table = await openSqliteTable(file);
    const sizes: number[] = [];
    for (let i = 0; i < 100; i++) {
      await table.put(itemOf(`${i}`, 1, Buffer.alloc(10_000, i)));
      sizes.push((await stat(`${file}-wal`)).size);
    }
    await table.close();
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    // Far below what the puts wrote, so there were checkpoints.
    expect(sizes.at(-1)).toBeLessThan(500_000);
  });

  test('stores an empty body that arrived from another thread', async () => {
    const table = await openSqliteTable(file);
    const item = itemOf('a', 1, structuredClone(new Uint8Array(0)));
    await table.put(item);
    await table.transact([{ kind: 'put', item: { ...item, sk: 'b' } }]);
    expect((await table.get({ pk: 'p', sk: 'a' }))?.body).toHaveLength(0);
    expect((await table.get({ pk: 'p', sk: 'b' }))?.body).toHaveLength(0);
    await table.close();
  });

  test('items survive closing and opening', async () => {
    const before = await openSqliteTable(file);
    await before.put({ ...itemOf('a'), expiresAt: 4_000_000_000 });
    await before.close();
    const after = await openSqliteTable(file);
    const { body, ...rest } = (await after.get({ pk: 'p', sk: 'a' }))!;
    expect([rest, String(Buffer.from(body))]).toEqual([
      { pk: 'p', sk: 'a', version: 1, expiresAt: 4_000_000_000 },
      'a',
    ]);
    await after.close();
  });

  test('close waits for the writes under way, and refuses later ones; twice is fine', async () => {
    const table = await openSqliteTable(file);
    const writes = Array.from({ length: 1200 }, (_, i) => table.put(itemOf(`k${i}`)));
    await table.close();
    await Promise.all(writes);
    await table.close();
    await expect(table.put(itemOf('late'))).rejects.toThrow('the catalog is closed');
    const again = await openSqliteTable(file);
    expect((await again.query('p')).items).toHaveLength(1000);
    await again.close();
  });

  test('a file of a newer program is refused and left alone', async () => {
    await (await openSqliteTable(file)).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    await expect(openSqliteTable(file)).rejects.toThrow(
      'has schema version 99, this program supports up to 1; upgrade Logboom',
    );
    const reopened = new DatabaseSync(file);
    expect(reopened.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
    reopened.close();
  });

  test('refuses a file that is not a database', async () => {
    const other = path.join(directory, 'notes.txt');
    await writeFile(other, 'not a database, but long enough to look at it twice'.repeat(100));
    await expect(openSqliteTable(other)).rejects.toThrow(`cannot open the catalog ${other}`);
  });

  test('the file is in write-ahead mode, so that readers never wait', async () => {
    const table = await openSqliteTable(file);
    await table.put(itemOf('a'));
    const database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
    await table.close();
  });

  test('the log does not grow with the number of writes', async () => {
    const table = await openSqliteTable(file);
    const body = new Uint8Array(100_000);
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => table.put(itemOf(`k${i}`, round, body))));
    }
    // 80 MB were written.
    expect((await stat(`${file}-wal`)).size).toBeLessThan(20 * 1024 * 1024);
    await table.close();
  });

  test('a deleted body leaves no trace in the file once the table is closed', async () => {
    const table = await openSqliteTable(file);
    const secret = Buffer.from('remember-the-cant-'.repeat(500));
    await table.put(itemOf('a', 1, secret));
    await table.delete({ pk: 'p', sk: 'a' });
    await table.close();
    expect((await readFile(file)).includes('remember-the-cant')).toBe(false);
  });

  test('a sweep deletes expired items, oldest first, in bounded batches', async () => {
    const clock = virtualClock(1_000_000);
    const table = await openSqliteTable(file, { clock });
    for (let i = 0; i < 10; i++) await table.put({ ...itemOf(`e${i}`), expiresAt: 1001 + i });
    await table.put(itemOf('stays'));
    await clock.advance(6_999);
    expect(await table.sweep(4)).toBe(4);
    expect(await table.sweep()).toBe(2);
    expect(await table.sweep()).toBe(0);
    const left = new DatabaseSync(file).prepare('SELECT sk FROM items ORDER BY sk').all();
    expect(left.map(row => row.sk)).toEqual(['e6', 'e7', 'e8', 'e9', 'stays']);
    await expect(table.sweep(0)).rejects.toThrow(RangeError);
    await table.close();
  });

  test('pages are cut as the model cuts them', async () => {
    const clock = virtualClock();
    const sqlite = await openSqliteTable(file, { clock });
    const memory = memoryTable({ clock });
    const expiresAt = clock.nowMs() / 1000 + 1;
    for (let i = 0; i < 60; i++) {
      const item = itemOf(`k${String(i).padStart(3, '0')}`, i, new Uint8Array((i % 7) * 20_000));
      const stored = i % 5 < 3 ? { ...item, expiresAt } : item;
      await Promise.all([sqlite.put(stored), memory.put(stored)]);
    }
    await clock.advance(1000);
    for (const reverse of [false, true]) {
      for (const limit of [2, 7, undefined]) {
        let after: string | undefined;
        do {
          const [a, b] = [
            await sqlite.query('p', { limit, reverse, after }),
            await memory.query('p', { limit, reverse, after }),
          ];
          expect(a.items.map(item => item.sk)).toEqual(b.items.map(item => item.sk));
          // The model reports that there may be more where SQLite has checked.
          if (a.next !== undefined) expect(b.next).toBe(a.next);
          after = b.next;
        } while (after !== undefined);
      }
    }
    await sqlite.close();
  });

  test('a write waits for another process, and reads do not', async () => {
    const table = await openSqliteTable(file);
    await table.put(itemOf('a'));
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE; UPDATE items SET version = 7 WHERE sk = 'a'");
    const write = table.put(itemOf('a', 8), { kind: 'version', version: 7 });
    expect((await table.get({ pk: 'p', sk: 'a' }))?.version).toBe(1);
    other.exec('COMMIT');
    await write;
    expect((await table.get({ pk: 'p', sk: 'a' }))?.version).toBe(8);
    other.close();
    await table.close();
  });

  test('a full database fails the write and keeps its content', async () => {
    const table = await openSqliteTable(file);
    await table.put(itemOf('a'));
    const other = new DatabaseSync(file);
    // Simulates a full disk: a trigger that fails inside the transaction.
    other.exec(
      "CREATE TRIGGER full BEFORE INSERT ON items WHEN NEW.sk = 'x' BEGIN SELECT RAISE(ABORT, 'disk full'); END",
    );
    other.close();
    const writes = await Promise.allSettled([
      table.put(itemOf('b')),
      table.put(itemOf('x')),
      table.put(itemOf('c')),
    ]);
    expect(writes.map(write => write.status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(String((writes[0] as PromiseRejectedResult).reason)).toMatch(
      /write to the catalog failed: .*disk full/,
    );
    expect((await table.query('p')).items.map(item => item.sk)).toEqual(['a']);
    await table.put(itemOf('d'));
    expect((await table.query('p')).items.map(item => item.sk)).toEqual(['a', 'd']);
    await table.close();
  });

  test('too many waiting writes are refused, not collected', async () => {
    const table = await openSqliteTable(file);
    const writes = Array.from({ length: 20_001 }, (_, i) => table.put(itemOf(`k${i % 10}`)));
    await expect(writes.at(-1)).rejects.toThrow(ThrottledError);
    await Promise.all(writes.slice(0, -1));
    await table.close();
  });
});
