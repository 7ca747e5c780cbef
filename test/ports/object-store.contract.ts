/**
 * Requirements of every object store: run on memory, on files, and on S3. Each test uses a separate prefix,
 * so a store may hold other objects.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import { InvalidKeyError, MAX_OBJECT_KEY_BYTES } from '../../shared/base/ports/object-key.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../shared/base/ports/object-store.ts';
import { writerOf } from '../../shared/base/ports/object-writer.ts';

interface ObjectStoreUnderTest {
  readonly store: ObjectStore;
  /** Another store on the same data. Absent if there is none (memory). */
  readonly another?: () => Promise<ObjectStore>;
  readonly close?: () => Promise<void>;
}

interface ObjectStoreContractOptions {
  /** Rounds of the property tests. */
  readonly rounds?: number;
  /** Off for a store that takes ASCII keys alone. */
  readonly nonAsciiKeys?: boolean;
}

export function objectStoreContract(
  name: string,
  open: () => Promise<ObjectStoreUnderTest>,
  { rounds = 50, nonAsciiKeys = true }: ObjectStoreContractOptions = {},
): void {
  describe(`object store contract: ${name}`, () => {
    let underTest: ObjectStoreUnderTest;
    let store: ObjectStore;
    beforeAll(async () => {
      underTest = await open();
      store = underTest.store;
    });
    afterAll(async () => underTest.close?.());

    const newPrefix = (): string => `t${randomBytes(8).toString('hex')}/`;
    const listAll = async (prefix: string, limit?: number): Promise<string[]> => {
      const keys: string[] = [];
      let after: string | undefined;
      for (let page = 0; page < 2000; page++) {
        const { objects, next } = await store.list(prefix, { after, limit });
        if (limit !== undefined) expect(objects.length).toBeLessThanOrEqual(limit);
        keys.push(...objects.map(object => object.key));
        if (next === undefined) return keys;
        after = next;
      }
      throw new Error('the listing does not end');
    };

    test('a put object is there, whole, with its size', async () => {
      const key = newPrefix() + 'a/b.chunk';
      const body = randomBytes(300_000);
      expect(await store.putIfAbsent(key, body)).toBe(true);
      expect((await store.get(key)).equals(body)).toBe(true);
      expect(await store.head(key)).toEqual({ key, size: body.length });
    });

    test.each([
      ['a few bytes', [3, 0, 5]],
      ['no bytes', []],
      ['more than is written at once', [700_000, 1, 0, 900_000, 64]],
    ])('a body in parts is stored in their order: %s', async (_, sizes) => {
      const key = newPrefix() + 'parts';
      const parts = sizes.map(size => randomBytes(size));
      expect(await store.putIfAbsent(key, parts)).toBe(true);
      expect((await store.get(key)).equals(Buffer.concat(parts))).toBe(true);
    });

    test.each([
      ['a few bytes', [3, 0, 5]],
      ['no bytes', []],
      ['more than is written at once', [700_000, 1, 0, 900_000, 64, 1_200_000]],
    ])('an object is written part by part and read back before it is put: %s', async (_, sizes) => {
      const key = newPrefix() + 'written';
      const parts = sizes.map(size => randomBytes(size));
      const whole = Buffer.concat(parts);
      const writer = writerOf(store);
      for (const part of parts) await writer.write(Uint8Array.from(part));
      for (const [start, end] of [
        [0, whole.length],
        [Math.min(2, whole.length), whole.length],
        [whole.length >> 2, whole.length >> 1],
        [whole.length, whole.length],
      ]) {
        const bytes = await writer.read(start, end);
        expect(bytes.equals(whole.subarray(start, end))).toBe(true);
        // The caller owns them.
        bytes.fill(0);
      }
      expect(await store.head(key)).toBeUndefined();
      expect(await writer.put(key)).toBe(true);
      await writer.discard();
      expect((await store.get(key)).equals(whole)).toBe(true);
    });

    test('a part can follow a read', async () => {
      const key = newPrefix() + 'followed';
      const parts = [randomBytes(1_500_000), randomBytes(10), randomBytes(1_500_000)];
      const writer = writerOf(store);
      await writer.write(Uint8Array.from(parts[0]));
      expect(await writer.read(1, 3)).toEqual(parts[0].subarray(1, 3));
      for (const part of parts.slice(1)) await writer.write(Uint8Array.from(part));
      await writer.put(key);
      await writer.discard();
      expect((await store.get(key)).equals(Buffer.concat(parts))).toBe(true);
    });

    test('a writer does not replace an object, and leaves nothing if it is discarded', async () => {
      const prefix = newPrefix();
      const key = prefix + 'taken';
      await store.putIfAbsent(key, Buffer.from('first'));
      for (const size of [10, 1_500_000]) {
        const writer = writerOf(store);
        await writer.write(randomBytes(size));
        expect(await writer.put(key)).toBe(false);
        await writer.discard();
        const discarded = writerOf(store);
        await discarded.write(randomBytes(size));
        await discarded.discard();
      }
      expect(String(await store.get(key))).toBe('first');
      expect(await listAll(prefix)).toEqual([key]);
    });

    test('a taken key is not written again', async () => {
      const key = newPrefix() + 'k';
      expect(await store.putIfAbsent(key, Buffer.from('first'))).toBe(true);
      expect(await store.putIfAbsent(key, Buffer.from('second'))).toBe(false);
      expect(String(await store.get(key))).toBe('first');
    });

    test('exactly one of 20 racing puts wins, and its bytes stay', async () => {
      const key = newPrefix() + 'race';
      const bodies = Array.from({ length: 20 }, (_, i) => Buffer.alloc(10_000, i));
      const won = await Promise.all(bodies.map(body => store.putIfAbsent(key, body)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect((await store.get(key)).equals(bodies[won.indexOf(true)])).toBe(true);
    });

    test('a view into a larger buffer stores its own bytes only', async () => {
      const key = newPrefix() + 'view';
      await store.putIfAbsent(key, Buffer.from('0123456789').subarray(3, 6));
      expect(String(await store.get(key))).toBe('345');
    });

    test('returned bytes belong to the caller', async () => {
      const key = newPrefix() + 'own';
      const body = Buffer.from('abc');
      await store.putIfAbsent(key, body);
      body.fill('x');
      (await store.get(key)).fill('y');
      (await store.getRange(key, 0, 2)).fill('z');
      expect(String(await store.get(key))).toBe('abc');
    });

    test('reads ranges, up to the end of an object', async () => {
      const key = newPrefix() + 'ranges';
      await store.putIfAbsent(key, Buffer.from('0123456789'));
      const table: [number, number, string][] = [
        [0, 10, '0123456789'],
        [0, 1, '0'],
        [3, 7, '3456'],
        [9, 10, '9'],
        [8, 100, '89'],
        [0, Number.MAX_SAFE_INTEGER, '0123456789'],
      ];
      for (const [start, end, want] of table)
        expect(String(await store.getRange(key, start, end))).toBe(want);
      const refused = [
        [10, 11],
        [50, 60],
        [5, 5],
        [6, 5],
        [-1, 5],
        [0.5, 5],
      ];
      for (const [start, end] of refused) {
        await expect(store.getRange(key, start, end)).rejects.toThrow(RangeError);
      }
    });

    test('reads the last bytes of an object, or all of it', async () => {
      const key = newPrefix() + 'tails';
      await store.putIfAbsent(key, Buffer.from('0123456789'));
      const table: [number, string][] = [
        [1, '9'],
        [4, '6789'],
        [10, '0123456789'],
        [1000, '0123456789'],
      ];
      for (const [length, want] of table) {
        const { bytes, size } = await store.getTail(key, length);
        expect([String(bytes), size]).toEqual([want, 10]);
      }
      for (const length of [0, -1, 1.5]) await expect(store.getTail(key, length)).rejects.toThrow(RangeError);
    });

    test('a read that is not wanted any more rejects with the reason, or answers as it would have', async () => {
      const key = newPrefix() + 'unwanted';
      await store.putIfAbsent(key, Buffer.from('0123456789'));
      const reason = new Error('the client disconnected');
      for (const abortedBefore of [true, false]) {
        for (const read of [
          async (signal: AbortSignal) => String(await store.getRange(key, 6, 10, { signal })),
          async (signal: AbortSignal) => String((await store.getTail(key, 4, { signal })).bytes),
        ]) {
          const unwanted = new AbortController();
          if (abortedBefore) unwanted.abort(reason);
          const reading = read(unwanted.signal).catch((error: unknown) => error);
          unwanted.abort(reason);
          const outcome = await reading;
          if (outcome !== reason) expect(outcome).toBe('6789');
        }
      }
      // A signal that aborts later has no effect.
      const late = new AbortController();
      const bytes = await store.getRange(key, 0, 3, { signal: late.signal });
      late.abort(reason);
      expect(String(bytes)).toBe('012');
      expect(String(await store.getRange(key, 0, 3))).toBe('012');
    });

    test('stores and reads an empty object', async () => {
      const key = newPrefix() + 'empty';
      expect(await store.putIfAbsent(key, new Uint8Array(0))).toBe(true);
      expect(await store.get(key)).toHaveLength(0);
      expect(await store.head(key)).toEqual({ key, size: 0 });
      expect(await store.getTail(key, 5)).toEqual({ bytes: Buffer.alloc(0), size: 0 });
      await expect(store.getRange(key, 0, 1)).rejects.toThrow(RangeError);
      expect(await store.putIfAbsent(key, Buffer.from('x'))).toBe(false);
    });

    test('a missing object is reported by each read', async () => {
      const prefix = newPrefix();
      await store.putIfAbsent(prefix + 'a', Buffer.from('x'));
      for (const key of [prefix + 'b', prefix + 'a/b', prefix + 'no/such/place']) {
        await expect(store.get(key)).rejects.toThrow(ObjectNotFoundError);
        await expect(store.getRange(key, 0, 1)).rejects.toThrow(ObjectNotFoundError);
        await expect(store.getTail(key, 1)).rejects.toThrow(ObjectNotFoundError);
        expect(await store.head(key)).toBeUndefined();
        await store.delete(key);
      }
    });

    test('a deleted object is gone, and its key is free', async () => {
      const prefix = newPrefix();
      const key = prefix + 'x/y';
      await store.putIfAbsent(key, Buffer.from('one'));
      await store.delete(key);
      await expect(store.get(key)).rejects.toThrow(ObjectNotFoundError);
      expect(await listAll(prefix)).toEqual([]);
      expect(await store.putIfAbsent(key, Buffer.from('two'))).toBe(true);
      expect(String(await store.get(key))).toBe('two');
    });

    test('loses no put in parallel with deletions of the last neighbor', async () => {
      const prefix = newPrefix();
      const rounds = Array.from({ length: 30 }, async (_, i) => {
        const key = `${prefix}day/${i}`;
        expect(await store.putIfAbsent(key, Buffer.from(key))).toBe(true);
        if (i % 3 !== 0) await store.delete(key);
      });
      await Promise.all(rounds);
      expect(await listAll(prefix)).toHaveLength(10);
    });

    test('a key may have another key as its prefix', async () => {
      const prefix = newPrefix();
      for (const key of ['a', 'a/b', 'a/b/c']) await store.putIfAbsent(prefix + key, Buffer.from(key));
      for (const key of ['a', 'a/b', 'a/b/c']) expect(String(await store.get(prefix + key))).toBe(key);
    });

    test('keys differ in case, and by every character a tenant may have', async () => {
      const prefix = newPrefix();
      const names = [
        'acme',
        'Acme',
        'ACME',
        "a!b-_.*'()",
        'a.',
        '.a',
        '...',
        'a=',
        'a+',
        'a%',
        '%41cme',
        'con',
        'a b',
        '~',
      ];
      for (const name of names)
        expect(await store.putIfAbsent(prefix + name + '/x', Buffer.from(name))).toBe(true);
      for (const name of names) expect(String(await store.get(prefix + name + '/x'))).toBe(name);
      const want = names.map(name => prefix + name + '/x').sort(compareUtf8);
      expect(await listAll(prefix)).toEqual(want);
    });

    test('every call refuses invalid keys', async () => {
      const bad = [
        '',
        '/',
        '/a',
        'a/',
        'a//b',
        '.',
        '..',
        '../a',
        'a/../b',
        'a/./b',
        'a/..',
        'a\u0000b',
        'a\nb',
        '\ud800',
      ];
      bad.push('x'.repeat(MAX_OBJECT_KEY_BYTES + 1));
      const written = writerOf(store);
      await written.write(randomBytes(1_500_000));
      for (const key of bad) {
        await expect(store.putIfAbsent(key, Buffer.from('x'))).rejects.toThrow(InvalidKeyError);
        await expect(written.put(key)).rejects.toThrow(InvalidKeyError);
        await expect(store.get(key)).rejects.toThrow(InvalidKeyError);
        await expect(store.getRange(key, 0, 1)).rejects.toThrow(InvalidKeyError);
        await expect(store.getTail(key, 1)).rejects.toThrow(InvalidKeyError);
        await expect(store.head(key)).rejects.toThrow(InvalidKeyError);
        await expect(store.delete(key)).rejects.toThrow(InvalidKeyError);
      }
      await written.discard();
    });

    test('the longest key works, in one segment or in many', async () => {
      const prefix = newPrefix();
      const one = (prefix + 'A'.repeat(MAX_OBJECT_KEY_BYTES)).slice(0, MAX_OBJECT_KEY_BYTES);
      const many = (prefix + 'b/'.repeat(MAX_OBJECT_KEY_BYTES)).slice(0, MAX_OBJECT_KEY_BYTES - 1) + 'c';
      for (const key of [one, many]) {
        expect(await store.putIfAbsent(key, Buffer.from(key))).toBe(true);
        expect(String(await store.get(key))).toBe(key);
      }
      expect(await listAll(prefix)).toEqual([one, many]);
    });

    test('a listing is ascending by bytes, in pages, after a key, below a prefix', async () => {
      const prefix = newPrefix();
      const names = ['a', 'a-b', 'a/1', 'a/2', 'a/2/z', 'a0', 'a.b', 'aa', 'b/c/d/e', 'b/c/d', 'B', '0'];
      for (const name of names) await store.putIfAbsent(prefix + name, Buffer.from(name));
      const sorted = names.map(name => prefix + name).sort(compareUtf8);
      for (const limit of [1, 2, 3, 5, 1000, undefined]) expect(await listAll(prefix, limit)).toEqual(sorted);
      for (const below of ['a', 'a/', 'a/2', 'b', 'b/', 'b/c/d', 'zz', 'a//', '../', 'b/c/d/e/f/']) {
        expect(await listAll(prefix + below, 2)).toEqual(
          sorted.filter(key => key.startsWith(prefix + below)),
        );
      }
      for (const after of ['', 'a', 'a/', 'a/1', 'a/15', 'a/2/z', 'b/c', 'zz']) {
        const { objects } = await store.list(prefix, { after: prefix + after });
        expect(objects.map(object => object.key)).toEqual(
          sorted.filter(key => compareUtf8(key, prefix + after) > 0),
        );
      }
      const { objects } = await store.list(prefix + 'a/');
      expect(objects.map(object => object.size)).toEqual(['a/1', 'a/2', 'a/2/z'].map(name => name.length));
      for (const limit of [0, -1, 1.5])
        await expect(store.list(prefix, { limit })).rejects.toThrow(RangeError);
    });

    test('a page holds at most 1000 objects', async () => {
      const prefix = newPrefix();
      const keys = Array.from({ length: 1003 }, (_, i) => `${prefix}${String(i).padStart(5, '0')}`);
      await Promise.all(keys.map(key => store.putIfAbsent(key, Buffer.from('x'))));
      const first = await store.list(prefix, { limit: 5000 });
      expect(first.objects.length).toBeLessThanOrEqual(1000);
      expect(first.next).toBeDefined();
      expect(await listAll(prefix)).toEqual(keys);
    });

    test('any keys are listed as a sorted set of them would be', async () => {
      const letters = nonAsciiKeys
        ? ['a', 'B', '-', '.', '~', '%', 'é', '\uffee', '😀']
        : ['a', 'B', '-', '.', '~', '%'];
      const segment = fc.oneof(
        fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 3 }).map(chars => chars.join('')),
        // Around the lengths at which the file store splits a name.
        fc
          .tuple(fc.integer({ min: 78, max: 83 }), fc.constantFrom('', '-', 'b'))
          .map(([n, end]) => 'l'.repeat(n) + end),
      );
      const usable = segment.filter(text => text !== '.' && text !== '..');
      const name = fc.array(usable, { minLength: 1, maxLength: 3 }).map(segments => segments.join('/'));
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(name, { maxLength: 12 }),
          fc.integer({ min: 1, max: 5 }),
          name,
          async (names, limit, cut) => {
            const prefix = newPrefix();
            await Promise.all(names.map(key => store.putIfAbsent(prefix + key, Buffer.from(key))));
            const sorted = names.map(key => prefix + key).sort(compareUtf8);
            expect(await listAll(prefix, limit)).toEqual(sorted);
            // Cuts by code point, because half a surrogate pair is not valid text.
            const below = prefix + [...cut].slice(0, 2).join('');
            expect(await listAll(below, limit)).toEqual(sorted.filter(key => key.startsWith(below)));
            const { objects } = await store.list(prefix, { after: prefix + cut });
            expect(objects.map(object => object.key)).toEqual(
              sorted.filter(key => compareUtf8(key, prefix + cut) > 0),
            );
            await Promise.all(sorted.map(key => store.delete(key)));
            expect(await listAll(prefix)).toEqual([]);
          },
        ),
        { numRuns: rounds },
      );
    });

    test('another store on the same data sees the objects and their absence', async () => {
      if (underTest.another === undefined) return;
      const key = newPrefix() + 'shared';
      await store.putIfAbsent(key, Buffer.from('mine'));
      const other = await underTest.another();
      expect(String(await other.get(key))).toBe('mine');
      expect(await other.putIfAbsent(key, Buffer.from('yours'))).toBe(false);
      await other.delete(key);
      await expect(store.get(key)).rejects.toThrow(ObjectNotFoundError);
      expect(await store.putIfAbsent(key, Buffer.from('again'))).toBe(true);
      expect(String(await other.get(key))).toBe('again');
    });
  });
}
