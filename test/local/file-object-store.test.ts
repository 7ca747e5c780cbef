import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { objectStoreContract } from '../ports/object-store.contract.ts';

const newRoot = (): Promise<string> => mkdtemp(path.join(tmpdir(), 'logboom-objects-'));

objectStoreContract('files', async () => {
  const root = await newRoot();
  return {
    store: await openFileObjectStore(root),
    another: () => openFileObjectStore(root),
    close: () => rm(root, { recursive: true }),
  };
});

describe('files of the object store', () => {
  let root: string;
  beforeEach(async () => {
    root = await newRoot();
  });
  afterEach(() => rm(root, { recursive: true }));

  test('nothing but objects is left behind, and no file outside the root', async () => {
    const store = await openFileObjectStore(path.join(root, 'deep/er/store'));
    const bodies = Array.from({ length: 40 }, (_, i) =>
      store.putIfAbsent(`Tenant*/${i % 30}`, randomBytes(100)),
    );
    await Promise.all(bodies);
    expect(await readdir(root)).toEqual(['deep']);
    expect((await readdir(path.join(root, 'deep/er/store'))).sort()).toEqual(['objects', 'temporary']);
    expect(await readdir(path.join(root, 'deep/er/store/temporary'))).toEqual([]);
    expect(await readdir(path.join(root, 'deep/er/store/objects'))).toEqual(['%54enant%2a']);
  });

  test('a writer leaves no temporary file, stored or not', async () => {
    const store = await openFileObjectStore(root);
    const temporary = path.join(root, 'temporary');
    for (const size of [100, 3_000_000]) {
      for (const key of ['t/a', 't/b', undefined]) {
        const writer = store.writer!();
        await writer.write(randomBytes(size));
        expect(await readdir(temporary)).toHaveLength(size > 100 ? 1 : 0);
        if (key !== undefined) await writer.put(`${key}-${size}`);
        await writer.discard();
        expect(await readdir(temporary)).toEqual([]);
      }
    }
  });

  test('a writer frees the parts that are in its file', async () => {
    const store = await openFileObjectStore(root);
    const parts = Array.from({ length: 40 }, () => new Uint8Array(300_000));
    const writer = store.writer!();
    for (const [i, part] of parts.entries()) {
      await writer.write(part);
      const held = parts.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0);
      expect(held).toBeLessThan(1024 * 1024);
    }
    await writer.put('t/a');
    await writer.discard();
    expect(await store.head('t/a')).toEqual({ key: 't/a', size: 12_000_000 });
  });

  test('directories go with their last object', async () => {
    const store = await openFileObjectStore(root);
    for (const key of ['t/day/a', 't/day/b', 't/x']) await store.putIfAbsent(key, Buffer.from(key));
    await store.delete('t/day/a');
    await store.delete('t/day/b');
    expect(await readdir(path.join(root, 'objects/t'))).toEqual(['x=']);
    await store.delete('t/x');
    expect(await readdir(path.join(root, 'objects'))).toEqual([]);
  });

  test('leftovers of a crash are removed at the next start: only old ones, only our own', async () => {
    const temporary = path.join(root, 'temporary');
    await mkdir(temporary);
    const old = `put-${'0'.repeat(24)}`;
    const young = `put-${'1'.repeat(24)}`;
    const foreign = 'notes.txt';
    for (const name of [old, young, foreign]) await writeFile(path.join(temporary, name), 'half an ob');
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const name of [old, foreign]) await utimes(path.join(temporary, name), hourAgo, hourAgo);
    await openFileObjectStore(root);
    expect((await readdir(temporary)).sort()).toEqual([foreign, young]);
  });

  test('files that the store did not make are not listed', async () => {
    const store = await openFileObjectStore(root);
    await store.putIfAbsent('a/b', Buffer.from('x'));
    for (const name of ['.DS_Store', 'lost+found', 'UPPER=', 'a%2=', 'plain', '%61=']) {
      await writeFile(path.join(root, 'objects', name), 'x');
    }
    expect((await store.list('')).objects).toEqual([{ key: 'a/b', size: 1 }]);
  });

  test('a directory with more names than one slice is listed whole', async () => {
    const store = await openFileObjectStore(root);
    await store.putIfAbsent('d/first', Buffer.from('x'));
    const names = Array.from({ length: 9000 }, (_, i) => String((i * 7919) % 9000).padStart(4, '0'));
    for (const name of names) await writeFile(path.join(root, 'objects/d', `${name}=`), '');
    const keys: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.list('d/', { after });
      keys.push(...page.objects.map(object => object.key));
      after = page.next;
    } while (after !== undefined);
    expect(keys).toEqual([...names.toSorted().map(name => `d/${name}`), 'd/first']);
  });

  test('accepts hundreds of concurrent puts', async () => {
    const store = await openFileObjectStore(root);
    const keys = Array.from({ length: 400 }, (_, i) => `t/${i % 7}/${i}`);
    const puts = await Promise.all(keys.map(key => store.putIfAbsent(key, Buffer.from(key))));
    expect(puts.every(Boolean)).toBe(true);
    const bodies = await Promise.all(keys.map(key => store.get(key)));
    expect(bodies.map(String)).toEqual(keys);
  });
});
