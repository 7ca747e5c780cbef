/** Index sync over a catalog: what it covers, when it writes, and that a broken index does no harm. */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_HOUR } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { indexKey } from '../../shared/storage/catalog/day-item.ts';
import { dayLease, indexLease } from '../../shared/storage/catalog/leases.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { type SyncEnd, Syncer } from '../../shared/storage/index/syncer.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

function setUp({ isDistant = false, chunksOfIndex }: { isDistant?: boolean; chunksOfIndex?: number } = {}) {
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const store = { ...memoryObjectStore(), isDistant };
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  const broken: Error[] = [];
  const indexes = new DayIndexes({ store, onBroken: error => broken.push(error) });
  const syncer = new Syncer({
    catalog,
    store,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    indexes,
    graceMs: 1000,
    chunksOfIndex,
  });
  let pushed = 0;
  return {
    store,
    catalog,
    indexes,
    broken,
    push: async (count: number, hour = 0) => {
      for (let i = 0; i < count; i++) {
        const app = `app-${pushed++}`;
        await committer.commit(
          't',
          pushOf([{ stream: { app }, day: DAY, time: hour * NS_OF_HOUR + pushed, line: 'x', metadata: {} }]),
        );
      }
    },
    sync: (force: boolean): Promise<SyncEnd> =>
      syncer.syncDay({
        tenant: 't',
        day: DAY,
        force,
        untilMs: Infinity,
        signal: new AbortController().signal,
      }),
    index: async () => {
      const snapshot = (await catalog.day('t', DAY))!;
      return { snapshot, index: await indexes.indexOfDay('t', snapshot) };
    },
  };
}

describe('index sync of a day', () => {
  test('covers every chunk, extends the existing index, and does nothing without new chunks', async () => {
    const { push, sync, index, catalog } = setUp();
    expect(await sync(true)).toBe('fresh');
    await push(1);
    expect(await sync(true)).toBe('fresh');
    await push(2);
    expect(await sync(false)).toBe('fresh');
    expect(await sync(true)).toBe('synced');
    expect(await sync(true)).toBe('fresh');
    const first = await index();
    expect(first.index?.streams).toHaveLength(3);
    await push(20);
    expect(await sync(false)).toBe('synced');
    const second = await index();
    expect(second.index?.streams).toHaveLength(23);
    expect(second.snapshot.records.every(({ id }) => second.index?.covers(id))).toBe(true);
    expect(await catalog.garbage.all()).toEqual(new Set([indexKey('t', DAY, first.snapshot.indexes[0].id)]));
  });

  test('reports a broken index, works without it, and rebuilds it', async () => {
    const { push, sync, index, store, broken } = setUp();
    await push(3);
    await sync(true);
    const { snapshot } = await index();
    const other = new DayIndexes({ store, onBroken: error => broken.push(error) });
    await store.delete(indexKey('t', DAY, snapshot.indexes[0].id));
    expect(await other.indexOfDay('t', snapshot)).toBeUndefined();
    expect(broken).toHaveLength(1);
    await push(1);
    expect(await sync(true)).toBe('synced');
    const after = await index();
    expect(after.index?.streams).toHaveLength(4);
  });

  test('a sync over a distant store does not wait for merges, and only one process does it', async () => {
    const { push, sync, index, catalog } = setUp({ isDistant: true });
    await push(3);
    const merging = (await catalog.leases.take(dayLease('t', DAY), 60_000))!;
    expect(await sync(true)).toBe('synced');
    expect((await index()).index?.streams).toHaveLength(3);
    await push(1);
    const syncing = (await catalog.leases.take(indexLease('t', DAY), 60_000))!;
    expect(await sync(true)).toBe('busy');
    await catalog.leases.release(syncing);
    await catalog.leases.release(merging);
  });

  test('another holder of the day is let alone', async () => {
    const { push, sync, catalog } = setUp();
    await push(3);
    const lease = (await catalog.leases.take(`day/t/${DAY}`, 60_000))!;
    expect(await sync(true)).toBe('busy');
    await catalog.leases.release(lease);
    expect(await sync(true)).toBe('synced');
  });

  test('a large day has an index for each window of time, and only changed windows are written', async () => {
    const { push, sync, index, indexes, catalog, store } = setUp({ chunksOfIndex: 10 });
    await push(5, 1);
    await push(5, 13);
    expect(await sync(true)).toBe('synced');
    const whole = (await index()).snapshot.indexes;
    expect(whole.map(({ fromMinute }) => fromMinute)).toEqual([0]);
    // Eleven chunks are too many for one index.
    await push(1, 14);
    expect(await sync(false)).toBe('synced');
    const divided = await index();
    expect(divided.snapshot.indexes.map(({ fromMinute }) => fromMinute)).toEqual([0, 12 * 60]);
    expect(divided.snapshot.records.every(({ id }) => divided.index?.covers(id))).toBe(true);
    expect(divided.index?.streams).toHaveLength(11);
    for (const { id } of divided.snapshot.records) {
      const { streams, entries } = divided.index!.presenceOf(id)!;
      expect([...entries]).toEqual([1]);
      expect(divided.index!.streams[streams[0]].text).toMatch(/app-/);
    }
    const counted = await Array.fromAsync(
      divided.index!.countsOf(divided.snapshot.records.map(({ id }) => id)),
    );
    expect(counted).toHaveLength(11);
    expect(await catalog.garbage.all()).toEqual(new Set([indexKey('t', DAY, whole[0].id)]));
    const late = divided.snapshot.records.filter(({ first }) => first >= 13 * NS_OF_HOUR);
    expect((await indexes.indexOfDay('t', { ...divided.snapshot, records: late }))?.streams).toHaveLength(6);
    // Merges leave fewer chunks, but windows stay. A change in one of them writes one index.
    await push(16, 13);
    expect(await sync(false)).toBe('synced');
    const { snapshot } = await index();
    expect(snapshot.indexes[0]).toEqual(divided.snapshot.indexes[0]);
    expect(snapshot.indexes[1].id).not.toBe(divided.snapshot.indexes[1].id);
    expect(await catalog.garbage.all()).toContain(indexKey('t', DAY, divided.snapshot.indexes[1].id));
    // A window without chunks has no index, until it has enough of them.
    await push(1, 20);
    expect(await sync(false)).toBe('fresh');
    expect(await sync(true)).toBe('synced');
    expect((await index()).snapshot.indexes.map(({ fromMinute }) => fromMinute)).toEqual([0, 720, 1080]);
    expect(await store.head(indexKey('t', DAY, snapshot.indexes[1].id))).toBeDefined();
  });
});
