/**
 * Swaps over a table that applies transactions item by item: every order of the items of both transactions, every moment
 * at which a reader may look. What is recorded are the states of the table between two writes; a reader may take the
 * day's version from one, each chunk from any later one, and the version again from the last.
 */
import { describe, expect, test } from '@jest/globals';
import { itemByItemTable } from '../../shared/base/ports/faulty/item-by-item.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Catalog, type CatalogParts } from '../../shared/storage/catalog/catalog.ts';
import type { Day } from '../../shared/storage/catalog/day-item.ts';
import { CHUNK_SHARDS, chunkPartition, dayPartition } from '../../shared/storage/catalog/keys.ts';
import { MAX_SWAPPED_CHUNKS, type Swap, swapChunks } from '../../shared/storage/catalog/swap.ts';
import { swapAtOnce } from '../simulation/planted/one-transaction.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { bySuite } from '../support/suite.ts';
import { DAY, record } from './records.ts';

type Swapper = (parts: CatalogParts, swap: Swap) => Promise<Day>;

interface State {
  readonly version: number;
  readonly chunks: ReadonlySet<string>;
}

/** Entries by the chunks that hold them. */
type Carriers = ReadonlyMap<string, readonly string[]>;

/**
 * Entries that a reader can miss although it saw one version, with how often that had risen. Each chunk is
 * read at a separate moment, so an entry can be missed if each of its chunks is absent at some moment between
 * the two looks.
 */
function missed(states: readonly State[], carriers: Carriers): string[] {
  const found = new Set<string>();
  for (let first = 0; first < states.length; first++) {
    for (let second = first; second < states.length; second++) {
      const { version } = states[first];
      if (states[second].version !== version) continue;
      const between = states.slice(first, second + 1);
      for (const [entry, chunks] of carriers) {
        const isMissed = chunks.every(id => between.some(state => !state.chunks.has(id)));
        if (isMissed) found.add(`${entry} in version ${version - states[0].version}`);
      }
    }
  }
  return [...found].sort();
}

/** The day as it is at some moment, read without giving others a turn. */
async function stateOf(table: Table): Promise<State> {
  const [{ version }] = (await table.query(dayPartition('t'))).items;
  const chunks = new Set<string>();
  for (let shard = 0; shard < CHUNK_SHARDS; shard++) {
    const { items } = await table.query(chunkPartition('t', DAY, shard));
    for (const { sk } of items) chunks.add(sk.slice(sk.indexOf('/') + 1));
  }
  return { version, chunks };
}

/** Calls `look` before and after each effect; inside transactions the table itself does. */
function watchedTable(table: Table, look: () => Promise<void>): Table {
  const watched = async (effect: Promise<void>) => {
    await effect;
    await look();
  };
  return {
    ...table,
    put: (item, condition) => look().then(() => watched(table.put(item, condition))),
    transact: writes => watched(table.transact(writes)),
  };
}

/** A day of chunks 1 and 2 with separate entries, and a table that records its contents at every moment. */
async function setUp(random: () => number) {
  const [clock, ids] = [manualClock(), countingIds()];
  const inner = memoryTable({ clock });
  const plain = new Catalog({ table: inner, clock, ids });
  const states: State[] = [];
  const look = async () => {
    states.push(await stateOf(inner));
  };
  const table = watchedTable(itemByItemTable(inner, { random, pause: look }), look);
  const [one, two, merged, rest] = [record(1), record(2), record(8, { level: 1 }), record(9, { level: 1 })];
  await plain.addChunks([one, two]);
  const lease = (await plain.leases.take('x', 60_000))!;
  const { records: _, ...day } = (await plain.day('t', DAY))!;
  const swap: Swap = { tenant: 't', day, lease, removed: [one, two], added: [merged, rest], graceMs: 0 };
  const carriers: Carriers = new Map([
    ['first', [one.id, merged.id]],
    ['second', [two.id, rest.id]],
  ]);
  return { parts: { table, clock, ids }, table, plain, swap, states, carriers };
}

/** No factor of the number of orders, so that it meets every position of every item. */
const ORDER_STEP = bySuite({ fast: 11, full: 1 });

/** Numbers that make a shuffle take the given positions, one after the other, for lists of these lengths. */
function* orders(lengths: readonly number[]): Generator<() => number> {
  const steps = lengths.flatMap(length => Array.from({ length: length - 1 }, (_, i) => length - i));
  const count = steps.reduce((product, step) => product * step, 1);
  for (let order = 0; order < count; order += ORDER_STEP) {
    let [left, taken] = [order, 0];
    yield () => {
      const step = steps[taken++ % steps.length];
      const chosen = left % step;
      left = Math.floor(left / step);
      return (chosen + 0.5) / step;
    };
  }
}

/** Ends early if `enough` are found. */
async function missedInEveryOrder(
  swapper: Swapper,
  lengths: readonly number[],
  enough = Infinity,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const random of orders(lengths)) {
    if (found.size >= enough) break;
    const { parts, swap, states, carriers } = await setUp(random);
    await swapper(parts, swap);
    for (const entry of missed(states, carriers)) found.add(entry);
  }
  return found;
}

describe('no reader of one version misses an entry', () => {
  // Lease, day, two outputs; lease, day, two inputs, garbage.
  test('finds every entry if swaps have three steps, in any order within each', async () => {
    expect(await missedInEveryOrder(swapChunks, [4, 5])).toEqual(new Set());
  });

  test('would miss an entry if swaps were one transaction, before or after the version rises', async () => {
    const found = await missedInEveryOrder(swapAtOnce, [7], 4);
    const entries = ['first', 'second'].flatMap(entry => [`${entry} in version 0`, `${entry} in version 1`]);
    expect([...found].sort()).toEqual(entries);
  });
});

describe('a swap in several transactions', () => {
  test('shows every reader of one version all entries, in any order within each', async () => {
    for (let seed = 0; seed < bySuite({ fast: 5, full: 20 }); seed++) {
      const random = seededRandom(seed);
      const { parts, plain, swap, states } = await setUp(random);
      const more = Array.from({ length: MAX_SWAPPED_CHUNKS }, (_, i) => record(100 + i));
      await plain.addChunks(more);
      const { records: removed, ...day } = (await plain.day('t', DAY))!;
      const added = [record(1000, { level: 1 })];
      states.length = 0;
      await swapChunks(parts, { ...swap, day, removed, added });
      const carriers = new Map(removed.map(({ id }) => [id, [id, added[0].id]]));
      expect(missed(states, carriers)).toEqual([]);
      expect(states.at(-1)!.chunks).toEqual(new Set([added[0].id]));
    }
  });
});

/** Errors of the outside, before or after the effect: a swap may end after any of its steps, and none knows after which. */
function failingTable(table: Table, random: () => number): Table {
  const failing = async (effect: () => Promise<void>) => {
    const die = random();
    if (die < 0.12) throw new Error('before the effect');
    await effect();
    if (die > 0.88) throw new Error('after the effect');
  };
  return {
    ...table,
    put: (item, condition) => failing(() => table.put(item, condition)),
    transact: writes => failing(() => table.transact(writes)),
  };
}

describe('swaps in a row', () => {
  test.each(Array.from({ length: bySuite({ fast: 2, full: 8 }) }, (_, block) => [block]))(
    'lose nothing if they fail anywhere and are restarted: block %i',
    async block => {
      let finished = 0;
      for (let seed = block * 20; seed < (block + 1) * 20; seed++) finished += await swapsInARow(seed);
      expect(finished).toBeGreaterThan(20);
    },
  );
});

/** Swaps of random chunks into one, with pushes in between; resolves to how many came to their end. */
async function swapsInARow(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const { parts, plain, swap, states, table } = await setUp(random);
  const held = new Map<string, readonly string[]>();
  const failing = { ...parts, table: failingTable(table, random) };
  let [finished, next] = [0, 3];
  const push = async () => {
    const pushed = record(next++);
    held.set(pushed.id, [pushed.id]);
    await plain.addChunks([pushed]);
  };
  for (const { id } of swap.removed) held.set(id, [id]);
  // Later pushes may be missing in earlier states. All of them exist before the first.
  for (let i = 0; i < 4; i++) await push();
  for (let round = 0; round < 8; round++) {
    const { records, ...day } = (await plain.day('t', DAY))!;
    const removed = records.filter(() => random() < 0.5);
    const updated = records.filter(one => !removed.includes(one) && random() < 0.3);
    if (removed.length === 0) continue;
    const output = record(next++, { level: 1 });
    held.set(output.id, [...new Set(removed.flatMap(({ id }) => held.get(id)!))]);
    const { tenant, lease } = swap;
    try {
      await swapChunks(failing, { tenant, day, lease, removed, added: [output], updated, graceMs: 0 });
      finished++;
    } catch (error) {
      expect(String(error)).toMatch('the effect');
    }
  }
  const entries = new Set([...held.values()].flat());
  const carriers = new Map(
    [...entries].map(entry => [entry, [...held.keys()].filter(id => held.get(id)!.includes(entry))]),
  );
  expect(missed(states, carriers)).toEqual([]);
  return finished;
}
