/** A delete request from its creation to its end: when each step happens, and what may come in between. */
import { describe, expect, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_MINUTE, NS_OF_HOUR } from '../../../shared/base/model/time-units.ts';
import { keyOfChunk } from '../../../shared/storage/catalog/chunk-object.ts';
import { LEASE_MS } from '../../../shared/upkeep/compaction/compactor.ts';
import { DELETE_TIMES } from '../../../shared/upkeep/deletion/delete-times.ts';
import { type DatedEntry, identityOf } from '../../support/pushes.ts';
import {
  CANCEL_PERIOD_MS,
  DAY,
  Fuse,
  KilledError,
  makeWorld,
  TENANT,
  type World,
  type WorldOptions,
} from './world.ts';

function entry(line: string, day = DAY, app = 'a', time = 1e9): DatedEntry {
  return { stream: { app }, day, time, line, metadata: {} };
}

const identities = (...entries: DatedEntry[]) => entries.map(identityOf).sort();

/** One request for lines with `secret`, picked up, and old enough to be worked on. */
async function pickedUp(options: WorldOptions = {}, entries: readonly DatedEntry[][] = []): Promise<World> {
  const world = makeWorld(options);
  for (const some of entries) await world.push(some);
  await world.create({ query: '{app="a"} |= "secret"' });
  world.clock.advance(CANCEL_PERIOD_MS);
  await world.runDeletion();
  world.clock.advance(DELETE_TIMES.marginMs + 1);
  return world;
}

async function only(world: World) {
  const [request] = await world.requests();
  return request;
}

async function finish(world: World): Promise<void> {
  for (let run = 0; run < 4; run++) {
    await world.runDeletion();
    world.clock.advance(DELETE_TIMES.maxCommitMs + DELETE_TIMES.marginMs + 1);
  }
  expect((await only(world)).processedMs).toBeDefined();
}

const KEPT = entry('kept');
const SECRET = entry('a secret', DAY, 'a', 2e9);

describe('the life of a request', () => {
  test('waits, is picked up, sealed and processed, each no sooner than it may', async () => {
    const world = makeWorld();
    await world.push([KEPT, SECRET]);
    await world.push([entry('secret', DAY + 1)]);
    await world.create({ query: '{app="a"} |= "secret"' });
    world.clock.advance(CANCEL_PERIOD_MS - 1);
    await world.runDeletion();
    expect(await only(world)).toMatchObject({ pickedUpMs: undefined, bytesTotal: 0 });
    expect(await world.compact(DAY, true)).toMatchObject({ dropped: 0 });

    world.clock.advance(1);
    await world.runDeletion();
    const { pickedUpMs, bytesTotal } = await only(world);
    expect(pickedUpMs).toBe(world.clock.nowMs() + DELETE_TIMES.marginMs);
    const records = [DAY, DAY + 1].map(day => world.plain.catalog.day(TENANT, day));
    const sizes = (await Promise.all(records)).flatMap(day => day!.records.map(r => r.storedBytes));
    expect(bytesTotal).toBe(sizes.reduce((sum, size) => sum + size, 0));
    expect(await world.stored()).toHaveLength(3);

    world.clock.advance(DELETE_TIMES.marginMs);
    await world.runDeletion();
    expect(await world.stored()).toHaveLength(3);
    world.clock.advance(1);
    await world.runDeletion();
    expect(await world.stored()).toEqual(identities(KEPT));
    const sealedMs = world.clock.nowMs();
    expect(await only(world)).toMatchObject({ sealedMs, bytesDone: bytesTotal, processedMs: undefined });

    world.clock.advance(DELETE_TIMES.maxCommitMs + DELETE_TIMES.marginMs);
    await world.runDeletion();
    expect((await only(world)).processedMs).toBeUndefined();
    const generation = await world.plain.catalog.generations.read(TENANT);
    world.clock.advance(1);
    await world.runDeletion();
    expect((await only(world)).processedMs).toBe(world.clock.nowMs());
    expect(await world.plain.catalog.generations.read(TENANT)).not.toBe(generation);
    expect(await Array.fromAsync(world.plain.catalog.deletes.tenants())).toEqual([]);
  });

  test('a push that was begun before the seal is covered whenever it is committed, one begun after is not', async () => {
    const world = await pickedUp({}, [[KEPT, SECRET]]);
    const slow = entry('a slow secret');
    const commit = await world.slowPush([slow]);
    await world.runDeletion();
    expect((await only(world)).sealedMs).toBe(world.clock.nowMs());
    world.clock.advance(1);
    const later = entry('a later secret');
    await world.push([later]);
    world.clock.advance(DELETE_TIMES.maxCommitMs - 2);
    await world.runDeletion();
    await commit();
    expect(await world.seen()).toEqual(identities(KEPT, later));
    expect(await world.stored()).toEqual(identities(KEPT, later, slow));
    world.clock.advance(DELETE_TIMES.marginMs + 2);
    await world.runDeletion();
    expect(await world.stored()).toEqual(identities(KEPT, later));
    expect((await only(world)).processedMs).toBe(world.clock.nowMs());
  });

  test('progress rises day by day, and a run whose time is up leaves the rest to the next', async () => {
    const world = await pickedUp({}, [[SECRET], [entry('secret', DAY + 1)], [entry('secret', DAY + 2)]]);
    const { deletion, catalog } = world.plain;
    const seen: number[] = [];
    const replace = catalog.deletes.replace.bind(catalog.deletes);
    catalog.deletes.replace = async (before, after) => {
      seen.push(after.bytesDone / after.bytesTotal);
      world.clock.advance(2000);
      return replace(before, after);
    };
    const { signal } = new AbortController();
    for (let run = 1; run <= 2; run++) {
      const bounds = { untilMs: world.clock.nowMs() + 1000, signal };
      expect(await deletion.work(TENANT, bounds, world.figures, [])).toBe(false);
      expect(seen).toHaveLength(run);
    }
    await deletion.work(TENANT, { untilMs: world.clock.nowMs() + 1000, signal }, world.figures, []);
    expect(seen[0]).toBeGreaterThan(0.2);
    expect(seen[1]).toBeGreaterThan(seen[0]);
    expect(seen[2]).toBeCloseTo(1);
    await finish(world);
    expect(await world.stored()).toEqual([]);
  });

  test.each([30_000, 70_000])(
    'a merge that could not see it picked up claims nothing (%d ms late)',
    async lateMs => {
      const world = makeWorld();
      for (const some of [[KEPT, SECRET], [entry('other')]]) await world.push(some);
      await world.create({ query: '{app="a"} |= "secret"' });
      world.clock.advance(CANCEL_PERIOD_MS);
      const { deletes } = world.plain.catalog;
      const replace = deletes.replace.bind(deletes);
      let merges = 0;
      deletes.replace = async (before, after) => {
        if (before.pickedUpMs === undefined && merges === 0) {
          world.clock.advance(lateMs);
          merges += (await world.compact(DAY, true)).merges;
        }
        return replace(before, after);
      };
      await world.runDeletion();
      expect(merges).toBe(1);
      expect(await world.seen()).toEqual(identities(KEPT, entry('other')));
      world.clock.advance(2 * DELETE_TIMES.marginMs);
      await finish(world);
      expect(await world.stored()).toEqual(identities(KEPT, entry('other')));
    },
  );

  test('at most one batch is processed at a time, the oldest first', async () => {
    const world = makeWorld({ batchSize: 2 });
    await world.push([KEPT]);
    for (const app of ['a', 'b', 'c']) {
      await world.create({ query: `{app="${app}"} |= "x"` });
      world.clock.advance(1);
    }
    world.clock.advance(CANCEL_PERIOD_MS);
    await world.runDeletion();
    const inWork = async () => (await world.requests()).map(({ pickedUpMs }) => pickedUpMs !== undefined);
    expect(await inWork()).toEqual([true, true, false]);
    for (let run = 0; run < 4; run++) {
      world.clock.advance(20 * MS_PER_MINUTE);
      await world.runDeletion();
    }
    expect(await inWork()).toEqual([true, true, true]);
  });
});

describe('keeps entries that must not be removed:', () => {
  test.each(['filter-only', 'disabled'] as const)(
    'keeps entries of a tenant in mode %s',
    async deletionMode => {
      const world = makeWorld({ limits: { deletionMode } });
      await world.push([KEPT, SECRET]);
      await world.create({ query: '{app="a"} |= "secret"' });
      world.clock.advance(2 * CANCEL_PERIOD_MS);
      await world.runDeletion();
      await world.push([entry('other')]);
      await world.compact(DAY, true);
      expect(await world.stored()).toHaveLength(3);
      expect((await only(world)).pickedUpMs).toBeUndefined();
    },
  );

  test('keeps entries while the mode changes; chunks merged in the meantime are found later', async () => {
    const world = await pickedUp({}, [[KEPT, SECRET], [entry('other')]]);
    world.setLimits({ deletionMode: 'filter-only' });
    await world.runDeletion();
    expect(await world.compact(DAY, true)).toMatchObject({ merges: 1, dropped: 0 });
    expect(await world.stored()).toHaveLength(3);
    expect(await world.seen()).toHaveLength(2);
    world.setLimits({ deletionMode: 'filter-and-delete' });
    await finish(world);
    expect(await world.stored()).toHaveLength(2);
  });

  test('keeps entries when a request is canceled with force while it is applied', async () => {
    const world = await pickedUp({}, [[KEPT, SECRET]]);
    const { rewriter, catalog } = world.plain;
    const dropsOf = rewriter.drops.dropsOf.bind(rewriter.drops);
    let isCanceled = false;
    rewriter.drops.dropsOf = async tenant => {
      const drops = await dropsOf(tenant);
      if (!isCanceled) await catalog.deletes.remove(await only(world));
      isCanceled = true;
      world.clock.advance(6000);
      return drops;
    };
    expect(await world.runDeletion()).toEqual({ done: true, failures: [] });
    expect(await world.stored()).toEqual(identities(KEPT, SECRET));
    expect(await world.requests()).toEqual([]);
  });
});

describe('failures', () => {
  test('a failure with one chunk does not keep others, and the request is not processed', async () => {
    const world = await pickedUp({}, [[SECRET], [entry('another secret')], [entry('secret', DAY + 1)]]);
    const [broken] = (await world.plain.catalog.day(TENANT, DAY))!.records;
    await world.rawStore.delete(keyOfChunk(broken));
    for (let run = 0; run < 3; run++) {
      const { done, failures } = await world.runDeletion();
      expect(done).toBe(false);
      expect(failures).toEqual([expect.stringContaining(`${TENANT} day ${DAY}`)]);
      world.clock.advance(20 * MS_PER_MINUTE);
    }
    const left = [DAY, DAY + 1].map(day => world.plain.catalog.day(TENANT, day));
    expect((await Promise.all(left)).flatMap(day => day!.records.map(({ id }) => id))).toEqual([broken.id]);
    expect(await only(world)).toMatchObject({ sealedMs: undefined, processedMs: undefined });
  });

  test.each([false, true])('killed at any call (the call has its effect: %s)', async isApplied => {
    const entries = [
      [KEPT, SECRET],
      [SECRET, entry('other')],
      [entry('secret', DAY + 1)],
      [entry('x', DAY + 2)],
    ];
    for (let call = 1; ; call++) {
      const world = await pickedUp({ inlineMaxBytes: call % 2 === 0 ? 4096 : 0 }, entries);
      const fuse = new Fuse(call, isApplied);
      const killed = await world.runDeletion(world.process(fuse).deletion).then(
        ({ failures }) => failures.length > 0,
        (error: unknown) => {
          if (!(error instanceof KilledError)) throw error;
          return true;
        },
      );
      expect(await world.seen()).toEqual(identities(KEPT, entry('other'), entry('x', DAY + 2)));
      world.clock.advance(LEASE_MS + 1000);
      await finish(world);
      expect(await world.stored()).toEqual(identities(KEPT, entry('other'), entry('x', DAY + 2)));
      if (!killed && fuse.calls < call) return;
      expect(call).toBeLessThan(300);
    }
  });
});

test('rewrites only chunks with covered rows; records the others, and reads them no more', async () => {
  const world = await pickedUp({}, [
    [KEPT, SECRET],
    [entry('harmless')],
    [entry('secret', DAY, 'b')],
    [entry('x', DAY - 1)],
  ]);
  const before = (await world.plain.catalog.day(TENANT, DAY))!.records;
  await world.runDeletion();
  expect(world.figures).toMatchObject({ looked: 2, rewritten: 1, rows: 1, removed: 0 });
  const after = (await world.plain.catalog.day(TENANT, DAY))!.records;
  const ids = new Set(before.map(({ id }) => id));
  expect(after.filter(({ id }) => ids.has(id))).toHaveLength(2);
  expect(after.filter(({ asOfMs }) => asOfMs === world.clock.nowMs())).toHaveLength(2);
  world.clock.advance(MS_PER_DAY);
  await world.runDeletion();
  expect(world.figures).toMatchObject({ looked: 2, rewritten: 1, processed: 1 });
});

test('merges drop the rows of accepted requests, and the job then finds nothing to do', async () => {
  const world = await pickedUp({}, [[KEPT, SECRET], [entry('other')]]);
  expect(await world.compact(DAY, true)).toMatchObject({ merges: 1, rows: 2, dropped: 1 });
  await finish(world);
  expect(world.figures).toMatchObject({ looked: 0, rewritten: 0 });
});

test('small chunks of a window become one, those of other windows stay apart', async () => {
  const times = [0, 1e9, 2e9, NS_OF_HOUR, NS_OF_HOUR + 1e9, 5 * NS_OF_HOUR];
  const world = await pickedUp(
    {},
    times.map(time => [entry(`secret ${time}`, DAY, 'a', time), entry(`kept ${time}`, DAY, 'a', time)]),
  );
  await world.runDeletion();
  expect(world.figures).toMatchObject({ looked: 6, rewritten: 6, rows: 6 });
  const { records } = (await world.plain.catalog.day(TENANT, DAY))!;
  expect(records.map(({ rows }) => rows).sort()).toEqual([1, 2, 3]);
  expect(await world.stored()).toHaveLength(6);
});

test('concurrent runs in several processes, in parallel with compaction, have the result of one', async () => {
  const entries = Array.from({ length: 12 }, (_, i) => [
    entry(`secret ${i}`, DAY + (i % 3), 'a', i * 1e9),
    entry(`kept ${i}`, DAY + (i % 3), 'a', i * 1e9),
  ]);
  const world = await pickedUp({}, entries);
  for (let round = 0; round < 3; round++) {
    const runs = await Promise.all([
      world.runDeletion(),
      world.runDeletion(world.process().deletion),
      world.compact(DAY, true, world.process().compactor),
    ]);
    for (const run of runs) if ('failures' in run) expect(run.failures).toEqual([]);
    expect(await world.seen()).toHaveLength(12);
    world.clock.advance(5 * MS_PER_MINUTE);
  }
  await finish(world);
  expect(await world.stored()).toHaveLength(12);
});

describe.each(['|= ip("")', '|~ ip("1.2.3.4")', '| json | a!=ip("x")', '|= "se" |= ip("") |= "secret"'])(
  'a request with %s',
  stages => {
    test('hides and removes nothing, is not picked up, and keeps no other request from it', async () => {
      const world = makeWorld({ batchSize: 1 });
      await world.push([KEPT, SECRET]);
      await world.create({ query: `{app="a"} ${stages}` });
      expect(await world.seen()).toEqual(identities(KEPT, SECRET));
      await world.create({ query: '{app="a"} |= "secret"' });
      expect(await world.seen()).toEqual(identities(KEPT));
      world.clock.advance(CANCEL_PERIOD_MS);
      const runs = [];
      for (let run = 0; run < 5; run++) {
        runs.push(await world.runDeletion());
        world.clock.advance(DELETE_TIMES.maxCommitMs + DELETE_TIMES.marginMs + 1);
      }
      expect(runs).toEqual(Array(5).fill({ done: true, failures: [] }));
      await world.compact(DAY, true);
      const [unread, other] = await world.requests();
      expect(unread).toMatchObject({ pickedUpMs: undefined, processedMs: undefined });
      expect(other.processedMs).toBeDefined();
      expect(await world.stored()).toEqual(identities(KEPT));
      expect(world.figures).toMatchObject({ pending: expect.any(Number), oldestMs: unread.createdMs });
    });
  },
);
