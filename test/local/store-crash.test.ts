/**
 * Kills a writing process (SIGKILL) and looks at what it left. This shows that nothing acknowledged waits in the
 * memory of the process and that no name shows half an object; it cannot show what power loss does.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { bySuite } from '../support/suite.ts';
import { bodyOf } from './store-crash-body.ts';

const ROUNDS = bySuite({ fast: 3, full: 6 });
const CHILD = path.join(import.meta.dirname, 'store-crash-child.ts');

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'logboom-crash-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** The lines that a child printed until it was killed: after at least `lines` of them, and one of each kind. */
async function killedAfter(lines: number, round: number): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, directory, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise(resolve => child.once('exit', (code, signal) => resolve(signal ?? code)));
  const acknowledged: string[] = [];
  const kinds = new Set<string>();
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line);
    kinds.add(line.split(' ')[0]);
    if (acknowledged.length >= lines && kinds.size === 2) child.kill('SIGKILL');
  }
  expect(await ended).toBe('SIGKILL');
  return acknowledged;
}

/** Every visible object is whole; resolves to their keys. */
async function checkObjects(store: ObjectStore): Promise<Set<string>> {
  const keys = new Set<string>();
  let after: string | undefined;
  do {
    const page = await store.list('', { after });
    for (const { key } of page.objects) {
      if (!(await store.get(key)).equals(bodyOf(key))) throw new Error(`${key} is not whole`);
      keys.add(key);
    }
    after = page.next;
  } while (after !== undefined);
  return keys;
}

/** Every transaction is there as a whole; resolves to their sort keys without the side. */
async function checkItems(table: Table, pk: string): Promise<Set<string>> {
  const sides = new Map<string, number>();
  let after: string | undefined;
  do {
    const page = await table.query(pk, { after });
    for (const { sk, body } of page.items) {
      const name = sk.replace(/-(left|right)$/, '');
      if (!bodyOf(name).equals(body)) throw new Error(`${sk} is not whole`);
      sides.set(name, (sides.get(name) ?? 0) + 1);
    }
    after = page.next;
  } while (after !== undefined);
  expect([...sides.values()].every(count => count === 2)).toBe(true);
  return new Set(sides.keys());
}

test('acknowledged data of a killed process is complete, and nothing is there in part', async () => {
  const acknowledged: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    acknowledged.push(...(await killedAfter(20 + round * 37, round)));
    const store = await openFileObjectStore(path.join(directory, 'objects'));
    const table = await openSqliteTable(path.join(directory, 'table.db'));
    const keys = await checkObjects(store);
    const items = new Set<string>();
    for (let past = 0; past <= round; past++) {
      for (const sk of await checkItems(table, `round-${past}`)) items.add(`round-${past} ${sk}`);
    }
    await table.close();
    const found = (line: string): boolean =>
      line.startsWith('object ')
        ? keys.has(line.slice('object '.length))
        : items.has(line.slice('item '.length));
    expect(acknowledged.filter(line => !found(line))).toEqual([]);
  }
  expect(acknowledged.some(line => line.startsWith('object '))).toBe(true);
  expect(acknowledged.some(line => line.startsWith('item '))).toBe(true);
});
