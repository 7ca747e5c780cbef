/** The number of unmerged chunks: markers come and go with one in 1,024 chunks. */
import { describe, expect, test } from '@jest/globals';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Item, Write } from '../../shared/base/ports/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { MAX_SWAPPED_CHUNKS, SwapConflictError } from '../../shared/storage/catalog/swap.ts';
import { CHUNKS_OF_MARKER, markerKey } from '../../shared/storage/catalog/unmerged-chunks.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { DAY, record } from './records.ts';

const PARTITION = 'x/t/unmerged';
const WEEK_MS = 7 * 24 * 3_600_000;
const withMarker = (number: number, of: Partial<ChunkRecord> = {}) => record(number * CHUNKS_OF_MARKER, of);

function setUp(isDistant = true) {
  // A swap over a shared table rests before it removes chunks.
  const clock = { ...manualClock(), sleep: async () => undefined };
  const inner = memoryTable({ clock });
  const writes: (readonly Write[])[] = [];
  const table = {
    ...inner,
    isDistant,
    put: async (...given: Parameters<typeof inner.put>) => {
      writes.push([{ kind: 'put', item: given[0] }]);
      return inner.put(...given);
    },
    transact: async (given: readonly Write[]) => {
      writes.push(given);
      return inner.transact(given);
    },
  };
  const catalog = new Catalog({ table, clock, ids: countingIds() });
  const markers = async (): Promise<readonly Item[]> => (await inner.query(PARTITION)).items;
  const swap = async (removed: readonly ChunkRecord[], isLeased = true) => {
    const lease = (await catalog.leases.take('merge', 60_000))!;
    if (!isLeased) await catalog.leases.release(lease);
    const { records: _, ...day } = (await catalog.day('t', DAY))!;
    const added = [record(7, { level: 1 })];
    await catalog.swap({ tenant: 't', day, lease, removed, added, graceMs: 0 });
    await catalog.leases.release(lease);
  };
  return { clock, catalog, markers, swap, writes };
}

describe('markers', () => {
  test.each<[string, Partial<ChunkRecord>, boolean]>([
    ['a random end of zeros', { id: 'a'.repeat(29) + '000' }, true],
    ['a multiple of 1,024', { id: 'a'.repeat(29) + 'c00' }, true],
    ['another end', { id: 'a'.repeat(29) + 'c01' }, false],
    ['zeros, but merged', { id: 'a'.repeat(29) + '000', level: 1 }, false],
  ])('of %s', (_, of, isMarked) => {
    const key = markerKey(record(0, of));
    expect(key).toEqual(isMarked ? { pk: PARTITION, sk: `1020000/${of.id}` } : undefined);
  });

  test('one in 1,024 chunks has one', async () => {
    const { catalog } = setUp();
    for (let from = 0; from < 4 * CHUNKS_OF_MARKER; from += 64) {
      await catalog.addChunks(Array.from({ length: 64 }, (_, i) => record(from + i)));
    }
    expect(await catalog.unmerged.of('t', Infinity)).toBe(4 * CHUNKS_OF_MARKER);
    expect(await catalog.unmerged.of('another', Infinity)).toBe(0);
  });

  test('are written with their chunk, and other chunks cost no more', async () => {
    const { catalog, writes } = setUp();
    await catalog.addChunks([record(1)]);
    writes.length = 0;
    await catalog.addChunks([record(2)]);
    await catalog.addChunks([withMarker(1)]);
    expect(writes.map(some => some.length)).toEqual([1, 2]);
  });

  test('are written once, however often the push is repeated', async () => {
    const { catalog, markers } = setUp();
    for (let i = 0; i < 3; i++) await catalog.addChunks([withMarker(1)]);
    expect(await markers()).toHaveLength(1);
  });

  test('go with their chunk', async () => {
    const { catalog, markers, swap } = setUp();
    await catalog.addChunks([withMarker(1), withMarker(2), record(3)]);
    await swap([withMarker(2), record(3)]);
    expect((await markers()).map(({ sk }) => sk)).toEqual([`1020000/${withMarker(1).id}`]);
  });

  test('stay if the swap fails', async () => {
    const { catalog, markers, swap } = setUp();
    await catalog.addChunks([withMarker(1)]);
    await expect(swap([withMarker(1)], false)).rejects.toThrow(SwapConflictError);
    expect(await markers()).toHaveLength(1);
  });

  test('leave room in the transactions that remove chunks', async () => {
    const { catalog, markers, swap, writes } = setUp();
    const all = Array.from({ length: 2 * MAX_SWAPPED_CHUNKS }, (_, i) => (i % 2 ? withMarker(i) : record(i)));
    for (let from = 0; from < all.length; from += 30) await catalog.addChunks(all.slice(from, from + 30));
    writes.length = 0;
    await swap(all);
    expect(await markers()).toEqual([]);
    expect((await catalog.day('t', DAY))!.records.map(({ level }) => level)).toEqual([1]);
    // 194 chunks and 97 markers, at most 97 of them together in a transaction.
    expect(writes.filter(some => some.some(({ kind }) => kind === 'delete'))).toHaveLength(4);
  });

  test('expire after a week, for chunks that are never merged', async () => {
    const { clock, catalog } = setUp();
    await catalog.addChunks([withMarker(1)]);
    clock.advance(WEEK_MS - 1000);
    expect(await catalog.unmerged.of('t', Infinity)).toBe(CHUNKS_OF_MARKER);
    clock.advance(2000);
    expect(await catalog.unmerged.of('t', Infinity)).toBe(0);
  });

  test('are not used on one machine', async () => {
    const { catalog, markers, swap, writes } = setUp(false);
    await catalog.addChunks([withMarker(1), record(2)]);
    await swap([withMarker(1)]);
    expect(await markers()).toEqual([]);
    expect(writes.flat().filter(w => w.kind === 'delete' && w.key.pk === PARTITION)).toEqual([]);
  });

  test('are not counted beyond what the caller needs to know', async () => {
    const { catalog } = setUp();
    const all = Array.from({ length: 1500 }, (_, i) => withMarker(i));
    for (let from = 0; from < all.length; from += 30) await catalog.addChunks(all.slice(from, from + 30));
    expect(await catalog.unmerged.of('t', 10_000)).toBe(1000 * CHUNKS_OF_MARKER);
    expect(await catalog.unmerged.of('t', Infinity)).toBe(1500 * CHUNKS_OF_MARKER);
  });
});
