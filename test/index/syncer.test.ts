/** Index sync over a catalog: what it covers, when it writes, and that a broken index does no harm. */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_HOUR } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { readFooter } from '../../shared/storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { indexKey } from '../../shared/storage/catalog/day-item.ts';
import type { DaySnapshot } from '../../shared/storage/catalog/day-snapshot.ts';
import { dayLease, indexLease, indexPartLease } from '../../shared/storage/catalog/leases.ts';
import { partOfStream } from '../../shared/storage/catalog/stream-part.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import {
  type IndexTask,
  indexAnswer,
  indexHelpersOf,
  indexTaskOf,
} from '../../shared/storage/index/index-task.ts';
import { type SyncEnd, Syncer } from '../../shared/storage/index/syncer.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

interface SetUp {
  readonly isDistant?: boolean;
  readonly chunksOfIndex?: number;
  /** Number of functions that write indexes for the one that syncs. */
  readonly helpers?: number;
  /** Called before each task of another function. What it throws is the end of the function. */
  readonly onTask?: (task: IndexTask) => void | Promise<void>;
}

function setUp({ isDistant = false, chunksOfIndex, helpers, onTask }: SetUp = {}) {
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const store = { ...memoryObjectStore(), isDistant };
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  const broken: Error[] = [];
  const indexes = new DayIndexes({ store, onBroken: error => broken.push(error) });
  const parts = {
    catalog,
    store,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    indexes,
    graceMs: 1000,
    chunksOfIndex,
  };
  const write = async (task: IndexTask, signal: AbortSignal) => {
    await onTask?.(task);
    return new Syncer(parts).writeOne(task, signal);
  };
  const invoke = async (bytes: Uint8Array, { signal }: { signal: AbortSignal }) =>
    indexAnswer(await write(indexTaskOf(JSON.parse(Buffer.from(bytes).toString()))!, signal));
  const indexHelpers = helpers === undefined ? undefined : indexHelpersOf({ invoke }, helpers);
  const syncer = new Syncer({ ...parts, helpers: indexHelpers, chunksOfHelper: 2 });
  let pushed = 0;
  return {
    store,
    catalog,
    indexes,
    broken,
    /** Sets the part of the streams of each chunk, as merges of a large tenant do. */
    divide: async (bits: number) => {
      const { records, ...day } = (await catalog.day('t', DAY))!;
      const updated: ChunkRecord[] = [];
      for (const record of records) {
        const { streams } = await readFooter(store, record);
        const [streamPart, ...others] = new Set(streams.map(stream => partOfStream(stream, bits)));
        expect(others).toEqual([]);
        updated.push({ ...record, streamPart });
      }
      const lease = (await catalog.leases.take(dayLease('t', DAY), 60_000))!;
      await catalog.swap({ tenant: 't', day, lease, removed: [], added: [], updated, graceMs: 0 });
      await catalog.leases.release(lease);
    },
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

describe('a large window with parts of the streams', () => {
  const partsOf = ({ snapshot }: { readonly snapshot: DaySnapshot }) =>
    snapshot.indexes.map(({ fromMinute, streamPart = 1 }) => [fromMinute, streamPart]);
  const HOUR_PARTS = [4, 5, 6, 7].map(part => [0, part]);

  async function pushed(options: SetUp = {}) {
    const world = setUp({ chunksOfIndex: 40, ...options });
    await world.push(32);
    return world;
  }

  async function expectWhole({ index }: Awaited<ReturnType<typeof pushed>>): Promise<void> {
    const { snapshot, index: joined } = await index();
    expect(joined!.streams).toHaveLength(snapshot.records.length);
    for (const { id } of snapshot.records) {
      const { streams } = joined!.presenceOf(id)!;
      expect(joined!.streams[streams[0]].text).toMatch(/app-/);
    }
    const counted = await Array.fromAsync(joined!.countsOf(snapshot.records.map(({ id }) => id)));
    expect(counted).toHaveLength(snapshot.records.length);
  }

  test('has an index for each part, and a query of one part reads one', async () => {
    const world = await pushed();
    await world.divide(2);
    expect(await world.sync(true)).toBe('synced');
    expect(partsOf(await world.index())).toEqual(HOUR_PARTS);
    await expectWhole(world);
    const { snapshot } = await world.index();
    const ofPart = snapshot.records.filter(({ streamPart }) => streamPart === 5);
    expect((await world.indexes.indexOfDay('t', { ...snapshot, records: ofPart }))?.streams).toHaveLength(
      ofPart.length,
    );
    expect(await world.sync(true)).toBe('fresh');
    // A push has no part yet. It is in an index of all streams.
    await world.push(2);
    expect(await world.sync(true)).toBe('synced');
    const after = await world.index();
    expect(partsOf(after)).toEqual([[0, 1], ...HOUR_PARTS]);
    expect(after.snapshot.indexes.slice(1)).toEqual(snapshot.indexes);
    await expectWhole(world);
  });

  test('an index of all streams is divided when merges have divided its chunks', async () => {
    const world = await pushed();
    expect(await world.sync(true)).toBe('synced');
    expect(partsOf(await world.index())).toEqual([[0, 1]]);
    await world.divide(2);
    expect(await world.sync(false)).toBe('synced');
    expect(partsOf(await world.index())).toEqual(HOUR_PARTS);
    await expectWhole(world);
    expect(await world.sync(false)).toBe('fresh');
  });

  test('is written by several functions at the same time, and published at once', async () => {
    const tasks: number[] = [];
    const all = Promise.withResolvers<void>();
    const onTask = async ({ streamPart }: IndexTask) => {
      if (tasks.push(streamPart) === 4) all.resolve();
      await all.promise;
    };
    const world = await pushed({ helpers: 4, isDistant: true, onTask });
    await world.divide(2);
    const { version } = (await world.index()).snapshot;
    expect(await world.sync(true)).toBe('synced');
    expect(tasks.sort()).toEqual([4, 5, 6, 7]);
    expect(partsOf(await world.index())).toEqual(HOUR_PARTS);
    expect((await world.index()).snapshot.version).toBe(version + 1);
    await expectWhole(world);
  });

  test('is complete if functions are lost, or an index is being written by another one', async () => {
    const onTask = ({ streamPart }: IndexTask) => {
      if (streamPart === 4) throw new Error('the function is lost');
    };
    const world = await pushed({ helpers: 4, isDistant: true, onTask });
    await world.divide(2);
    const lease = (await world.catalog.leases.take(indexPartLease('t', DAY, 0, 6), 60_000))!;
    expect(await world.sync(true)).toBe('synced');
    expect(partsOf(await world.index())).toEqual(HOUR_PARTS);
    await expectWhole(world);
    await world.catalog.leases.release(lease);
  });
});
