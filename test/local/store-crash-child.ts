/**
 * Writes objects and items forever and prints each one after its write resolved; store-crash.test.ts kills it
 * in the middle. Arguments: the directory of the stores, the number of the round.
 */
import { writeSync } from 'node:fs';
import path from 'node:path';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import { bodyOf } from './store-crash-body.ts';

const [directory, round] = process.argv.slice(2);
const store = await openFileObjectStore(path.join(directory, 'objects'));
const table = await openSqliteTable(path.join(directory, 'table.db'));

const acknowledge = (line: string): void => {
  writeSync(1, line + '\n');
};

async function putObjects(writer: number): Promise<never> {
  for (let i = 0; ; i++) {
    const key = `tenant-${writer % 3}/round-${round}/${Math.floor(i / 5)}/${writer}-${i}`;
    if (!(await store.putIfAbsent(key, bodyOf(key)))) throw new Error(`${key} was taken`);
    acknowledge(`object ${key}`);
  }
}

async function putItems(writer: number): Promise<never> {
  for (let i = 0; ; i++) {
    const pk = `round-${round}`;
    const sk = `${writer}-${i}`;
    await table.transact(
      ['left', 'right'].map(side => ({
        kind: 'put',
        item: { pk, sk: `${sk}-${side}`, version: i, body: bodyOf(sk) },
        condition: { kind: 'absent' },
      })),
    );
    acknowledge(`item ${pk} ${sk}`);
  }
}

await Promise.all([0, 1, 2, 3, 4, 5].flatMap(writer => [putObjects(writer), putItems(writer)]));
