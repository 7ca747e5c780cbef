/** Deletion by age: which data is deleted and when, and how much is read and written for it. */
import { describe, expect, test } from '@jest/globals';
import type { Limits } from '../../shared/base/model/limits.ts';
import { MS_PER_DAY, MS_PER_HOUR, NS_PER_DAY, NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { LEASE_MS } from '../../shared/upkeep/compaction/compactor.ts';
import { DAY, Fuse, KilledError, makeWorld, TENANT, type World } from '../deletion/jobs/world.ts';
import { type DatedEntry, identityOf } from '../support/pushes.ts';

/** Start time of makeWorld. */
const START_MS = (DAY + 3) * MS_PER_DAY;

function entry(day: number, hour: number, app = 'a'): DatedEntry {
  return { stream: { app }, day, time: hour * Number(NS_PER_HOUR), line: `${day} ${hour}`, metadata: {} };
}

/** Keeps `hours`; streams of app b for `hoursOfB` if given, 0 forever. */
function limits(hours: number, hoursOfB?: number): Partial<Limits> {
  const periodNs = BigInt(hoursOfB ?? 0) * NS_PER_HOUR;
  return {
    retentionPeriodNs: BigInt(hours) * NS_PER_HOUR,
    retentionStream: hoursOfB === undefined ? [] : [{ selector: '{app="b"}', priority: 1, periodNs }],
  };
}

async function run(world: World, retention = world.plain.retention) {
  const bounds = { untilMs: world.clock.nowMs() + MS_PER_HOUR, signal: new AbortController().signal };
  const { figures, failures } = await retention.run(bounds);
  expect(failures).toEqual([]);
  return figures;
}

const identities = (...entries: DatedEntry[]) => entries.map(identityOf).sort();

async function filled(entries: readonly (readonly DatedEntry[])[], given: Partial<Limits>): Promise<World> {
  const world = makeWorld({ limits: given });
  for (const some of entries) await world.push(some);
  return world;
}

test('deletes nothing if nothing expires', async () => {
  const world = await filled([[entry(DAY, 1)]], limits(0));
  world.clock.advance(100 * MS_PER_DAY);
  expect(await run(world)).toMatchObject({ days: 0, removed: 0 });
  expect(await world.stored()).toHaveLength(1);
});

describe('one period', () => {
  test('takes chunks whole when their last entry is older, and reads nothing for it', async () => {
    const [early, late] = [entry(DAY, 1), entry(DAY, 5)];
    const world = await filled([[early], [entry(DAY, 2), late]], limits(72));
    let reads = 0;
    const getRange = world.rawStore.getRange.bind(world.rawStore);
    world.rawStore.getRange = async (...given) => {
      reads++;
      return getRange(...given);
    };
    world.clock.advance(MS_PER_HOUR);
    // Exactly as old as the period: kept.
    expect(await run(world)).toMatchObject({ removed: 0 });
    world.clock.advance(1);
    expect(await run(world)).toMatchObject({ removed: 1, rewritten: 0 });
    expect(reads).toBe(0);
    expect(await world.stored()).toEqual(identities(entry(DAY, 2), late));
    reads = 0;
    world.clock.advance(3 * MS_PER_HOUR);
    expect(await run(world)).toMatchObject({ removed: 0, rewritten: 0 });
    world.clock.advance(MS_PER_HOUR);
    expect(await run(world)).toMatchObject({ removed: 1, rewritten: 0 });
    expect(reads).toBe(0);
    expect(await world.stored()).toEqual([]);
  });

  test('a changed period applies to stored entries', async () => {
    const world = await filled([[entry(DAY, 1)], [entry(DAY + 2, 1)]], limits(0));
    await run(world);
    expect(await world.stored()).toHaveLength(2);
    world.setLimits(limits(48));
    await run(world);
    expect(await world.stored()).toEqual(identities(entry(DAY + 2, 1)));
  });

  test('is applied by merges, and completely expired chunks are not merged', async () => {
    const world = await filled(
      [[entry(DAY, 1)], [entry(DAY, 2)], [entry(DAY, 3), entry(DAY, 5)], [entry(DAY, 6)]],
      {
        ...limits(72),
      },
    );
    world.clock.advance(4 * MS_PER_HOUR);
    expect(await world.compact(DAY, true)).toMatchObject({ merges: 1, rows: 2, dropped: 1 });
    expect(await world.stored()).toHaveLength(4);
    expect(await run(world)).toMatchObject({ removed: 2 });
    expect(await world.stored()).toEqual(identities(entry(DAY, 5), entry(DAY, 6)));
  });
});

describe('rules of streams', () => {
  test('take chunks of their streams whole, and rewrite mixed ones once, when the day is over', async () => {
    const mixed = [entry(DAY, 1), entry(DAY, 1, 'b')];
    const world = await filled([mixed, [entry(DAY, 2, 'b')], [entry(DAY, 2)]], limits(24 * 30, 24 * 3));
    world.clock.advance(MS_PER_DAY - 1);
    expect(await run(world)).toMatchObject({ rewritten: 0, removed: 0 });
    world.clock.advance(1);
    expect(await run(world)).toMatchObject({ rewritten: 1, rows: 1, removed: 1 });
    expect(await world.stored()).toEqual(identities(entry(DAY, 1), entry(DAY, 2)));
    expect(await run(world)).toMatchObject({ rewritten: 0, removed: 0 });
    expect(await run(world)).toMatchObject({ days: 0 });
    world.clock.advance(27 * MS_PER_DAY);
    expect(await run(world)).toMatchObject({ rewritten: 0, removed: 2 });
    expect(await world.stored()).toEqual([]);
  });

  test('may keep streams for good', async () => {
    const world = await filled([[entry(DAY, 1), entry(DAY, 1, 'b')]], limits(24, 0));
    world.clock.advance(1000 * MS_PER_DAY);
    await run(world);
    expect(await world.stored()).toEqual(identities(entry(DAY, 1, 'b')));
  });

  test('rules of streams and delete requests are applied by the same rewriting', async () => {
    const world = await filled([[entry(DAY, 1), entry(DAY, 2), entry(DAY, 1, 'b')]], limits(24 * 30, 24 * 3));
    const startNs = BigInt(DAY) * NS_PER_DAY;
    await world.create({ query: '{app="a"}', startNs, endNs: startNs + NS_PER_HOUR, createdMs: START_MS });
    world.clock.advance(2 * MS_PER_DAY);
    await world.runDeletion();
    world.clock.advance(2 * MS_PER_HOUR);
    expect(await run(world)).toMatchObject({ rewritten: 1, rows: 2 });
    expect(await world.stored()).toEqual(identities(entry(DAY, 2)));
    // Its outputs are marked, so nothing is checked again.
    await world.runDeletion();
    expect(world.figures).toMatchObject({ looked: 0 });
  });
});

test('removes a day without chunks from the catalog when no process can push to it unannounced', async () => {
  const world = await filled([[entry(DAY, 1)]], limits(72));
  world.clock.advance(MS_PER_DAY);
  await run(world);
  await world.compact(DAY);
  expect(await world.plain.catalog.allDays(TENANT)).toHaveLength(1);
  world.clock.advance(MS_PER_HOUR);
  await world.compact(DAY);
  expect(await world.plain.catalog.allDays(TENANT)).toEqual([]);
  expect(await Array.fromAsync(world.plain.catalog.outstanding.list())).toEqual([]);

  world.setLimits(limits(0));
  await world.push([entry(DAY, 1)]);
  expect(await world.stored()).toHaveLength(1);
});

test('a process that knows the day keeps it', async () => {
  const world = await filled([[entry(DAY, 1)]], limits(72));
  world.clock.advance(MS_PER_DAY);
  await run(world);
  world.clock.advance(MS_PER_HOUR);
  world.setLimits(limits(0));
  await world.push([entry(DAY, 2)]);
  const snapshot = await world.plain.catalog.day(TENANT, DAY);
  const lease = await world.plain.catalog.leases.take('x', 60_000);
  const { records: _, ...day } = snapshot!;
  const removal = { tenant: TENANT, day, lease: lease!, graceMs: 0 };
  expect(await world.plain.catalog.removeEmptyDay(removal)).toBe(false);
  expect(await world.stored()).toEqual(identities(entry(DAY, 2)));
});

test.each([false, true])(
  'killed at any call, the next run ends it (the call has its effect: %s)',
  async isApplied => {
    for (let call = 1; ; call++) {
      const mixed = [entry(DAY, 1), entry(DAY, 1, 'b')];
      const world = await filled([mixed, [entry(DAY, 2, 'b')], [entry(DAY + 1, 2)]], limits(24 * 30, 24 * 3));
      world.clock.advance(MS_PER_DAY);
      const fuse = new Fuse(call, isApplied);
      const { retention } = world.process(fuse);
      const bounds = { untilMs: world.clock.nowMs() + MS_PER_HOUR, signal: new AbortController().signal };
      await retention.run(bounds).catch((error: unknown) => {
        if (!(error instanceof KilledError)) throw error;
      });
      world.clock.advance(LEASE_MS + 1000);
      await run(world);
      expect(await world.stored()).toEqual(identities(entry(DAY, 1), entry(DAY + 1, 2)));
      if (fuse.calls < call) return;
      expect(call).toBeLessThan(200);
    }
  },
);
