/** Steps of a swap: how many it takes, what each leaves if the next fails, and how much fits into one. */
import { describe, expect, test } from '@jest/globals';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { indexKey } from '../../shared/storage/catalog/day-item.ts';
import {
  MAX_PUBLISHED_CHUNKS,
  MAX_REMOVED_CHUNKS,
  MAX_SWAPPED_CHUNKS,
  SwapConflictError,
} from '../../shared/storage/catalog/swap.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { DAY, record } from './records.ts';

const LEASE_MS = 60_000;
const INDEX = { fromMinute: 0, id: 'a'.repeat(32), storedBytes: 100, headBytes: 10 };
const OTHER_INDEX = { ...INDEX, id: 'b'.repeat(32) };
const keyOf = ({ level, id }: ChunkRecord) => `t/chunks/${DAY}/${level}/${id}`;

interface SwapOf {
  readonly removed?: readonly ChunkRecord[];
  readonly added?: readonly ChunkRecord[];
  readonly updated?: readonly ChunkRecord[];
  readonly indexes?: readonly (typeof INDEX)[];
}

/** `before` is called before each write of a swap, with its number from 1. */
function setUp(before: (step: number) => Promise<void> = async () => undefined) {
  const [clock, ids] = [manualClock(), countingIds()];
  const inner = memoryTable({ clock });
  const plain = new Catalog({ table: inner, clock, ids });
  let step = 0;
  const table: Table = {
    ...inner,
    put: async (item, condition) => {
      await before(++step);
      await inner.put(item, condition);
    },
    transact: async writes => {
      await before(++step);
      await inner.transact(writes);
    },
  };
  const watched = new Catalog({ table, clock, ids });
  const swap = async (of: SwapOf, catalog = watched) => {
    const lease = (await plain.leases.take('x', LEASE_MS))!;
    const { records: _, ...day } = (await plain.day('t', DAY))!;
    try {
      return await catalog.swap({ tenant: 't', day, lease, removed: [], added: [], graceMs: 1000, ...of });
    } finally {
      await plain.leases.release(lease);
    }
  };
  const idsNow = async () =>
    (await plain.day('t', DAY))!.records.map(({ id }) => Number.parseInt(id, 16)).sort();
  return { clock, plain, watched, swap, idsNow, table: inner };
}

const [one, two, merged] = [record(1), record(2), record(9, { level: 1 })];

describe('steps', () => {
  test.each<[string, SwapOf, number, readonly string[]]>([
    ['inputs out and outputs in', { removed: [one, two], added: [merged] }, 3, [keyOf(one), keyOf(two)]],
    ['records updated beside', { removed: [one], updated: [two] }, 3, [keyOf(one)]],
    ['only outputs', { added: [merged] }, 1, []],
    ['only records updated', { updated: [one] }, 1, []],
    ['only inputs out', { removed: [one] }, 1, [keyOf(one)]],
    ['only an index', { indexes: [OTHER_INDEX] }, 1, [indexKey('t', DAY, INDEX.id)]],
    [
      'all of it',
      { removed: [one], added: [merged], updated: [two], indexes: [OTHER_INDEX] },
      3,
      [keyOf(one), indexKey('t', DAY, INDEX.id)],
    ],
  ])('%s', async (_name, of, steps, garbage) => {
    const { plain, swap } = setUp();
    await plain.addChunks([one, two]);
    const { version } = await swap({ indexes: [INDEX] }, plain);
    const after = await swap(of);
    expect(after).toEqual({
      day: DAY,
      version: version + steps,
      indexes: of.indexes ?? [INDEX],
      partitions: 4,
    });
    const { records, ...now } = (await plain.day('t', DAY))!;
    expect(now).toEqual(after);
    expect(await plain.garbage.all()).toEqual(new Set(garbage));
    const gone = (of.removed ?? []).map(({ id }) => id);
    const kept = [one, two].filter(({ id }) => !gone.includes(id));
    expect(new Set(records.map(({ id }) => id))).toEqual(
      new Set([...kept, ...(of.added ?? [])].map(({ id }) => id)),
    );
  });

  test('a failed step leaves the effects of earlier steps, and the next swap completes them', async () => {
    const seen: unknown[] = [];
    for (const step of [1, 2, 3]) {
      const { plain, swap, idsNow } = setUp(async now => {
        if (now === step) throw new Error('lost');
      });
      await plain.addChunks([one, two]);
      const first = await swap({ indexes: [INDEX] }, plain);
      await expect(swap({ removed: [one, two], added: [merged], indexes: [OTHER_INDEX] })).rejects.toThrow(
        'lost',
      );
      const { version, indexes, records } = (await plain.day('t', DAY))!;
      seen.push([version - first.version, await idsNow()]);
      // The index of before stays in force, and its object off the lists of garbage.
      expect(indexes).toEqual([INDEX]);
      expect(await plain.garbage.all()).toEqual(new Set());
      await swap({ removed: records, added: [record(10, { level: 1 })] }, plain);
      expect(await idsNow()).toEqual([10]);
    }
    expect(seen).toEqual([
      [0, [1, 2]],
      [1, [1, 2, 9]],
      [2, [1, 2, 9]],
    ]);
  });
});

describe('conflicts in the middle', () => {
  test.each([
    [2, 'the day has changed', 'day'],
    [3, 'the day has changed', 'day'],
    [3, 'the lease is lost', 'lease'],
    [3, 'an input is gone', 'input'],
  ] as const)('a conflict before step %i: %s', async (step, message, meddling) => {
    const { clock, plain, swap, table, idsNow } = setUp(async now => {
      if (now !== step) return;
      if (meddling === 'lease') clock.advance(LEASE_MS + 1000);
      else if (meddling === 'input') await removeOne();
      else await another();
    });
    const another = async () => {
      const lease = (await plain.leases.take('y', LEASE_MS))!;
      const { records: _, ...day } = (await plain.day('t', DAY))!;
      const added = [record(5)];
      await plain.swap({ tenant: 't', day, lease, removed: [], added, graceMs: 0 });
    };
    const removeOne = async () => {
      for (const shard of [0, 1, 2, 3]) {
        const { items } = await table.query(`c/t/${DAY}/${shard}`);
        for (const item of items) if (item.sk.endsWith(one.id)) await table.delete(item);
      }
    };
    await plain.addChunks([one, two]);
    const end = swap({ removed: [one, two], added: [merged] });
    await expect(end).rejects.toThrow(SwapConflictError);
    await expect(end).rejects.toThrow(message);
    // Added chunks stay: no garbage list contains their objects or those of the inputs.
    const others = { day: [1, 2, 5, 9], lease: [1, 2, 9], input: [2, 9] };
    expect(await idsNow()).toEqual(others[meddling]);
    expect(await plain.garbage.all()).toEqual(new Set());
  });
});

describe('changes of the day that keep its chunks', () => {
  type Parts = Pick<ReturnType<typeof setUp>, 'plain'>;
  const dayOf = async ({ plain }: Parts) => {
    const { records: _, ...day } = (await plain.day('t', DAY))!;
    return day;
  };
  const syncs = async ({ plain }: Parts) => {
    const lease = (await plain.leases.take('z', LEASE_MS))!;
    const day = await dayOf({ plain });
    const indexes = [{ ...INDEX, id: `${day.version % 10}`.repeat(32) }];
    await plain.swap({ tenant: 't', day, lease, removed: [], added: [], indexes, graceMs: 1000 });
  };
  const grows = ({ plain }: Parts) => plain.addChunks([record(5)], { partitions: 8 });

  test.each([
    [1, 'an index', syncs, 1],
    [2, 'an index', syncs, 1],
    [3, 'an index', syncs, 1],
    [1, 'more partitions', grows, 1],
    [2, 'more partitions', grows, 1],
    [3, 'more partitions', grows, 1],
  ] as const)('a swap continues with %s before step %i', async (step, _name, change, changes) => {
    const parts = setUp(async now => {
      if (now === step && isOn) {
        isOn = false;
        await change(parts);
      }
    });
    let isOn = true;
    await parts.plain.addChunks([one, two]);
    const before = await dayOf(parts);
    const after = await parts.swap({ removed: [one, two], added: [merged] });
    expect(after.version).toBe(before.version + 3 + changes);
    expect(after).toEqual(await dayOf(parts));
    expect(await parts.idsNow()).toEqual(change === grows ? [5, 9] : [9]);
    expect(isOn).toBe(false);
  });

  test('an index is written although chunks were added and removed, and replaces no newer index', async () => {
    const ends: unknown[] = [];
    for (const change of ['chunks', 'index'] as const) {
      const parts = setUp(async () => {
        if (!isOn) return;
        isOn = false;
        if (change === 'index') return syncs(parts);
        const lease = (await parts.plain.leases.take('z', LEASE_MS))!;
        const day = await dayOf(parts);
        const swapped = { removed: [one, two], added: [merged], graceMs: 0 };
        await parts.plain.swap({ tenant: 't', day, lease, ...swapped });
      });
      let isOn = true;
      await parts.plain.addChunks([one, two]);
      const end = parts.swap({ indexes: [INDEX] });
      ends.push(await end.then(({ indexes }) => indexes[0]).catch(error => String(error)));
      expect(isOn).toBe(false);
    }
    expect(ends).toEqual([INDEX, expect.stringContaining('the day has changed')]);
  });
});

describe('updated records', () => {
  test('are readable for a reader that knows the old ones', async () => {
    const { plain, watched, swap } = setUp();
    await plain.addChunks([one, two]);
    await watched.day('t', DAY);
    await swap({ updated: [{ ...one, asOfMs: 77 }] });
    const records = (await watched.day('t', DAY))!.records;
    expect(new Map(records.map(({ id, asOfMs }) => [id, asOfMs]))).toEqual(
      new Map([
        [one.id, 77],
        [two.id, 0],
      ]),
    );
  });

  test('are refused without effect if the chunk does not exist', async () => {
    const { plain, swap, idsNow } = setUp();
    await plain.addChunks([one]);
    await expect(swap({ updated: [two], added: [merged] })).rejects.toThrow('an input is gone');
    expect(await idsNow()).toEqual([1]);
  });
});

describe('bounds', () => {
  const chunks = (from: number, count: number, level = 0) =>
    Array.from({ length: count }, (_, i) => record(from + i, { level }));

  test('the maximum number of chunks of a swap fits its transactions', async () => {
    const { plain, swap } = setUp();
    const [removed, added] = [chunks(0, MAX_SWAPPED_CHUNKS), chunks(1000, MAX_PUBLISHED_CHUNKS, 1)];
    await plain.addChunks(removed);
    await swap({ indexes: [INDEX] }, plain);
    await swap({ removed, added, indexes: [OTHER_INDEX] });
    expect((await plain.day('t', DAY))!.records).toHaveLength(MAX_PUBLISHED_CHUNKS);
    expect((await plain.garbage.all()).size).toBe(MAX_SWAPPED_CHUNKS + 1);
  });

  test('more chunks than fit one transaction go in several, each with its list of garbage', async () => {
    const steps: number[] = [];
    const { plain, swap } = setUp(async step => void steps.push(step));
    const removed = chunks(0, 2 * MAX_SWAPPED_CHUNKS + 1);
    await plain.addChunks(removed);
    const { version } = await swap({ indexes: [INDEX] }, plain);
    const after = await swap({ removed, added: chunks(1000, 2, 1), indexes: [OTHER_INDEX] });
    expect(after).toMatchObject({ version: version + 5, indexes: [OTHER_INDEX] });
    expect(steps).toEqual([1, 2, 3, 4, 5]);
    const { records, ...now } = (await plain.day('t', DAY))!;
    expect(now).toEqual(after);
    expect(records).toHaveLength(2);
    expect(await plain.garbage.all()).toEqual(new Set([...removed.map(keyOf), indexKey('t', DAY, INDEX.id)]));
  });

  test.each<[string, SwapOf, string]>([
    ['removed', { removed: chunks(0, MAX_REMOVED_CHUNKS + 1), added: [merged] }, 'a swap removes 971 chunks'],
    [
      'added',
      { removed: [one], added: chunks(0, MAX_PUBLISHED_CHUNKS + 1) },
      'a swap adds and updates 98 chunks',
    ],
    [
      'updated',
      { removed: [one], added: [merged], updated: chunks(100, MAX_PUBLISHED_CHUNKS) },
      'a swap adds and updates 98 chunks',
    ],
  ])('one more is refused: %s', async (_name, of, message) => {
    const { plain, swap } = setUp();
    await plain.addChunks([one, two]);
    await expect(swap(of)).rejects.toThrow(message);
  });
});
