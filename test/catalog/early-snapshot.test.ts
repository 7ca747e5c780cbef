/** Early snapshots beside swaps and pushes, over a table whose requests take a random while: what stands in the end is whole. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Catalog } from '../../shared/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/catalog/chunk-record.ts';
import { swapChunks } from '../../shared/catalog/swap.ts';
import { itemByItemTable } from '../../shared/ports/faulty/item-by-item.ts';
import { seededRandom } from '../../shared/ports/memory/random.ts';
import { memoryTable } from '../../shared/ports/memory/table.ts';
import type { Table } from '../../shared/ports/table.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { DAY, record } from './records.ts';

const NS_OF_DAY = 86_400_000_000_000n;
const RUNS = 60;

/** A table far away: each request waits before and after it is answered. */
function distantTable(table: Table, random: () => number, maxTurns: number): Table & { reads: number } {
  const wait = async () => {
    for (let turns = Math.floor(random() * maxTurns); turns > 0; turns--) await nextTurn();
  };
  const slow = async <T>(work: () => Promise<T>): Promise<T> => {
    await wait();
    const answer = await work();
    await wait();
    return answer;
  };
  const distant = {
    ...table,
    isDistant: true,
    reads: 0,
    get: (key: Parameters<Table['get']>[0]) => slow(() => table.get(key)),
    query: (...given: Parameters<Table['query']>) => {
      distant.reads++;
      return slow(() => table.query(...given));
    },
    put: (...given: Parameters<Table['put']>) => slow(() => table.put(...given)),
    transact: (...given: Parameters<Table['transact']>) => slow(() => table.transact(...given)),
  };
  return distant;
}

async function world(seed: number, maxTurns = 60) {
  const random = seededRandom(seed);
  const [clock, ids] = [manualClock(), countingIds()];
  const inner = memoryTable({ clock });
  const plain = new Catalog({ table: inner, clock, ids });
  const inputs = [record(1), record(2)];
  await plain.addChunks(inputs);
  const lease = (await plain.leases.take('x', 60_000))!;
  const { records: _, ...day } = (await plain.day('t', DAY))!;
  const outputs = [8, 9].map(id => record(id, { level: 1, asOfMs: 1000 }));
  const turn = async () => {
    await nextTurn();
  };
  const writing = distantTable(itemByItemTable(inner, { random, pause: turn }), random, 1);
  const swap = async () => {
    for (let turns = Math.floor(random() * maxTurns); turns > 0; turns--) await nextTurn();
    return swapChunks(
      { table: writing, clock, ids },
      { tenant: 't', day, lease, removed: inputs, added: outputs, graceMs: 0 },
    );
  };
  const table = distantTable(inner, random, maxTurns);
  return { random, plain, inputs, outputs, swap, table, reader: new Catalog({ table, clock, ids }) };
}

/** Days around the one of the records: a short range, whose days are guessed, or a long one. */
function look(reader: Catalog, days: number) {
  return reader.earlySnapshot('t', BigInt(DAY) * NS_OF_DAY, BigInt(DAY + days) * NS_OF_DAY - 1n);
}

/** Entries that no chunk holds: one of the two inputs each, and of the output in its place. */
function missing(
  { inputs, outputs }: { readonly inputs: readonly ChunkRecord[]; readonly outputs: readonly ChunkRecord[] },
  days: readonly { readonly records: readonly ChunkRecord[] }[],
): number {
  const seen = new Set(days.flatMap(({ records }) => records.map(({ id }) => id)));
  return inputs.filter(({ id }, i) => !seen.has(id) && !seen.has(outputs[i].id)).length;
}

describe('an early snapshot with its correction misses nothing', () => {
  const cases: [string, { readonly days: number; readonly isKnown: boolean }][] = [
    ['of days that are guessed', { days: 1, isKnown: false }],
    ['of days that are known', { days: 1, isKnown: true }],
    ['of many days', { days: 40, isKnown: false }],
    ['of many days that are known', { days: 40, isKnown: true }],
  ];
  test.each(cases)('%s', async (_, { days, isKnown }) => {
    let torn = 0;
    let corrected = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const one = await world(seed);
      if (isKnown) await (await look(one.reader, days)).confirm();
      const swapped = one.swap();
      const early = await look(one.reader, days);
      const correction = await early.confirm();
      expect({ seed, missing: missing(one, correction ?? early.days) }).toEqual({ seed, missing: 0 });
      if (missing(one, early.days) > 0) torn++;
      if (correction !== undefined) corrected++;
      await swapped;
    }
    // Or the test shows nothing.
    expect(torn).toBeGreaterThan(0);
    expect(corrected).toBeLessThan(RUNS);
  });

  test('nor where entries were pushed meanwhile, which needs no correction', async () => {
    const { reader, plain } = await world(1);
    const pushed = plain.addChunks([record(3)]);
    const early = await look(reader, 1);
    await pushed;
    expect(await early.confirm()).toBeUndefined();
    expect(early.days.flatMap(({ records }) => records).length).toBeGreaterThanOrEqual(2);
  });
});

describe('requests of an early snapshot', () => {
  test('a known range is one look at versions beside its chunks, and one behind', async () => {
    const { reader, table } = await world(1, 0);
    await (await look(reader, 31)).confirm();
    table.reads = 0;
    await (await look(reader, 31)).confirm();
    expect(table.reads).toBe(6);
  });

  test('nobody: two looks at nothing', async () => {
    const { reader } = await world(1, 0);
    const early = await reader.earlySnapshot('nobody', 0n, 1n << 62n);
    expect(early.days).toEqual([]);
    expect(await early.confirm()).toBeUndefined();
  });
});
