/** A catalog without records of stored data: which checks detect it, and what is kept. */
import { describe, expect, test } from '@jest/globals';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { newChunkId } from '../../shared/storage/catalog/chunk-id.ts';
import { walkForOrphans } from '../../shared/upkeep/compaction/orphan-walk.ts';
import { checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import {
  beginWithCatalog,
  isCatalogLost,
  LostCatalogError,
  type StoreMark,
} from '../../shared/upkeep/integrity/lost-catalog.ts';
import type { Problem } from '../../shared/upkeep/integrity/problem.ts';
import { collectionJob } from '../../shared/upkeep/maintenance/collection-job.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { batch, createWorld, SETTLED_MS } from './world.ts';

const bounds = { untilMs: Infinity, signal: new AbortController().signal };

function placeMark(): StoreMark {
  let isSet = false;
  return {
    isSet: async () => isSet,
    async set() {
      isSet = true;
    },
  };
}

function setUp() {
  const clock = manualClock();
  const ids = countingIds();
  const store = memoryObjectStore();
  const newCatalog = () => new Catalog({ table: memoryTable({ clock }), clock, ids });
  const put = (tenant: string) =>
    store.putIfAbsent(`${tenant}/chunks/20000/0/${newChunkId(clock, ids)}`, Buffer.from('x'));
  const mark = placeMark();
  const begin = (catalog: Catalog, beginAnew = false) =>
    beginWithCatalog({ catalog, store, clock, mark }, beginAnew);
  const chunks = async () => (await store.list('t/')).objects.length;
  return { clock, store, newCatalog, put, begin, chunks };
}

describe('the start', () => {
  test('a new store begins, also the second time', async () => {
    const { newCatalog, begin } = setUp();
    const catalog = newCatalog();
    await begin(catalog);
    await begin(catalog);
  });

  test('a store whose first push died before its commit begins again', async () => {
    const { newCatalog, begin, put } = setUp();
    const catalog = newCatalog();
    await begin(catalog);
    await put('t');
    await begin(catalog);
  });

  test.each([
    ['beside a store that held small pushes alone', 0],
    ['beside chunks', 1],
  ])('an empty catalog %s is refused, until a new one is requested', async (_, count) => {
    const { newCatalog, begin, put } = setUp();
    await begin(newCatalog());
    for (let i = 0; i < count; i++) await put('t');
    const catalog = newCatalog();
    await expect(begin(catalog)).rejects.toThrow(LostCatalogError);
    await expect(begin(catalog)).rejects.toThrow(/backup.*--rebuild-catalog.*--begin-anew/s);
    await begin(catalog, true);
    await begin(catalog);
  });

  test('chunks of a version that marked nothing are enough to refuse, and tenants in the catalog to begin', async () => {
    const world = createWorld();
    await world.push(batch('one', 100));
    expect(await isCatalogLost(world.parts)).toBe(false);
    await beginWithCatalog(world.parts, false);
    await world.loseTable();
    await expect(beginWithCatalog(world.parts, false)).rejects.toThrow(LostCatalogError);
  });

  test('a crash between any two writes of the first start does not count as a lost catalog', async () => {
    for (let writes = 0; writes < 4; writes++) {
      const { clock, store, newCatalog } = setUp();
      const catalog = newCatalog();
      const mark = placeMark();
      let left = writes;
      const mayWrite = () => {
        if (left-- <= 0) throw new Error('killed');
      };
      const dying: StoreMark = {
        isSet: mark.isSet,
        async set() {
          mayWrite();
          await mark.set();
        },
      };
      const { replace } = catalog.states;
      catalog.states.replace = async (...args) => {
        mayWrite();
        return replace.apply(catalog.states, args);
      };
      await beginWithCatalog({ catalog, store, clock, mark: dying }, false).catch(() => undefined);
      catalog.states.replace = replace;
      await beginWithCatalog({ catalog, store, clock, mark }, false);
    }
  });
});

describe('the collection of orphans', () => {
  test('a new catalog keeps every existing chunk forever', async () => {
    const { clock, store, newCatalog, begin, put, chunks } = setUp();
    await begin(newCatalog());
    for (let i = 0; i < 50; i++) await put('t');
    clock.advance(1);
    const catalog = newCatalog();
    await begin(catalog, true);
    for (let day = 0; day < 5; day++) {
      clock.advance(25 * MS_PER_HOUR);
      await walkForOrphans({ catalog, store, clock }, bounds);
    }
    expect(await chunks()).toBe(50);
  });

  test('chunks are kept and reported if most of a store has no records', async () => {
    const { clock, store, newCatalog, begin, put, chunks } = setUp();
    const catalog = newCatalog();
    await begin(catalog);
    clock.advance(1);
    for (let i = 0; i < 101; i++) await put('t');
    clock.advance(25 * MS_PER_HOUR);
    const job = collectionJob({ catalog, store, clock, everyMs: 1 });
    const { failures } = await job.run(bounds);
    expect(failures).toEqual([expect.stringMatching(/^101 objects have no record.*--rebuild-catalog/)]);
    expect(await chunks()).toBe(101);
  });

  test('a few chunks without a record go when they are a day old', async () => {
    const { clock, store, newCatalog, begin, put, chunks } = setUp();
    const catalog = newCatalog();
    await begin(catalog);
    clock.advance(1);
    for (let i = 0; i < 100; i++) await put('t');
    clock.advance(25 * MS_PER_HOUR);
    await walkForOrphans({ catalog, store, clock }, bounds);
    expect(await chunks()).toBe(0);
  });
});

describe('the doctor', () => {
  async function check({ parts }: ReturnType<typeof createWorld>) {
    const problems: Problem[] = [];
    const totals = await checkStore(parts, { full: true, report: problem => problems.push(problem) });
    return {
      totals,
      lost: problems.filter(({ kind }) => kind === 'lost-records').map(({ message }) => message),
    };
  }

  test.each([0, SETTLED_MS])(
    'names a lost catalog, whether its chunks are young or old: %i ms',
    async ageMs => {
      const world = createWorld();
      await world.push(batch('one', 100));
      await world.push(batch('two', 100));
      expect((await check(world)).totals.problems).toBe(0);
      await world.loseTable();
      world.clock.advance(ageMs);
      const { totals, lost } = await check(world);
      expect(totals).toMatchObject({ problems: 1, objects: 2, unrecorded: 2 });
      expect(lost).toEqual(['new or empty, but the store had another catalog before']);
    },
  );

  test.each([0, SETTLED_MS])('reports a new catalog with a separate chunk: %i ms', async ageMs => {
    const world = createWorld();
    await world.push(batch('one', 100));
    await world.push(batch('two', 100));
    await world.loseTable();
    world.clock.advance(1);
    await beginWithCatalog(world.parts, true);
    await world.push(batch('three', 100));
    world.clock.advance(ageMs);
    const { totals, lost } = await check(world);
    expect(totals).toMatchObject({ problems: 1, objects: 3, unrecorded: 2 });
    expect(lost).toEqual(['has no record of 2 of 3 stored chunks']);
  });

  test.each([0, SETTLED_MS])('names a catalog that came from an old backup: %i ms', async ageMs => {
    const world = createWorld();
    await world.push(batch('one', 100));
    const backup = world.journal;
    for (const name of ['two', 'three', 'four', 'five']) await world.push(batch(name, 100));
    await world.setTable(backup as never);
    world.clock.advance(ageMs);
    const { totals, lost } = await check(world);
    expect(totals).toMatchObject({ problems: 1, objects: 5, unrecorded: 4 });
    expect(lost).toEqual(['has no record of 4 of 5 stored chunks']);
  });

  test('accepts a few orphans', async () => {
    const world = createWorld();
    await world.push(batch('one', 100));
    const backup = world.journal;
    await world.push(batch('two', 100));
    await world.setTable(backup as never);
    world.clock.advance(SETTLED_MS);
    const { totals } = await check(world);
    expect(totals).toMatchObject({ problems: 0, objects: 2, unrecorded: 1, orphans: 1 });
  });

  test('accepts a push in progress in a new store', async () => {
    const world = createWorld();
    const before = world.journal;
    await world.push(batch('one', 100));
    const after = world.journal;
    await world.setTable(before as never);
    await beginWithCatalog(world.parts, true);
    const { sleep } = world.clock;
    world.clock.sleep = async (ms, signal) => {
      await sleep(ms, signal);
      for (const writes of after)
        await world.parts.table.transact(writes.filter(({ kind }) => kind !== 'check'));
    };
    expect((await check(world)).totals).toMatchObject({ problems: 0, unrecorded: 0 });
  });
});
