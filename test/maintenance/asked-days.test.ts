/**
 * Requested days of compaction: when they count as visited, and that they precede others without blocking
 * them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import type { Invoker } from '../../shared/base/ports/invoker.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { Compactor, type DayWork } from '../../shared/upkeep/compaction/compactor.ts';
import { pushLine, START_MS, testStores } from './store.ts';

const DAY = START_MS / MS_PER_DAY;
const { compactDay } = Compactor.prototype;

afterEach(() => {
  jest.restoreAllMocks();
});

/** Called before each day is compacted. */
function visited(before: (work: DayWork) => void = () => undefined): string[] {
  const visits: string[] = [];
  jest.spyOn(Compactor.prototype, 'compactDay').mockImplementation(async function (this: Compactor, work) {
    visits.push(`${work.tenant}${work.onlyPushes === true ? ' asked' : ''}`);
    before(work);
    return compactDay.call(this, work);
  });
  return visits;
}

function packOf(process: ReturnType<ReturnType<typeof testStores>['process']>) {
  const looked: string[] = [];
  return {
    looked,
    pack: (tenant: string) =>
      void process.context.maintenance.requestMerges({ tenant, day: DAY }).then(() => looked.push(tenant)),
  };
}

test('a day that another process holds is requested again, until it was visited', async () => {
  const process = testStores().process(1);
  await pushLine(process, 'a', START_MS, 'x');
  const { looked, pack } = packOf(process);
  const lease = (await process.catalog.leases.take(dayLease('a', DAY), MS_PER_HOUR))!;
  pack('a');
  expect((await process.run('compaction')).done).toBe(false);
  expect((await process.run('compaction')).done).toBe(false);
  expect(looked).toEqual([]);
  // Requests in the meantime are the same work.
  pack('a');
  await process.catalog.leases.release(lease);
  expect((await process.run('compaction')).done).toBe(true);
  expect(looked).toEqual(['a', 'a']);
  const visits = visited();
  await process.run('compaction');
  expect(visits.filter(visit => visit === 'a asked')).toEqual([]);
});

test('one visit answers both requests of a day that another process held', async () => {
  const process = testStores().process(1);
  await pushLine(process, 'a', START_MS, 'x');
  const { looked, pack } = packOf(process);
  const lease = (await process.catalog.leases.take(dayLease('a', DAY), MS_PER_HOUR))!;
  let times = 0;
  const visits = visited(() => {
    if (times++ === 0) pack('a');
  });
  pack('a');
  await process.run('compaction');
  expect(looked).toEqual([]);
  await process.catalog.leases.release(lease);
  await process.run('compaction');
  expect(looked).toEqual(['a', 'a']);
  expect(visits[0]).toBe('a asked');
});

test('a day that fails counts as looked at: it would fail again', async () => {
  const process = testStores().process(1);
  const { looked, pack } = packOf(process);
  visited(({ onlyPushes }) => {
    if (onlyPushes === true) throw new Error('broken');
  });
  pack('a');
  expect((await process.run('compaction')).failures).toEqual([`a/${DAY}: broken`]);
  expect(looked).toEqual(['a']);
});

test('a day whose time was up is left for the next run', async () => {
  const { clock, process: processOf } = testStores();
  const process = processOf(1);
  const { looked, pack } = packOf(process);
  pack('a');
  const { signal } = new AbortController();
  const { jobs } = process.context.maintenance;
  expect((await jobs.run('compaction', { untilMs: clock.nowMs(), signal })).done).toBe(false);
  expect(looked).toEqual([]);
  await process.run('compaction');
  expect(looked).toEqual(['a']);
});

test('requested days alternate with the others', async () => {
  const process = testStores().process(1);
  const others = ['p', 'q', 'r'];
  for (const tenant of others) await pushLine(process, tenant, START_MS, 'x');
  const { looked, pack } = packOf(process);
  // A tenant that sends a request after each visit.
  const visits = visited(() => pack('a'));
  await process.run('compaction');
  const turns = visits.filter(visit => visit !== 'a asked');
  expect(turns.toSorted()).toEqual(others);
  // Runs before each visit except the first, when there was no request.
  expect(visits).toEqual([turns[0], 'a asked', turns[1], 'a asked', turns[2]]);
  // Five visits were requested; the last two are for the next run.
  expect(looked).toHaveLength(3);
});

test('a day with many merges is left between two of them for requested days', async () => {
  const process = testStores().process(1);
  await pushLine(process, 'p', START_MS, 'x');
  const { looked, pack } = packOf(process);
  pack('q');
  await process.run('compaction');
  // Merges that each take longer than a slice. The third call merged nothing in its time.
  const merges = [1, 1, 0];
  const visits: string[] = [];
  const limited: boolean[] = [];
  const { signal } = new AbortController();
  const untilMs = Number.MAX_SAFE_INTEGER;
  jest.spyOn(Compactor.prototype, 'compactDay').mockImplementation(async function (this: Compactor, work) {
    visits.push(`${work.tenant}${work.onlyPushes === true ? ' asked' : ''}`);
    const report = await compactDay.call(this, work);
    if (work.onlyPushes === true) return report;
    limited.push(work.untilMs < untilMs);
    pack('q');
    const count = merges.shift();
    return count === undefined ? report : { ...report, merges: count, end: 'time' };
  });
  await process.context.maintenance.jobs.run('compaction', { untilMs, signal });
  expect(visits).toEqual(['p', 'q asked', 'p', 'q asked', 'p', 'q asked', 'p']);
  // After a slice without a merge, the day is not left again before one.
  expect(limited).toEqual([true, true, true, false]);
  expect(looked).toHaveLength(4);
});

test('each look at a day is a reader of objects, and the run is none: what it replaces can be deleted meanwhile', async () => {
  let [open, begun] = [0, 0];
  const objectReaders = {
    mark: () => 1,
    haveLeft: async () => true,
    replaced: () => undefined,
    async during<T>(work: () => Promise<T>) {
      open++;
      begun++;
      try {
        return await work();
      } finally {
        open--;
      }
    },
  };
  const process = testStores({}, {}, { objectReaders }).process(1);
  for (const tenant of ['p', 'q']) await pushLine(process, tenant, START_MS, 'x');
  packOf(process).pack('r');
  const during: number[] = [];
  const visits = visited(() => during.push(open));
  await process.run('compaction');
  expect(visits.toSorted()).toEqual(['p', 'q', 'r asked']);
  expect(during).toEqual([1, 1, 1]);
  expect([open, begun]).toEqual([0, 3]);
});

test('functions, which request no days, merge a day without slices', async () => {
  const process = testStores().process(1);
  await pushLine(process, 'p', START_MS, 'x');
  const limits = new Set<number>();
  const { signal } = new AbortController();
  const untilMs = Number.MAX_SAFE_INTEGER;
  visited(work => limits.add(work.untilMs));
  await process.context.maintenance.jobs.run('compaction', { untilMs, signal });
  expect([...limits]).toEqual([untilMs]);
});

test.each([[1], [2], [3]])('%i merge threads merge as many days concurrently', async threads => {
  const mergeOffload = ({ invoke }: Invoker) => ({ invoke, daysAtOnce: threads });
  const process = testStores({}, {}, { mergeOffload }).process(1);
  const { looked, pack } = packOf(process);
  let [running, most] = [0, 0];
  jest.spyOn(Compactor.prototype, 'compactDay').mockImplementation(async function (this: Compactor, work) {
    most = Math.max(most, ++running);
    // Enough turns of the event loop for all others that may begin.
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    running--;
    return compactDay.call(this, work);
  });
  for (const tenant of ['a', 'b', 'c', 'd']) pack(tenant);
  await process.run('compaction');
  expect(looked.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  expect(most).toBe(threads);
});
