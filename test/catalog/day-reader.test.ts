/**
 * Queries in parallel with swaps and pushes, over a distant table whose requests take a random time: virtual
 * time, one run per seed.
 */
import { describe, expect, test } from '@jest/globals';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { itemByItemTable } from '../../shared/base/ports/faulty/item-by-item.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../shared/storage/catalog/day-snapshot.ts';
import { READ_WINDOW_MS, swapChunks } from '../../shared/storage/catalog/swap.ts';
import { Dice } from '../simulation/dice.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';
import { countingIds } from '../support/manual-clock.ts';
import { DAY, record } from './records.ts';

const RUNS = 60;
const SWAPS = 3;

interface DistantTable extends Table {
  reads: number;
}

interface Settings {
  /** Longest time of a request on its way, and on its way back, ms. */
  readonly maxMs: number;
  /** False plants a bug: inputs are removed immediately. */
  readonly sleeps?: boolean;
  /** Partitions with which the day begins. Default: 4. A day that begins with one grows meanwhile. */
  readonly partitions?: number;
}

function world(seed: number, { maxMs, sleeps = true, partitions = 4 }: Settings) {
  const dice = new Dice(seed);
  const random = () => dice.next();
  const time = new VirtualTime(Date.UTC(2026, 0, 1), dice);
  const ids = countingIds();
  const inner = memoryTable({ clock: time });
  const slow = async <T>(work: () => Promise<T>): Promise<T> => {
    await time.sleep(random() * maxMs);
    const answer = await work();
    await time.sleep(random() * maxMs);
    return answer;
  };
  const table: DistantTable = {
    ...inner,
    isDistant: true,
    reads: 0,
    query: (...given) => {
      table.reads++;
      return slow(() => inner.query(...given));
    },
  };
  const inParts = itemByItemTable(inner, { random, pause: () => time.sleep(random() * 20) });
  const plain = new Catalog({ table: inner, clock: time, ids });
  const reader = new Catalog({ table, clock: time, ids });
  const writing = { table: { ...inParts, isDistant: sleeps }, clock: time, ids };
  const generations: ChunkRecord[][] = [[record(1), record(2)]];

  /** Merges the existing chunks repeatedly. Each output replaces one chunk. */
  const swaps = async (): Promise<void> => {
    const lease = (await plain.leases.take('x', 600_000))!;
    let { records: _, ...day } = (await plain.day('t', DAY))!;
    for (let i = 1; i <= SWAPS; i++) {
      const removed = generations[i - 1].map(chunk => (partitions === 1 ? { ...chunk, partitions } : chunk));
      const added = [2 * i + 1, 2 * i + 2].map(id => record(id, { level: 1, asOfMs: 1000 * i }));
      generations.push(added);
      await time.sleep(random() * 2 * READ_WINDOW_MS);
      day = await swapChunks(writing, { tenant: 't', day, lease, removed, added, graceMs: 0 });
    }
  };
  /** Entries that no chunk holds: each of the first chunks has one, and what takes its place. */
  const missing = (days: readonly DaySnapshot[]): number => {
    const seen = new Set(days.flatMap(({ records }) => records.map(({ id }) => id)));
    return generations[0].filter((_, i) => !generations.some(chunks => seen.has(chunks[i].id))).length;
  };
  const begin = () => plain.addChunks(generations[0], { partitions });
  const grow = async (): Promise<void> => {
    if (partitions > 1) return;
    await time.sleep(random() * SWAPS * READ_WINDOW_MS);
    await plain.addChunks([record(99)], { partitions: 16 });
  };
  return { time, begin, grow, plain, reader, table, generations, random, swaps, missing };
}

function look(reader: Catalog, days: number): Promise<readonly DaySnapshot[]> {
  return reader.daysForQuery('t', BigInt(DAY) * NS_PER_DAY, BigInt(DAY + days) * NS_PER_DAY - 1n);
}

/** Entries that queries missed during swaps, in all runs. */
async function missedIn(settings: Settings & { readonly days: number; readonly isKnown: boolean }) {
  let missed = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const { time, begin, grow, reader, random, swaps, missing } = world(seed, settings);
    const queries = async () => {
      for (let i = 0; i < 6; i++) {
        await time.sleep(random() * READ_WINDOW_MS);
        missed += missing(await look(reader, settings.days));
      }
    };
    await time.run(begin());
    if (settings.isKnown) await time.run(look(reader, settings.days));
    await time.run(Promise.all([swaps(), grow(), queries()]));
  }
  return missed;
}

describe('a query misses nothing', () => {
  const cases = [
    ['of days that are guessed', { days: 1, isKnown: false }],
    ['of days that are known', { days: 40, isKnown: true }],
    ['of days that are neither', { days: 40, isKnown: false }],
  ] as const;
  describe.each(cases)('%s', (_, range) => {
    test.each([
      ['quick', 20],
      ['slower than the window at times', READ_WINDOW_MS],
      ['always slower', 10 * READ_WINDOW_MS],
    ])('finds every entry with requests that are %s', async (_name, maxMs) => {
      expect(await missedIn({ ...range, maxMs })).toBe(0);
    });

    test('would miss entries if swaps did not rest', async () => {
      expect(await missedIn({ ...range, maxMs: 100, sleeps: false })).toBeGreaterThan(0);
    });
  });
});

describe('a query misses nothing of days that began with one partition and got more', () => {
  test.each([
    ['quick', 20, true],
    ['slower than the window at times', READ_WINDOW_MS, true],
    ['slower, for the first time', READ_WINDOW_MS, false],
    ['always slower', 10 * READ_WINDOW_MS, true],
  ])('finds every entry with requests that are %s', async (_name, maxMs, isKnown) => {
    expect(await missedIn({ days: 40, isKnown, maxMs, partitions: 1 })).toBe(0);
  });
});

describe('requests of a query', () => {
  /** Table reads, and how many of them waited for others, if each takes 10 ms. */
  async function costOf(days: number, isKnown: boolean, partitions: number) {
    const { time, plain, reader, table, generations } = world(1, { maxMs: 0 });
    const query = table.query.bind(table);
    table.query = async (...given) => {
      await time.sleep(10);
      return query(...given);
    };
    await time.run(plain.addChunks(generations[0], { partitions }));
    if (isKnown) await time.run(look(reader, days));
    table.reads = 0;
    const startMs = time.nowMs();
    await time.run(look(reader, days));
    return { reads: table.reads, rounds: (time.nowMs() - startMs) / 10 };
  }

  test.each([
    ['days with one partition', 31, false, 1, { reads: 2, rounds: 1 }],
    ['days with one partition, again', 31, true, 1, { reads: 2, rounds: 1 }],
    ['days with several, for the first time', 31, false, 4, { reads: 6, rounds: 2 }],
    ['days with several', 31, true, 4, { reads: 6, rounds: 1 }],
  ] as const)('%s', async (_, days, isKnown, partitions, expected) => {
    expect(await costOf(days, isKnown, partitions)).toEqual(expected);
  });

  test('a tenant without data has no days', async () => {
    const { time, reader } = world(1, { maxMs: 5 });
    expect(await time.run(reader.daysForQuery('nobody', 0n, 1n << 62n))).toEqual([]);
  });

  test('a day that has gone is forgotten', async () => {
    const { time, plain, reader, table, generations } = world(1, { maxMs: 5 });
    await time.run(plain.addChunks(generations[0]));
    await time.run(look(reader, 31));
    const [{ pk, sk }] = (await time.run(table.query('d/t'))).items;
    await table.delete({ pk, sk });
    expect(await time.run(look(reader, 31))).toEqual([]);
    table.reads = 0;
    await time.run(look(reader, 31));
    // Partitions of the days, and of the chunks of all days with one partition.
    expect(table.reads).toBe(2);
  });
});
