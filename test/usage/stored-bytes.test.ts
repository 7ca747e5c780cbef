import { expect, test } from '@jest/globals';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { StoredBytesByDay } from '../../shared/server/usage/stored-bytes.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';

const TODAY = 20_400;
const { signal } = new AbortController();

function setUp(maxRecords?: number) {
  const clock = virtualClock(TODAY * MS_PER_DAY + 1000);
  const ids = seededIds(1);
  const memory = memoryTable({ clock });
  let reads = 0;
  const table: Table = {
    ...memory,
    query(pk, options) {
      if (pk.startsWith('c/')) reads++;
      return memory.query(pk, options);
    },
  };
  const catalog = new Catalog({ table, clock, ids });
  const bytes = new StoredBytesByDay({ catalog, clock, maxRecords });
  return {
    clock,
    bytes,
    /** Partitions of chunks that were read since the last time. */
    reads: () => [reads, (reads = 0)][0],
    add: (day: number, storedBytes: number, inline = false, tenant = 'acme') => {
      const id = ids.randomHex(16);
      const record: ChunkRecord = {
        id,
        origin: id,
        tenant,
        day,
        level: 0,
        first: 0,
        last: 1,
        rows: 1,
        lineBytes: 1,
        metadataBytes: 0,
        asOfMs: 0,
        storedBytes,
        footerBytes: 1,
        pairs: undefined,
        inline: inline ? Buffer.alloc(storedBytes) : undefined,
        footer: undefined,
      };
      return catalog.addChunks([record]);
    },
  };
}

test('adds up the chunks of each day, of this tenant alone', async () => {
  const { add, bytes } = setUp();
  await add(TODAY - 10, 1000);
  await add(TODAY - 10, 500);
  await add(TODAY, 70, true);
  await add(TODAY, 2000);
  await add(TODAY + 1, 9);
  await add(TODAY, 1, false, 'acme2');
  expect(await bytes.upTo('acme', TODAY, signal)).toMatchObject({
    complete: true,
    days: [
      { day: TODAY - 10, objectBytes: 1500, tableBytes: 0 },
      { day: TODAY, objectBytes: 2000, tableBytes: 70 },
    ],
  });
});

test('keeps a sum for minutes, that of an old day for an hour', async () => {
  const { add, bytes, reads, clock } = setUp();
  await add(TODAY - 10, 1000);
  await add(TODAY, 1000);
  const sum = async () => {
    const { days } = await bytes.upTo('acme', TODAY, signal);
    return days.reduce((all, { objectBytes }) => all + objectBytes, 0);
  };
  expect(await sum()).toBe(2000);
  const readsOfDay = reads() / 2;
  await add(TODAY, 1);
  expect([await sum(), reads()]).toEqual([2000, 0]);
  await clock.advance(300_000);
  expect([await sum(), reads()]).toEqual([2001, readsOfDay]);
  await clock.advance(3_300_000);
  expect([await sum(), reads()]).toEqual([2001, 2 * readsOfDay]);
});

test('reads only so much for one question, and the rest for the next ones', async () => {
  const { add, bytes } = setUp(3);
  for (let day = TODAY - 3; day <= TODAY; day++) {
    await add(day, 1);
    await add(day, 1);
  }
  const ask = async () => {
    const { days, complete } = await bytes.upTo('acme', TODAY, signal);
    return [days.length, complete];
  };
  expect(await ask()).toEqual([2, false]);
  expect(await ask()).toEqual([4, true]);
});

test('ends when the client disconnects', async () => {
  const { add, bytes } = setUp();
  await add(TODAY, 1);
  await expect(bytes.upTo('acme', TODAY, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
