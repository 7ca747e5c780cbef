/** Many functions merge one tenant's day concurrently, each part under its lease. The holder of the day collects the results. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { decodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { dayLease, partLease } from '../../shared/storage/catalog/leases.ts';
import { LEASE_MS } from '../../shared/upkeep/compaction/compactor.ts';
import { CREW_RUN_MS, REPLAN_MS } from '../../shared/upkeep/compaction/merge-crew.ts';
import { helpersOf } from '../../shared/upkeep/compaction/merge-task.ts';
import { PART_LEASE_MS, PartBusyError } from '../../shared/upkeep/compaction/part-lease.ts';
import {
  type Around,
  CANCEL_PERIOD_MS,
  DAY,
  Fuse,
  makeWorld,
  TENANT,
  type World,
} from '../deletion/jobs/world.ts';
import type { DatedEntry } from '../support/pushes.ts';

const WINDOWS = 4;

const entryAt = (window: number, number: number, line = `line ${window} ${number}`): DatedEntry => ({
  stream: { app: 'a' },
  day: DAY,
  time: (window * 5 + 1) * NS_OF_MINUTE + number,
  line,
  metadata: {},
});

/** A day with pushes in several closed windows of 5 minutes: a merge of each. */
async function worldOfWindows(): Promise<World> {
  const world = makeWorld();
  for (let window = 0; window < WINDOWS; window++) {
    for (let i = 0; i < 3; i++) await world.push([entryAt(window, i), entryAt(window, 9, 'again')]);
  }
  // Pushes settle.
  world.clock.advance(5000);
  return world;
}

async function levelsOf({ plain }: World): Promise<number[]> {
  return (await plain.catalog.day(TENANT, DAY))!.records.map(({ level }) => level).sort();
}

/** Calls that wait until the given number is running. */
function meeting(count: number) {
  const [all, met] = [Promise.withResolvers<void>(), { most: 0 }];
  let running = 0;
  const around: Around = async call => {
    met.most = Math.max(met.most, ++running);
    if (running >= count) all.resolve();
    await all.promise;
    return call().finally(() => running--);
  };
  return { around, met };
}

/** IDs of the chunks that an encoded task merges. */
function inputIdsOf(task: Uint8Array): string[] {
  const { inputs } = JSON.parse(Buffer.from(task).toString()) as { readonly inputs: readonly string[] };
  return inputs.map(text => decodeRecord(TENANT, DAY, Buffer.from(text, 'base64')).id);
}

function helped(world: World, around?: Around, most = WINDOWS) {
  return world.process(new Fuse(), world.helping(most, around)).compactor;
}

describe('several functions', () => {
  test('merge different windows of one tenant at the same time, and one swap publishes them', async () => {
    const world = await worldOfWindows();
    const [stored, before] = [await world.stored(), (await world.plain.catalog.day(TENANT, DAY))!];
    const { around, met } = meeting(WINDOWS);
    const versions: number[] = [];
    const report = await world.compact(
      DAY,
      false,
      helped(world, async (call, task) => {
        versions.push((await world.plain.catalog.day(TENANT, DAY))!.version - before.version);
        return around(call, task);
      }),
    );
    expect(met.most).toBe(WINDOWS);
    expect(report).toMatchObject({ duplicates: 2 * WINDOWS, dropped: 0 });
    // Versions of the four windows together. Later plans follow.
    expect(versions.slice(0, WINDOWS + 1)).toEqual([0, 0, 0, 0, 3]);
    expect(await world.stored()).toEqual(stored);
    expect(await levelsOf(world)).toEqual([3]);
  });

  test('are as many as the limit of concurrent calls', async () => {
    const world = await worldOfWindows();
    const { around, met } = meeting(2);
    await world.compact(DAY, false, helped(world, around, 2));
    expect(met.most).toBe(2);
    expect(await levelsOf(world)).toEqual([3]);
  });

  test('lose one window if one of them dies: the others are published, the next run merges that window', async () => {
    const world = await worldOfWindows();
    const { catalog } = world.plain;
    const stored = await world.stored();
    const { around, met } = meeting(WINDOWS);
    const untilMs = world.clock.nowMs() + 1000;
    let lost: readonly string[] | undefined;
    const firstDies: Around = async (call, task) => {
      const dies = lost === undefined;
      lost ??= inputIdsOf(task);
      const answer = await around(call, task);
      // The time of this run is up, so the holder of the day does not merge the lost window itself.
      world.clock.advance(1000);
      if (dies) throw new Error('the function is lost');
      return answer;
    };
    const work = { tenant: TENANT, day: DAY, untilMs, signal: new AbortController().signal };
    const report = await helped(world, firstDies).compactDay(work);
    expect(met.most).toBe(WINDOWS);
    expect(report).toMatchObject({ end: 'time', merges: WINDOWS - 1 });
    const { records } = (await catalog.day(TENANT, DAY))!;
    const unmerged = records.filter(({ level }) => level === 0);
    expect(unmerged.map(({ id }) => id).sort()).toEqual(lost?.toSorted());
    expect(records).toHaveLength(unmerged.length + WINDOWS - 1);
    expect(await world.stored()).toEqual(stored);
    expect(await world.compact(DAY, false, helped(world))).toMatchObject({ end: 'settled' });
    expect(await world.stored()).toEqual(stored);
  });

  test('leave a merge to the holder of the day if one of them is lost', async () => {
    const world = await worldOfWindows();
    const stored = await world.stored();
    let calls = 0;
    const lostAfterwards: Around = async call => {
      const index = calls++;
      const answer = await call();
      if (index < 2) throw new Error('the function is lost');
      return answer;
    };
    const report = await world.compact(DAY, false, helped(world, lostAfterwards));
    expect(report).toMatchObject({ end: 'settled', duplicates: 2 * WINDOWS });
    expect(await world.stored()).toEqual(stored);
    expect(await levelsOf(world)).toEqual([3]);
  });

  test('merge pushes that arrive in the same run', async () => {
    const world = await worldOfWindows();
    let calls = 0;
    const slow: Around = async call => {
      if (calls++ === 0) {
        for (let i = 0; i < 3; i++) await world.push([entryAt(20, i), entryAt(21, i)]);
        world.clock.advance(REPLAN_MS);
        for (let turn = 0; turn < 50; turn++) await nextTurn();
      }
      return call();
    };
    await world.compact(DAY, false, helped(world, slow));
    expect(await levelsOf(world)).toEqual([3]);
    expect(await world.stored()).toHaveLength(WINDOWS * 4 + 6);
  });

  test('have their outputs published in several swaps if one transaction cannot hold them', async () => {
    const random = seededRandom(1);
    const letter = () => String.fromCharCode(33 + Math.floor(random() * 90));
    const noise = () => Array.from({ length: 100_000 }, letter).join('');
    const world = makeWorld({ inlineMaxBytes: 350_000 });
    for (let window = 0; window < 18; window++) {
      for (let i = 0; i < 3; i++) await world.push([entryAt(window, i, noise())]);
    }
    world.clock.advance(5000);
    const { around, met } = meeting(18);
    const report = await world.compact(DAY, false, helped(world, around, 18));
    expect(met.most).toBe(18);
    expect(report.end).toBe('settled');
    expect(await world.stored()).toHaveLength(54);
  });

  test('merge lines without a byte, too', async () => {
    const world = makeWorld();
    for (let i = 0; i < 3; i++) await world.push([entryAt(0, i, '')]);
    world.clock.advance(5000);
    const { around, met } = meeting(1);
    expect(await world.compact(DAY, false, helped(world, around))).toMatchObject({ end: 'settled' });
    expect(met.most).toBe(1);
    expect(await levelsOf(world)).toEqual([3]);
  });

  test('take no part in a small backlog, which costs no request more', async () => {
    const calls: number[] = [];
    for (const most of [0, 50]) {
      const world = await worldOfWindows();
      const fuse = new Fuse();
      const unwanted = async () => Promise.reject(new Error('not worth a call'));
      const helpers = most === 0 ? undefined : helpersOf({ invoke: unwanted }, { most });
      const report = await world.compact(DAY, false, world.process(fuse, helpers).compactor);
      expect(report.end).toBe('settled');
      calls.push(fuse.calls);
    }
    expect(calls[0]).toBe(calls[1]);
  });
});

/** Functions that merge one part of a day, each until it is released. `begun` counts those that have the lease of the part. */
async function partOfDay() {
  const begun: PromiseWithResolvers<void>[] = [];
  const world = makeWorld({
    brokenDrops: sound => ({
      areInForce: (...asked) => sound.areInForce(...asked),
      expiredBeforeNs: tenant => sound.expiredBeforeNs(tenant),
      async dropsOf(tenant) {
        const release = Promise.withResolvers<void>();
        begun.push(release);
        await release.promise;
        return sound.dropsOf(tenant);
      },
    }),
  });
  for (let i = 0; i < 3; i++) await world.push([entryAt(0, i)]);
  const { records } = (await world.plain.catalog.day(TENANT, DAY))!;
  const merge = () =>
    world
      .helping(1)
      .merge(
        { tenant: TENANT, day: DAY, level: 3, quality: 'final', inputs: records },
        new AbortController().signal,
      );
  const oldest = partLease(TENANT, DAY, records[0].id);
  const isFree = async () => {
    const { leases } = world.plain.catalog;
    const lease = await leases.take(oldest, PART_LEASE_MS);
    if (lease !== undefined) await leases.release(lease);
    return lease !== undefined;
  };
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  };
  return { world, begun, merge, isFree, turns };
}

describe('a part of the day', () => {
  test('is leased while a function merges it, and no longer', async () => {
    const { begun, merge, isFree, turns } = await partOfDay();
    const merging = merge();
    await turns();
    expect([begun.length, await isFree()]).toEqual([1, false]);
    begun[0].resolve();
    expect((await merging).added).toHaveLength(1);
    expect(await isFree()).toBe(true);
  });

  test('is merged by one function at a time if it is called twice', async () => {
    const { begun, merge, turns } = await partOfDay();
    const [first, second] = [merge(), merge()];
    await turns();
    expect(begun).toHaveLength(1);
    begun[0].resolve();
    await first;
    await turns();
    expect(begun).toHaveLength(2);
    begun[1].resolve();
    expect((await second).added).toHaveLength(1);
  });

  test('is refused to a second function that waits in vain', async () => {
    const { merge } = await partOfDay();
    void merge();
    await expect(merge()).rejects.toThrow(PartBusyError);
  });

  test('is free once the lease of a lost function is over', async () => {
    const { world, begun, merge, turns } = await partOfDay();
    void merge();
    await turns();
    world.clock.advance(PART_LEASE_MS + 1000);
    const again = merge();
    await turns();
    expect(begun).toHaveLength(2);
    begun[1].resolve();
    expect((await again).added).toHaveLength(1);
  });

  test('of a lost function is left by the holder of the day until the lease is over; all others are merged', async () => {
    const world = await worldOfWindows();
    const { leases } = world.plain.catalog;
    const stored = await world.stored();
    let lost: readonly string[] | undefined;
    const firstIsLost: Around = async (call, task) => {
      if (lost !== undefined) return call();
      lost = inputIdsOf(task);
      await leases.take(partLease(TENANT, DAY, lost[0]), PART_LEASE_MS);
      throw new Error('the function is lost');
    };
    const report = await world.compact(DAY, false, helped(world, firstIsLost));
    expect(report.end).toBe('busy');
    const left = (await world.plain.catalog.day(TENANT, DAY))!.records.filter(({ level }) => level === 0);
    expect(left.map(({ id }) => id).sort()).toEqual(lost?.toSorted());
    expect(await world.stored()).toEqual(stored);
    world.clock.advance(PART_LEASE_MS + 1000);
    expect(await world.compact(DAY, false, helped(world))).toMatchObject({ end: 'settled' });
    expect(await levelsOf(world)).toEqual([3]);
    expect(await world.stored()).toEqual(stored);
  });
});

describe('the holder of the day', () => {
  test('releases it after 4 minutes, so that deletion can run', async () => {
    const world = await worldOfWindows();
    const startMs = world.clock.nowMs();
    const slow: Around = async call => {
      while (world.clock.nowMs() - startMs < CREW_RUN_MS) {
        world.clock.advance(LEASE_MS / 3);
        for (let turn = 0; turn < 20; turn++) await nextTurn();
      }
      return call();
    };
    const { catalog } = world.plain;
    const report = await world.compact(DAY, false, helped(world, slow, 1));
    expect(report).toMatchObject({ end: 'time', merges: 1 });
    expect(await catalog.leases.take(dayLease(TENANT, DAY), LEASE_MS)).toBeDefined();
  });

  test('publishes nothing once its lease is over and another has it', async () => {
    const world = await worldOfWindows();
    const { catalog } = world.plain;
    const before = await catalog.day(TENANT, DAY);
    let next: unknown;
    const stalls: Around = async call => {
      const answer = await call();
      if (next === undefined) {
        world.clock.advance(LEASE_MS + 1000);
        next = await catalog.leases.take(dayLease(TENANT, DAY), LEASE_MS);
        expect(next).toBeDefined();
      }
      return answer;
    };
    expect(await world.compact(DAY, false, helped(world, stalls))).toMatchObject({ end: 'busy', merges: 0 });
    expect(await catalog.day(TENANT, DAY)).toEqual(before);
  });

  test('may die at any call: another one takes the day over, and no entry is lost or doubled', async () => {
    const died: boolean[] = [];
    for (let call = 1; died.at(-1) !== false; call++) {
      const world = await worldOfWindows();
      const stored = await world.stored();
      const fuse = new Fuse(call, call % 2 === 0);
      await world.compact(DAY, false, world.process(fuse, world.helping(2)).compactor).catch(() => undefined);
      died.push(fuse.calls >= call);
      expect(await world.stored()).toEqual(stored);
      world.clock.advance(LEASE_MS + 1000);
      expect(await world.compact(DAY, true, helped(world))).toMatchObject({ end: 'settled' });
      expect(await world.stored()).toEqual(stored);
      const { records } = (await world.plain.catalog.day(TENANT, DAY))!;
      expect(records.reduce((rows, one) => rows + one.rows, 0)).toBe(stored.length);
    }
    expect(died.length).toBeGreaterThan(15);
  });

  test('publishes no output for which a delete request was canceled', async () => {
    const world = await worldOfWindows();
    const stored = await world.stored();
    await world.create({ query: '{app="a"} |= "again"' });
    world.clock.advance(CANCEL_PERIOD_MS + 120_000);
    const { deletes } = world.plain.catalog;
    const [request] = await world.requests();
    await deletes.replace(request, { ...request, pickedUpMs: Math.trunc(world.clock.nowMs()) - 1000 });
    let canceled = false;
    const cancels: Around = async call => {
      const answer = await call();
      if (!canceled) await deletes.remove((await world.requests())[0]);
      canceled = true;
      return answer;
    };
    const report = await world.compact(DAY, false, helped(world, cancels));
    expect(report).toMatchObject({ end: 'settled', dropped: 0 });
    expect(await world.stored()).toEqual(stored);
    expect(await levelsOf(world)).toEqual([3]);
  });
});
