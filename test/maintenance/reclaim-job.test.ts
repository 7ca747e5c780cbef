/** Replaced objects are deleted as soon as no process reads them, and those of the store stay. */
import { expect, test } from '@jest/globals';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { garbageWrite } from '../../shared/storage/catalog/garbage.ts';
import { reclaimJob } from '../../shared/upkeep/maintenance/reclaim-job.ts';
import { manualClock } from '../support/manual-clock.ts';

const GRACE_MS = 600_000;
const bounds = { untilMs: Infinity, signal: new AbortController().signal };

function world() {
  const clock = manualClock(1_000_000);
  const store = memoryObjectStore();
  const table = memoryTable({ clock });
  const catalog = new Catalog({ table, clock, ids: seededIds(1) });
  let marks = 0;
  let left = Infinity;
  const told: string[] = [];
  const readers = {
    mark: () => ++marks,
    haveLeft: async (mark: number) => mark <= left,
    replaced: (keys: readonly string[]) => void told.push(...keys),
    during: <T>(work: () => Promise<T>) => work(),
  };
  const job = reclaimJob({ catalog, store, clock, readers, graceMs: GRACE_MS, collectionEveryMs: 300_000 });
  return {
    clock,
    told,
    setLeft: (mark: number) => {
      left = mark;
    },
    run: async () => (await job.run(bounds)).figures.deleted,
    isDone: async () => (await job.run(bounds)).done,
    everyMs: job.everyMs,
    keys: async () => (await store.list('', { limit: 100 })).objects.map(({ key }) => key),
    /** An object that was replaced now, to be kept for so long. */
    async replaced(key: string, graceMs = GRACE_MS) {
      await store.putIfAbsent(key, Buffer.from(key));
      await table.transact([garbageWrite(key, [key], clock.nowMs() + graceMs)]);
      clock.advance(1);
    },
  };
}

test('the run behind the one that found them deletes them, long before their time', async () => {
  const { run, replaced, keys, everyMs, told } = world();
  await replaced('a');
  await replaced('b');
  expect(await run()).toBe(0);
  // Reads that begin now do not need what readers have of them.
  expect(told.splice(0)).toEqual(['a', 'b']);
  expect(await keys()).toEqual(['a', 'b']);
  expect(await run()).toBe(2);
  expect(await keys()).toEqual([]);
  // Earlier reads may have cached them since.
  expect(told).toEqual(['a', 'b']);
  expect(everyMs).toBe(10_000);
});

test('continues at once while there is something to delete, unless readers stay', async () => {
  const { isDone, replaced, setLeft } = world();
  expect(await isDone()).toBe(true);
  await replaced('a');
  expect(await isDone()).toBe(false);
  setLeft(0);
  expect([await isDone(), await isDone()]).toEqual([true, true]);
  setLeft(1);
  expect(await isDone()).toBe(true);
  await replaced('b');
  expect(await isDone()).toBe(false);
});

test('waits for earlier readers, and deletes later replaced objects in the next round', async () => {
  const { run, replaced, keys, setLeft } = world();
  setLeft(0);
  await replaced('a');
  await run();
  await replaced('b');
  expect([await run(), await run()]).toEqual([0, 0]);
  setLeft(1);
  expect(await run()).toBe(1);
  expect(await keys()).toEqual(['b']);
  // The mark of the second round is 2.
  expect(await run()).toBe(0);
  setLeft(2);
  expect(await run()).toBe(1);
  expect(await keys()).toEqual([]);
});

test('longer retention times stay, except for the final grace period', async () => {
  const { run, replaced, keys, clock } = world();
  await replaced('expired', 2 * GRACE_MS);
  expect([await run(), await run()]).toEqual([0, 0]);
  expect(await keys()).toEqual(['expired']);
  clock.advance(GRACE_MS);
  expect([await run(), await run()]).toEqual([0, 1]);
});
