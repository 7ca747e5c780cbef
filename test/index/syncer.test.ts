/** Index sync over a catalog: what it covers, when it writes, and that a broken index does no harm. */
import { describe, expect, test } from '@jest/globals';
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

function setUp(isDistant = false) {
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const store = { ...memoryObjectStore(), isDistant };
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  const broken: Error[] = [];
  const indexes = new DayIndexes({ store, onBroken: error => broken.push(error) });
  const syncer = new Syncer({ catalog, store, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, indexes, graceMs: 1000 });
  let pushed = 0;
  return {
    store,
    catalog,
    indexes,
    broken,
    push: async (count: number) => {
      for (let i = 0; i < count; i++) {
        const app = `app-${pushed++}`;
        await committer.commit(
          't',
          pushOf([{ stream: { app }, day: DAY, time: pushed, line: 'x', metadata: {} }]),
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
      return { snapshot, index: await indexes.ofDay('t', snapshot) };
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
    expect(first.index?.chunks).toHaveLength(3);
    await push(20);
    expect(await sync(false)).toBe('synced');
    const second = await index();
    expect(second.index?.streams).toHaveLength(23);
    expect(second.snapshot.records.every(({ id }) => second.index?.covers(id))).toBe(true);
    expect(await catalog.garbage.all()).toEqual(new Set([indexKey('t', DAY, first.snapshot.index!.id)]));
  });

  test('reports a broken index, works without it, and rebuilds it', async () => {
    const { push, sync, index, store, broken } = setUp();
    await push(3);
    await sync(true);
    const { snapshot } = await index();
    const other = new DayIndexes({ store, onBroken: error => broken.push(error) });
    await store.delete(indexKey('t', DAY, snapshot.index!.id));
    expect(await other.ofDay('t', snapshot)).toBeUndefined();
    expect(broken).toHaveLength(1);
    await push(1);
    expect(await sync(true)).toBe('synced');
    const after = await index();
    expect(after.index?.chunks).toHaveLength(4);
  });

  test('over a distant store it does not wait for merges, and only one process does it', async () => {
    const { push, sync, index, catalog } = setUp(true);
    await push(3);
    const merging = (await catalog.leases.take(dayLease('t', DAY), 60_000))!;
    expect(await sync(true)).toBe('synced');
    expect((await index()).index?.chunks).toHaveLength(3);
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
});
