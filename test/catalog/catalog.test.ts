/** Properties of the catalog with other writers: one version per read, fencing, announcements of work. */
import { describe, expect, test } from '@jest/globals';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import type { Lease } from '../../shared/storage/catalog/leases.ts';
import { WORK_KNOWN_MS } from '../../shared/storage/catalog/outstanding.ts';
import { SwapConflictError } from '../../shared/storage/catalog/swap.ts';
import { chunksOf } from '../support/chunks-of.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { DAY, record } from './records.ts';

const WHOLE = [BigInt(DAY) * NS_PER_DAY, BigInt(DAY + 1) * NS_PER_DAY - 1n] as const;
const LEASE_MS = 60_000;

function setUp(wrap: (table: Table) => Table = table => table) {
  const clock = manualClock();
  const ids = countingIds();
  const table = memoryTable({ clock });
  const make = (over: Table) => new Catalog({ table: over, clock, ids });
  return { clock, table, catalog: make(wrap(table)), other: make(table) };
}

const idsOf = (records: readonly ChunkRecord[]) => records.map(({ id }) => Number.parseInt(id, 16)).sort();

async function swapAll(catalog: Catalog, lease: Lease, into: readonly ChunkRecord[]) {
  const { records, ...day } = (await catalog.day('t', DAY))!;
  return catalog.swap({ tenant: 't', day, lease, removed: records, added: into, graceMs: 1000 });
}

describe('reading', () => {
  test('a swap between two partitions is seen whole', async () => {
    let meddle: (() => Promise<void>) | undefined;
    const { catalog, other } = setUp(table => ({
      ...table,
      get: key => table.get(key),
      query: async (pk, options) => {
        // Half of the partitions have been read when the swap happens.
        if (pk === `c/t/${DAY}/2`) await meddle?.();
        return table.query(pk, options);
      },
    }));
    await other.addChunks([record(0), record(1), record(2), record(3)]);
    const lease = (await other.leases.take('x', LEASE_MS))!;
    meddle = async () => {
      meddle = undefined;
      await swapAll(other, lease, [record(8, { level: 1, rows: 4 })]);
    };
    const seen = await chunksOf(catalog, 't', ...WHOLE);
    expect(meddle).toBeUndefined();
    expect(idsOf(seen)).toEqual([8]);
  });

  test('a day that changes with every read is refused, not answered wrong', async () => {
    let version = 0;
    const { catalog, other } = setUp(table => ({
      ...table,
      get: key => table.get(key),
      query: async (pk, options) => {
        const page = await table.query(pk, options);
        return pk !== 'd/t' ? page : { items: page.items.map(item => ({ ...item, version: ++version })) };
      },
    }));
    await other.addChunks([record(0)]);
    await expect(chunksOf(catalog, 't', ...WHOLE)).rejects.toThrow('too many concurrent changes to the days');
  });

  test('other days do not matter, and tenants are apart', async () => {
    const { catalog } = setUp();
    await catalog.addChunks([record(0), record(1, { day: DAY + 1 }), record(2, { tenant: 'u' })]);
    expect(idsOf(await chunksOf(catalog, 't', ...WHOLE))).toEqual([0]);
    expect(idsOf(await chunksOf(catalog, 'u', ...WHOLE))).toEqual([2]);
    expect(await catalog.day('nobody', DAY)).toBeUndefined();
  });
});

describe('the cache of records', () => {
  test('drops the records of deleted chunks, and no others', async () => {
    const { catalog, other } = setUp();
    await other.addChunks([record(0), record(1), record(2)]);
    await chunksOf(catalog, 't', ...WHOLE);
    const held = catalog.caches.records.heldWeight;
    catalog.forgetChunks(new Set([record(0), record(1)].map(({ id }) => `t/${id}`)));
    expect(catalog.caches.records.heldWeight).toBe(held / 3);
    catalog.forgetChunks(new Set([`other/${record(2).id}`]));
    expect(catalog.caches.records.heldWeight).toBe(held / 3);
    expect(idsOf(await chunksOf(catalog, 't', ...WHOLE))).toEqual([0, 1, 2]);
  });
});

describe('swapping', () => {
  test('replaces chunks, and lists the old objects as garbage until their time', async () => {
    const { catalog, clock } = setUp();
    await catalog.addChunks([
      record(1),
      record(2, { inline: Buffer.from('x'), storedBytes: 1, footerBytes: 1 }),
      record(3),
    ]);
    const lease = (await catalog.leases.take('x', LEASE_MS))!;
    const { version } = (await catalog.day('t', DAY))!;
    const after = await swapAll(catalog, lease, [record(9, { level: 1 })]);
    expect(after.version).toBe(version + 3);
    expect(idsOf(await chunksOf(catalog, 't', ...WHOLE))).toEqual([9]);
    expect(await catalog.garbage.due(clock.nowMs(), 10)).toEqual([]);
    clock.advance(1001);
    const [list] = await catalog.garbage.due(clock.nowMs(), 10);
    expect(list.keys).toEqual([record(1), record(3)].map(({ id }) => `t/chunks/${DAY}/0/${id}`));
    await catalog.garbage.remove(list);
    expect(await catalog.garbage.all()).toEqual(new Set());
  });

  test.each([
    [
      'a lease that ended',
      async ({ clock }: ReturnType<typeof setUp>) => clock.advance(LEASE_MS + 1000),
      'lease is lost',
    ],
    [
      'a lease that another took',
      async ({ clock, other }: ReturnType<typeof setUp>) => {
        clock.advance(LEASE_MS + 1000);
        expect(await other.leases.take('x', LEASE_MS)).toBeDefined();
      },
      'lease is lost',
    ],
    [
      'a day that somebody else swapped',
      async ({ other }: ReturnType<typeof setUp>) => {
        const lease = (await other.leases.take('y', LEASE_MS))!;
        const { records, ...day } = (await other.day('t', DAY))!;
        const removed = records.filter(({ id }) => id === record(1).id);
        await other.swap({ tenant: 't', day, lease, removed, added: [], graceMs: 0 });
      },
      'day has changed',
    ],
  ])('%s publishes nothing', async (_name, meddle, message) => {
    const all = setUp();
    const { catalog, other } = all;
    await catalog.addChunks([record(1), record(2)]);
    const lease = (await catalog.leases.take('x', LEASE_MS))!;
    const { records, ...day } = (await catalog.day('t', DAY))!;
    await meddle(all);
    const before = idsOf(await chunksOf(other, 't', ...WHOLE));
    const swap = catalog.swap({
      tenant: 't',
      day,
      lease,
      removed: records,
      added: [record(9)],
      graceMs: 0,
    });
    await expect(swap).rejects.toThrow(SwapConflictError);
    await expect(swap).rejects.toThrow(message);
    expect(idsOf(await chunksOf(other, 't', ...WHOLE))).toEqual(before);
  });
});

describe('leases', () => {
  test('a lease has one holder; renew extends it; release frees it', async () => {
    const { catalog, other, clock } = setUp();
    const lease = (await catalog.leases.take('x', 10_000))!;
    expect(await other.leases.take('x', 10_000)).toBeUndefined();
    clock.advance(9000);
    expect(await catalog.leases.renew(lease, 10_000)).toBe(true);
    clock.advance(9000);
    expect(await other.leases.take('x', 10_000)).toBeUndefined();
    await catalog.leases.release(lease);
    const next = (await other.leases.take('x', 10_000))!;
    expect(next.token).not.toBe(lease.token);
    expect(await catalog.leases.renew(lease, 10_000)).toBe(false);
    await catalog.leases.release(lease);
    expect(await catalog.leases.take('x', 10_000)).toBeUndefined();
  });
});

describe('outstanding work', () => {
  const listed = async (catalog: Catalog) => {
    const works = [];
    for await (const work of catalog.outstanding.list()) works.push(work);
    return works;
  };

  test('is written with the first commit of a day, and again once that is forgotten', async () => {
    const { catalog, clock } = setUp();
    const startMs = clock.nowMs();
    await catalog.addChunks([record(1), record(2)]);
    clock.advance(WORK_KNOWN_MS - 1);
    await catalog.addChunks([record(3)]);
    expect(await listed(catalog)).toEqual([{ tenant: 't', day: DAY, writtenMs: startMs }]);
    clock.advance(1);
    await catalog.addChunks([record(4)]);
    expect(await listed(catalog)).toEqual([{ tenant: 't', day: DAY, writtenMs: startMs + WORK_KNOWN_MS }]);
  });

  test('is taken away only when no process trusts in it any more', async () => {
    const { catalog, other, clock } = setUp();
    await catalog.addChunks([record(1)]);
    const [work] = await listed(catalog);
    expect(await other.outstanding.remove(work)).toBe(false);
    clock.advance(3 * WORK_KNOWN_MS + 1);
    await catalog.addChunks([record(2)]);
    expect(await other.outstanding.remove(work)).toBe(false);
    clock.advance(3 * WORK_KNOWN_MS + 1);
    expect(await other.outstanding.remove((await listed(catalog))[0])).toBe(true);
    expect(await listed(catalog)).toEqual([]);
    await catalog.addChunks([record(3)]);
    expect(await listed(catalog)).toHaveLength(1);
  });

  test('is announced again by a clock that was set back', async () => {
    const { catalog, clock } = setUp();
    const startMs = clock.nowMs();
    await catalog.addChunks([record(1)]);
    clock.advance(-3_600_000);
    await catalog.addChunks([record(2)]);
    expect(await listed(catalog)).toEqual([{ tenant: 't', day: DAY, writtenMs: startMs - 3_600_000 }]);
  });

  test('is listed from any start on, once round', async () => {
    const { catalog } = setUp();
    for (let i = 0; i < 30; i++)
      await catalog.addChunks([{ ...record(i), tenant: `t${i >> 1}`, day: i % 2 }]);
    const all = await listed(catalog);
    expect(all).toHaveLength(30);
    for (let start = 0; start < all.length; start++) {
      const works = [];
      for await (const work of catalog.outstanding.list(all[start])) works.push(work);
      expect(works).toEqual([...all.slice(start), ...all.slice(0, start)]);
    }
  });
});
