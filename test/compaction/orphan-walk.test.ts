/** Which objects the walk for orphans takes, and when. */
import { expect, test } from '@jest/globals';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { newChunkId } from '../../shared/storage/catalog/chunk-id.ts';
import { objectKey } from '../../shared/storage/catalog/chunk-record.ts';
import { trustCatalog, walkForOrphans } from '../../shared/upkeep/compaction/orphan-walk.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';

const bounds = { untilMs: Infinity, signal: new AbortController().signal };

function setUp() {
  const clock = manualClock();
  const ids = countingIds();
  const store = memoryObjectStore();
  const catalogOf = () => new Catalog({ table: memoryTable({ clock }), clock, ids });
  const put = async (tenant: string, hasHashedKey?: true) => {
    const key = objectKey({ tenant, day: 20_000, level: 0, id: newChunkId(clock, ids), hasHashedKey });
    await store.putIfAbsent(key, Buffer.from('x'));
    return key;
  };
  const keys = async () => (await store.list('')).objects.map(({ key }) => key);
  return { clock, store, catalogOf, put, keys };
}

test('deletes an object without a record after a day, and keeps objects that are not chunks', async () => {
  const { clock, store, catalogOf, put, keys } = setUp();
  const catalog = catalogOf();
  expect(await walkForOrphans({ catalog, store, clock }, bounds)).toBeUndefined();
  clock.advance(1);
  const orphan = await put('t');
  const hashed = await put('t', true);
  await store.putIfAbsent('config/overrides.yaml', Buffer.from('x'));
  clock.advance(24 * MS_PER_HOUR - 1);
  expect((await walkForOrphans({ catalog, store, clock }, bounds))?.deleted).toEqual([]);
  clock.advance(MS_PER_HOUR);
  expect(await walkForOrphans({ catalog, store, clock }, bounds)).toBeUndefined();
  clock.advance(24 * MS_PER_HOUR);
  expect((await walkForOrphans({ catalog, store, clock }, bounds))?.deleted).toEqual([orphan, hashed]);
  expect(await keys()).toEqual(['config/overrides.yaml']);
});

test('a new catalog deletes nothing older than itself until it was rebuilt', async () => {
  const { clock, store, catalogOf, put, keys } = setUp();
  const old = await put('t');
  clock.advance(48 * MS_PER_HOUR);
  const catalog = catalogOf();
  for (let day = 0; day < 4; day++) {
    const report = await walkForOrphans({ catalog, store, clock }, bounds);
    expect(report?.deleted ?? []).toEqual([]);
    clock.advance(25 * MS_PER_HOUR);
  }
  expect(await keys()).toEqual([old]);
  await trustCatalog(catalog, clock.nowMs());
  clock.advance(25 * MS_PER_HOUR);
  expect((await walkForOrphans({ catalog, store, clock }, bounds))?.deleted).toEqual([old]);
});
