/** Keys with and without hashed characters: what they say, and that a listing brings the objects of a day together. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { objectKey } from '../../shared/storage/catalog/chunk-record.ts';
import { indexKey } from '../../shared/storage/catalog/day-item.ts';
import { objectsByDay } from '../../shared/storage/catalog/objects-by-day.ts';
import { listStoredObjects, parseObjectKey } from '../../shared/storage/catalog/stored-objects.ts';

const ID = '0123456789abcdef0123456789abcdef';
/** Tenants whose names look like parts of keys. */
const tenants = fc.constantFrom('t', 't-1', 'ab', 'ef', 'chunks', 'index', 'a.b', '20000');
const ids = fc.stringMatching(/^[0-9a-f]{32}$/);
const names = fc.record({
  tenant: tenants,
  day: fc.integer({ min: -2, max: 3 }),
  level: fc.nat(3),
  id: ids,
  hasHashedKey: fc.constantFrom(true as const, undefined),
});

describe('object keys', () => {
  test.each([
    [{ tenant: 'acme', day: 20000, level: 3, id: ID }, `acme/chunks/20000/3/${ID}`],
    [
      { tenant: 'acme', day: 20000, level: 3, id: ID, hasHashedKey: true as const },
      `ef/acme/chunks/20000/3/${ID}`,
    ],
  ])('%j is stored as %s', (name, key) => {
    expect(objectKey(name)).toBe(key);
  });

  test('a key is parsed into its parts', () => {
    fc.assert(
      fc.property(names, name => {
        const { tenant, day, id, hasHashedKey } = name;
        expect(parseObjectKey(objectKey(name))).toMatchObject({
          kind: 'chunk',
          tenant,
          day,
          id,
          hasHashedKey,
        });
        expect(parseObjectKey(indexKey(tenant, day, id))).toMatchObject({ kind: 'index', tenant, day, id });
      }),
    );
  });

  test.each([
    `ee/acme/chunks/20000/3/${ID}`,
    `EF/acme/chunks/20000/3/${ID}`,
    `ef/acme/index/20000/${ID}`,
    `chunks/20000/3/${ID}`,
    'config/overrides.yaml',
  ])('%s is not a chunk or an index', key => {
    expect(parseObjectKey(key)).toBeUndefined();
  });
});

describe('objects by day', () => {
  test('are listed by day for any keys, each once, from any position', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(names, { maxLength: 60 }), fc.nat(), async (made, seed) => {
        // Pages may be short, as on S3.
        const inner = memoryObjectStore();
        const store = {
          ...inner,
          list: (prefix: string, page = {}) => inner.list(prefix, { ...page, limit: 1 + (seed % 3) }),
        };
        for (const name of made) await store.putIfAbsent(objectKey(name), Buffer.from('x'));
        await store.putIfAbsent('config/overrides.yaml', Buffer.from('x'));
        await store.putIfAbsent(indexKey('t', 1, ID), Buffer.from('x'));
        const want: string[] = [];
        for await (const { key } of listStoredObjects(store)) want.push(key);
        const listed = async (after?: string) => {
          const found = [];
          for await (const batch of objectsByDay(store, after)) {
            expect(batch.length).toBeGreaterThan(0);
            found.push(...batch);
          }
          return found;
        };
        const all = await listed();
        expect(all.map(({ key }) => key).sort()).toEqual(want.sort());
        const positions = all.map(({ position }) => position);
        expect(positions).toEqual(positions.toSorted(compareUtf8));
        const days = all.filter(({ kind }) => kind === 'chunk').map(({ tenant, day }) => `${tenant} ${day}`);
        const begun = days.filter((day, i) => day !== days[i - 1]);
        expect(begun.length).toBe(new Set(days).size);
        const position = positions[seed % positions.length];
        expect(await listed(position)).toEqual(all.filter(one => compareUtf8(one.position, position) > 0));
      }),
      { numRuns: 40 },
    );
  });
});
