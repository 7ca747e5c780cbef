/** Days whose partitions grow while processes push, query and merge: each finds every chunk. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { decodeRecord, encodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { decodeDay, encodeDay } from '../../shared/storage/catalog/day-item.ts';
import {
  chunkKey,
  chunkPartition,
  commonChunkPartition,
  dayPartition,
} from '../../shared/storage/catalog/keys.ts';
import { chunksOf } from '../support/chunks-of.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { DAY, record } from './records.ts';

const START = BigInt(DAY) * NS_PER_DAY;
const END = START + NS_PER_DAY - 1n;

function setUp() {
  const clock = manualClock();
  const inner = memoryTable({ clock });
  const queried: string[] = [];
  const table: Table = {
    ...inner,
    query: (pk, options) => {
      queried.push(pk);
      return inner.query(pk, options);
    },
  };
  const catalogOf = (isDistant: boolean) =>
    new Catalog({ table: { ...table, isDistant }, clock, ids: countingIds() });
  return { clock, table, catalogOf, queried };
}

/** IDs whose last byte is their number. */
const made = (number: number) => record(number);
const idsOf = (records: readonly { readonly id: string }[]) => records.map(({ id }) => id).sort();

describe('partitions of a day', () => {
  test('grow with the first commit that requires more; earlier records stay in their partitions', async () => {
    const { table, catalogOf } = setUp();
    const catalog = catalogOf(true);
    await catalog.addChunks([made(7)]);
    await catalog.addChunks([made(15)], { partitions: 16 });
    await catalog.addChunks([made(23)]);
    const [day] = await catalog.allDays('t');
    expect(day).toMatchObject({ day: DAY, partitions: 16 });
    const found: Record<number, string[]> = {};
    for (let shard = 0; shard < 16; shard++) {
      const { items } = await table.query(chunkPartition('t', DAY, shard));
      if (items.length > 0) found[shard] = items.map(({ sk }) => sk.slice(-2));
    }
    // 7 modulo 4; 15 modulo 16; 23 modulo 16, because the process knows it now.
    expect(found).toEqual({ 3: ['07'], 15: ['0f'], 7: ['17'] });
    const snapshot = await catalog.day('t', DAY);
    expect(idsOf(snapshot!.records)).toEqual(idsOf([made(7), made(15), made(23)]));
  });

  test('days with one partition are read by one request, whatever their number', async () => {
    const { catalogOf, queried } = setUp();
    const days = Array.from({ length: 40 }, (_, i) => DAY + i);
    for (const day of days) await catalogOf(true).addChunks([record(day, { day })], { partitions: 1 });
    queried.length = 0;
    const end = START + 40n * NS_PER_DAY;
    const found = await chunksOf(catalogOf(true), 't', START + 1n, end);
    expect(queried).toEqual([dayPartition('t'), commonChunkPartition('t')]);
    expect(found.map(({ day }) => day).sort()).toEqual(days);
    expect(
      (await catalogOf(true).daysForQuery('t', START + NS_PER_DAY, START + 3n * NS_PER_DAY)).map(
        ({ day }) => day,
      ),
    ).toEqual([DAY + 1, DAY + 2, DAY + 3]);
  });

  test('days with more records than a page are read in parallel', async () => {
    const { table, catalogOf, queried } = setUp();
    const inline = Buffer.alloc(90_000);
    for (let i = 0; i < 60; i++) {
      const chunk = record(i, { day: DAY + (i % 6), inline, storedBytes: inline.length });
      await catalogOf(true).addChunks([chunk], { partitions: 1 });
    }
    const pages = await table.query(commonChunkPartition('t'));
    expect(pages.next).toBeDefined();
    queried.length = 0;
    const found = await chunksOf(catalogOf(true), 't', START, START + 6n * NS_PER_DAY);
    expect(idsOf(found)).toEqual(idsOf(Array.from({ length: 60 }, (_, i) => made(i))));
    // The first page ends in the second day.
    expect(queried.filter(pk => pk === commonChunkPartition('t'))).toHaveLength(1 + 6);
  });

  test('a merge writes into partitions that a reader of the fewest partitions reads', async () => {
    const { table, catalogOf } = setUp();
    const catalog = catalogOf(false);
    await catalog.addChunks([made(1), made(2)], { partitions: 1 });
    const { records, ...day } = (await catalog.day('t', DAY))!;
    const lease = (await catalog.leases.take('x', 60_000))!;
    await catalog.swap({ tenant: 't', day, lease, removed: records, added: [made(7)], graceMs: 0 });
    expect((await table.query(commonChunkPartition('t'))).items).toHaveLength(1);
    expect(idsOf(await chunksOf(catalogOf(true), 't', START, END))).toEqual(idsOf([made(7)]));
    // A query that began before the day got partitions must find the replacements of its chunks, too.
    await catalog.addChunks([made(8)], { partitions: 16 });
    const grown = (await catalog.day('t', DAY))!;
    await catalog.swap({
      tenant: 't',
      day: grown,
      lease,
      removed: grown.records,
      added: [made(9)],
      graceMs: 0,
    });
    expect((await table.query(commonChunkPartition('t'))).items.map(({ sk }) => sk.slice(-2))).toEqual([
      '09',
    ]);
  });

  test('never shrink, even if another process requires fewer', async () => {
    const { catalogOf } = setUp();
    await catalogOf(true).addChunks([made(1)], { partitions: 32 });
    await catalogOf(true).addChunks([made(2)], { partitions: 8 });
    expect(await catalogOf(false).allDays('t')).toMatchObject([{ partitions: 32 }]);
  });

  test('cost no more requests as long as no process requires more', async () => {
    const { catalogOf, queried } = setUp();
    const catalog = catalogOf(true);
    await catalog.addChunks([made(1)], { partitions: 1 });
    queried.length = 0;
    expect(idsOf(await chunksOf(catalog, 't', START, END))).toEqual(idsOf([made(1)]));
    expect(queried).toEqual([dayPartition('t'), commonChunkPartition('t')]);
  });

  test('a query that knows fewer partitions reads the day again, once', async () => {
    const { catalogOf, queried } = setUp();
    const reader = catalogOf(true);
    await catalogOf(true).addChunks([made(1)], { partitions: 1 });
    await chunksOf(reader, 't', START, END);
    await catalogOf(true).addChunks([made(31)], { partitions: 32 });
    queried.length = 0;
    expect(idsOf(await chunksOf(reader, 't', START, END))).toEqual(idsOf([made(1), made(31)]));
    expect(queried.length).toBe(1 + 1 + (1 + 32));
    queried.length = 0;
    await chunksOf(reader, 't', START, END);
    expect(queried.length).toBe(1 + 1 + 32);
  });

  test('miss no acknowledged entry in any order of commits, merges and queries of several processes', async () => {
    const step = fc.record({
      process: fc.nat(2),
      do: fc.constantFrom('push', 'push', 'merge', 'ask'),
      partitions: fc.constantFrom(1, 1, 2, 4, 8, 64, 256),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
        const { catalogOf } = setUp();
        const processes = [catalogOf(true), catalogOf(false), catalogOf(true)];
        const there = new Map<string, ReturnType<typeof made>>();
        let number = 0;
        for (const { process, do: action, partitions } of steps) {
          const catalog = processes[process];
          if (action === 'push') {
            const chunk = made(++number * 37);
            await catalog.addChunks([chunk], { partitions });
            there.set(chunk.id, chunk);
          } else if (action === 'merge') {
            // Over a distant table swaps rest.
            const snapshot = await processes[1].day('t', DAY);
            const lease = await processes[1].leases.take('x', 60_000);
            if (snapshot === undefined || lease === undefined) continue;
            const { records, ...day } = snapshot;
            const added = [made(++number * 37 + 1)];
            await processes[1].swap({
              tenant: 't',
              day,
              lease,
              removed: records.slice(0, 3),
              added,
              graceMs: 0,
            });
            await processes[1].leases.release(lease);
            for (const { id } of records.slice(0, 3)) there.delete(id);
            there.set(added[0].id, added[0]);
          } else expect(idsOf(await chunksOf(catalog, 't', START, END))).toEqual([...there.keys()].sort());
        }
        for (const catalog of processes)
          expect(idsOf(await chunksOf(catalog, 't', START, END))).toEqual([...there.keys()].sort());
      }),
      { numRuns: 100 },
    );
  });
});

describe('items', () => {
  test.each([
    [{ hasHashedKey: true as const, partitions: 64 }, 7],
    [{ hasHashedKey: true as const }, 7],
    [{ partitions: 256 }, 7],
    [{ hasHashedKey: true as const, textIndex: { offset: 1e6, storedBytes: 1e5, pages: 640 } }, 7],
    [{ hasHashedKey: true as const, streamPart: 2 }, 7],
    [{ partitions: 1, streamPart: 511 }, 7],
    [{}, 6],
  ])('a record with %j is read again, and has version %i', (more, version) => {
    const given = record(0xabc, more);
    const body = encodeRecord(given);
    expect(body[0]).toBe(version);
    const read = decodeRecord('t', DAY, body);
    expect(read).toEqual(given);
    expect(chunkKey(read)).toEqual(chunkKey(given));
  });

  test.each([0, 1, 512])('a record with part %i of the streams is corrupt', streamPart => {
    const body = encodeRecord(record(0xabc, { streamPart }));
    expect(() => decodeRecord('t', DAY, body)).toThrow(CorruptionError);
  });

  test.each([
    [1, false, 2],
    [1, true, 2],
    [4, false, 0],
    [4, true, 1],
    [64, false, 2],
    [64, true, 2],
  ])('a day of %i partitions, with an index: %s, is read again', (partitions, hasIndex, version) => {
    const indexes = hasIndex
      ? [{ fromMinute: 0, id: 'ee'.repeat(16), storedBytes: 1000, headBytes: 10 }]
      : [];
    const day = { day: DAY, version: 3, indexes, partitions };
    const item = encodeDay('t', day);
    expect(item.body[0] ?? 0).toBe(version);
    expect(decodeDay(item)).toEqual(day);
  });

  test.each([[1], [4]])('a day of %i partitions with several indexes is read again', partitions => {
    const indexOf = (fromMinute: number) => ({
      fromMinute,
      id: `${fromMinute}`.padStart(32, '0'),
      storedBytes: 1e9,
      headBytes: 10,
    });
    for (const minutes of [[0, 360], [720], [0, 6, 1434]]) {
      const day = { day: DAY, version: 3, indexes: minutes.map(indexOf), partitions };
      const item = encodeDay('t', day);
      expect(item.body[0]).toBe(2);
      expect(decodeDay(item)).toEqual(day);
    }
    const ofParts = [0, 0, 0, 360].map((minute, i) => ({
      ...indexOf(minute),
      streamPart: [undefined, 4, 511][i],
    }));
    const day = { day: DAY, version: 3, indexes: ofParts, partitions };
    expect(decodeDay(encodeDay('t', day))).toEqual(day);
    for (const streamParts of [
      [4, 4],
      [5, 4],
      [4, undefined],
      [4, 0],
      [4, 512],
    ]) {
      const wrong = streamParts.map(streamPart => ({ ...indexOf(0), streamPart }));
      expect(() => decodeDay(encodeDay('t', { ...day, indexes: wrong }))).toThrow(CorruptionError);
    }
    const disordered = { day: DAY, version: 3, indexes: [720, 360].map(indexOf), partitions };
    expect(() => decodeDay(encodeDay('t', disordered))).toThrow('out of order');
    const many = { ...disordered, indexes: Array.from({ length: 257 }, (_, i) => indexOf(i)) };
    expect(() => decodeDay(encodeDay('t', many))).toThrow('257 indexes');
  });

  test.each([[3], [0], [5], [512]])('a day of %i partitions is refused', partitions => {
    const item = encodeDay('t', { day: DAY, version: 3, indexes: [], partitions });
    expect(() => decodeDay(item)).toThrow(`${partitions} partitions`);
  });
});
