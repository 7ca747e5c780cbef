/** Entries with equal timestamps are in push order, however pushes are grouped and written. */
import { describe, expect, test } from '@jest/globals';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import { FairScheduler } from '../../shared/base/scheduling/fair-scheduler.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

interface Options {
  readonly maxGroupBytes: number;
  /** Writes of objects wait for it, by number. */
  readonly gate?: (write: number) => Promise<void>;
  readonly scheduler?: FairScheduler;
}

function makeStore({ maxGroupBytes, gate, scheduler }: Options) {
  const clock = virtualClock();
  const ids = seededIds(1);
  const memory = memoryObjectStore();
  let writes = 0;
  const store: ObjectStore = Object.create(memory, {
    putIfAbsent: {
      value: async (...args: Parameters<ObjectStore['putIfAbsent']>) => {
        await gate?.(writes++);
        return memory.putIfAbsent(...args);
      },
    },
  });
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const options = { waitMs: 2, maxGroupBytes, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options, scheduler });
  const engine = new QueryEngine({ catalog, source: new ChunkSource(memory), clock });
  return {
    clock,
    announce: () => committer.announce('t'),
    push: (...lines: readonly string[]) => committer.commit('t', pushOf(lines.map(line => entry(line)))),
    pushAll: (entries: readonly DatedEntry[]) => committer.commit('t', pushOf(entries)),
    chunks: async () => (await catalog.day('t', DAY))?.records.length,
    async lines(backward: boolean): Promise<string[]> {
      const range = { startNs: DAY_START_NS, endNs: DAY_START_NS + 2n * 86_400_000_000_000n };
      const { result } = await engine.range(rangeQuery('{app="a"}', { ...range, backward }), requester());
      if (result.kind !== 'streams') throw new TypeError(`got a ${result.kind}`);
      return result.streams.flatMap(({ entries }) => entries.map(({ line }) => line));
    },
  };
}

const entry = (line: string, day = DAY): DatedEntry => ({
  stream: { app: 'a' },
  day,
  time: 7,
  line,
  metadata: {},
});

async function expectOrder(store: ReturnType<typeof makeStore>, lines: readonly string[]): Promise<void> {
  expect(await store.lines(false)).toEqual(lines);
  expect(await store.lines(true)).toEqual(lines.toReversed());
}

describe('pushes with equal timestamps keep their order', () => {
  test('keeps the order in one group', async () => {
    const store = makeStore({ maxGroupBytes: 1_000_000 });
    // The first waits for it.
    const read = store.announce();
    await store.clock.run(Promise.all([store.push('a1', 'a2'), store.push('b'), store.push('a2', 'c')]));
    read();
    expect(await store.chunks()).toBe(1);
    await expectOrder(store, ['a1', 'a2', 'b', 'c']);
  });

  test('keeps the order in concurrent groups, the first of which ends last', async () => {
    const first = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const gate = async (write: number) => {
      if (write > 0) return;
      begun.resolve();
      await first.promise;
    };
    const store = makeStore({ maxGroupBytes: 1, gate });
    const slow = store.push('a');
    await begun.promise;
    await store.clock.run(Promise.all([store.push('b'), store.push('c')]));
    expect(await store.chunks()).toBe(2);
    first.resolve();
    await store.clock.run(slow);
    await expectOrder(store, ['a', 'b', 'c']);
  });

  test('keeps the order if a large group yields to a small one before it is written', async () => {
    const held = Promise.withResolvers<void>();
    const scheduler = new FairScheduler();
    scheduler.acquire = () => held.promise;
    const store = makeStore({ maxGroupBytes: 1, scheduler });
    const large = store.push('a', `b ${'x'.repeat(200_000)}`);
    await store.clock.run(store.push('c'));
    await expectOrder(store, ['c']);
    held.resolve();
    await store.clock.run(large);
    expect((await store.lines(false)).map(line => line[0])).toEqual(['a', 'b', 'c']);
  });

  test('keeps the order across several days', async () => {
    const store = makeStore({ maxGroupBytes: 1 });
    for (const line of ['a', 'b', 'c']) {
      await store.clock.run(store.pushAll([entry(`${line} next`, DAY + 1), entry(line)]));
    }
    await expectOrder(store, ['a', 'b', 'c', 'a next', 'b next', 'c next']);
  });
});
