import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Write } from '../../shared/base/ports/table.ts';
import { newChunkId } from '../../shared/storage/catalog/chunk-id.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DAY } from '../support/engine.ts';
import { rowsOf } from '../support/rows.ts';
import { answerText, batch, createWorld, GRACE_MS, SETTLED_MS, type World } from './world.ts';

/** One of several outputs of a merge that died before it published: it names inputs whose entries it does not hold. */
async function dyingMerge(world: World, part: ReturnType<typeof batch>): Promise<void> {
  const { catalog, store, clock, ids } = world.parts;
  const inputs = ((await catalog.day('t', DAY))?.records ?? []).map(({ id }) => id);
  if (inputs.length === 0) return;
  const head = {
    id: newChunkId(clock, ids),
    tenant: 't',
    day: DAY,
    level: 1,
    createdMs: clock.nowMs(),
    inputs,
  };
  await storeChunk(store, await writeChunk(head, rowsOf(part), QUICK_COMPRESSION), 0);
}

type Step =
  | { readonly do: 'push'; readonly rows: number; readonly at: number }
  | { readonly do: 'merge' | 'dying-merge' | 'collect' | 'sync' | 'wait' | 'hash-keys' | 'plain-keys' };

const arbitrarySteps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('push' as const),
        rows: fc.constantFrom(1, 2, 30),
        at: fc.nat(20),
      }),
    },
    fc.record({
      do: fc.constantFrom(
        'merge' as const,
        'dying-merge' as const,
        'collect' as const,
        'sync' as const,
        'wait' as const,
        'hash-keys' as const,
        'plain-keys' as const,
      ),
    }),
  ),
  { minLength: 2, maxLength: 14 },
);

/** Resolves to everything that was pushed, as answers have it. */
async function play(world: World, steps: readonly Step[], afterStep?: () => void): Promise<string[]> {
  const pushed = new Set<string>();
  let last: ReturnType<typeof batch> = [];
  for (const [i, step] of steps.entries()) {
    world.clock.advance(1000);
    if (step.do === 'push') {
      last = batch(`step${i}`, step.rows, step.at * 1_000_000_000);
      await world.push(last);
      for (const entry of last) pushed.add(answerText(entry));
    }
    if (step.do === 'merge') await world.compact();
    if (step.do === 'dying-merge' && last.length > 0) await dyingMerge(world, last);
    if (step.do === 'collect') await world.collect();
    if (step.do === 'sync') await world.sync();
    if (step.do === 'hash-keys' || step.do === 'plain-keys') world.setDistant(step.do === 'hash-keys');
    if (step.do === 'wait') world.clock.advance(GRACE_MS);
    afterStep?.();
  }
  return [...pushed].sort();
}

describe('rebuilding the catalog', () => {
  test('finds every stored entry again, once, after the loss of the table', async () => {
    await fc.assert(
      fc.asyncProperty(arbitrarySteps, async steps => {
        const world = createWorld();
        await play(world, steps);
        await world.loseTable();
        expect(await world.ask()).toEqual([]);
        const { problems } = await world.rebuild();
        expect(problems).toEqual([]);
        const want = await world.stored();
        expect(await world.ask()).toEqual(want);
        expect((await world.check()).problems).toEqual([]);
        // Again: nothing changes.
        const again = await world.rebuild();
        expect({ ...again.totals, kept: 0, days: 0 }).toMatchObject({ added: 0, merged: 0, unreadable: 0 });
        expect(await world.ask()).toEqual(want);
        // The store continues: rebuilt chunks are merged and collected as usual.
        await world.compact();
        world.clock.advance(GRACE_MS + 1000);
        await world.collect();
        expect(await world.ask()).toEqual(want);
      }),
      { numRuns: 60 },
    );
  });

  test('changes no response with a sound table', async () => {
    await fc.assert(
      fc.asyncProperty(arbitrarySteps, fc.boolean(), async (steps, includeRecent) => {
        const world = createWorld();
        const pushed = await play(world, steps);
        const { problems } = await world.rebuild(includeRecent);
        expect(problems).toEqual([]);
        expect(await world.ask()).toEqual(pushed);
        world.clock.advance(GRACE_MS + 1000);
        await world.collect();
        expect(await world.ask()).toEqual(pushed);
        expect((await world.check()).problems).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('finds all stored objects with a table from an older backup, and no record names a deleted one', async () => {
    await fc.assert(
      fc.asyncProperty(arbitrarySteps, fc.nat(14), async (steps, place) => {
        const world = createWorld();
        const states: (readonly Write[][])[] = [];
        await play(world, steps, () => states.push(world.journal));
        await world.compact();
        world.clock.advance(GRACE_MS + 1000);
        await world.collect();
        await world.setTable(states[Math.min(place, states.length - 1)].slice());
        world.clock.advance(SETTLED_MS);
        // Chunks that were merged more than once since then cannot be distinguished from lost ones.
        await world.rebuild(true, true);
        const { problems } = await world.check();
        // An index of the backup may be gone: the footers serve then.
        expect(problems.filter(({ kind }) => kind !== 'index')).toEqual([]);
        const got = await world.ask();
        expect(got).toEqual(expect.arrayContaining(await world.stored()));
        expect(new Set(got).size).toBe(got.length);
      }),
      { numRuns: 60 },
    );
  });

  test('records of an older backup are removed if their chunks were merged and deleted since, and kept if the chunks are lost', async () => {
    const world = createWorld();
    await world.push(batch('x', 30));
    await world.push(batch('y', 30, 70));
    const backup = world.journal.slice();
    await world.compact();
    world.clock.advance(GRACE_MS + 1000);
    await world.collect();
    const want = await world.ask();
    await world.setTable(backup);
    await expect(world.ask()).rejects.toThrow('no object with key');
    expect((await world.rebuild()).totals).toMatchObject({ added: 1, kept: 0, replaced: 2 });
    expect(await world.ask()).toEqual(want);
    expect((await world.rebuild()).totals).toMatchObject({ added: 0, kept: 1, replaced: 0 });
    expect((await world.check()).problems).toEqual([]);

    await world.push(batch('z', 30, 500));
    const [, z] = (await world.keys('t/chunks/')).sort((k, l) => (k.slice(-32) < l.slice(-32) ? -1 : 1));
    await world.store.delete(z);
    expect((await world.rebuild()).totals).toMatchObject({ added: 0, replaced: 0 });
    expect((await world.check()).problems).toMatchObject([{ kind: 'missing-object', where: z }]);
    const before = await world.ask('t', '{app="a"} |= "x "').catch(() => undefined);
    expect(before).toBeUndefined();
    expect((await world.rebuild(true, true)).totals).toMatchObject({ added: 0, replaced: 1 });
    expect(await world.ask()).toEqual(want);

    const [last] = await world.keys('t/chunks/');
    await world.store.delete(last);
    expect((await world.rebuild(true, true)).totals).toMatchObject({ days: 1, replaced: 1 });
    expect(await world.ask()).toEqual([]);
  });

  test('killed between any two writes and run again, it ends the same', async () => {
    const steps: Step[] = [
      { do: 'push', rows: 30, at: 0 },
      { do: 'push', rows: 1, at: 3 },
      { do: 'dying-merge' },
      { do: 'push', rows: 30, at: 7 },
      { do: 'merge' },
      { do: 'push', rows: 30, at: 5 },
    ];
    for (let calls = 0; ; calls++) {
      const world = createWorld();
      await play(world, steps);
      await world.loseTable();
      const want = await world.stored();
      let left = calls;
      const { table } = world.parts;
      const { put, transact } = table;
      const dying = () => {
        if (left-- === 0) throw new Error('killed');
      };
      table.put = async (...given) => {
        dying();
        return put(...given);
      };
      table.transact = async (...given) => {
        dying();
        return transact(...given);
      };
      const done = await world.rebuild().catch(() => undefined);
      table.put = put;
      table.transact = transact;
      if (done !== undefined) {
        expect(calls).toBeGreaterThan(2);
        return;
      }
      await world.rebuild();
      expect(await world.ask()).toEqual(want);
    }
  });

  test('an inline input proves nothing: entries that only the other input contains are not lost', async () => {
    const world = createWorld();
    const [large, small] = [batch('large', 30), batch('small', 1, 500)];
    await world.push(large);
    await world.push(small);
    await dyingMerge(world, small);
    await world.loseTable();
    expect((await world.rebuild()).totals).toMatchObject({ added: 2, merged: 0 });
    expect(await world.ask()).toEqual([...large, ...small].map(answerText).sort());
  });

  test('leaves the newest objects to their pushes, unless nothing else runs', async () => {
    const world = createWorld();
    await world.push(batch('x', 30));
    await world.loseTable();
    expect((await world.rebuild(false)).totals).toMatchObject({ added: 0, recent: 1 });
    world.clock.advance(SETTLED_MS);
    expect((await world.rebuild(false)).totals).toMatchObject({ added: 1, recent: 0 });
  });

  test('reports and keeps unreadable objects, and those with the key of another', async () => {
    const world = createWorld();
    await world.push(batch('x', 30));
    await world.push(batch('y', 30), 'u');
    const [x] = await world.keys('t/');
    const [y] = await world.keys('u/');
    const stray = x.replace('t/', 'v/');
    await world.store.putIfAbsent(stray, await world.store.get(x));
    await world.change(y, object => object.subarray(0, -20));
    await world.loseTable();
    const { totals, problems } = await world.rebuild();
    expect(totals).toMatchObject({ added: 1, unreadable: 2 });
    expect(problems.map(({ kind, where }) => [kind, where])).toEqual([
      ['corrupt', y],
      ['mismatch', stray],
    ]);
    expect(await world.ask('v')).toEqual([]);
    expect(await world.ask('t')).toEqual(batch('x', 30).map(answerText).sort());
  });

  test('a day that another process works on is not changed', async () => {
    const world = createWorld();
    await world.push(batch('x', 30));
    await world.loseTable();
    await world.parts.catalog.leases.take(dayLease('t', DAY), 3_600_000);
    expect((await world.rebuild()).totals).toMatchObject({ added: 0, busyDays: 1 });
    world.clock.advance(3_600_000);
    expect((await world.rebuild()).totals).toMatchObject({ added: 1, busyDays: 0 });
  });

  test('rebuilds a damaged record of an object', async () => {
    const world = createWorld();
    await world.push(batch('x', 30));
    await world.push(batch('y', 30, 70));
    const want = await world.ask();
    await world.setTable(
      world.journal.map(group =>
        group.map(write => {
          if (write.kind !== 'put' || !write.item.pk.startsWith('c/')) return write;
          const body = Buffer.from(write.item.body);
          body[20] ^= 1;
          return { ...write, item: { ...write.item, body } };
        }),
      ),
    );
    await expect(world.ask()).rejects.toThrow(/^chunk record of t, day 20000: checksum differs$/);
    expect((await world.check()).problems).toMatchObject([
      { kind: 'corrupt', where: 'records of t, day 20000' },
    ]);
    await world.rebuild();
    expect(await world.ask()).toEqual(want);
  });
});
