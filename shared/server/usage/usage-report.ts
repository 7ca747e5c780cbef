/**
 * A tenant's usage by UTC day, with its cost. Combines what all processes have written and what this one has
 * not written yet.
 *
 * Pitfall: the stored bytes of a past day are bytes that exist now, with timestamps of that day or earlier.
 * Data deleted since then is not included.
 */
import { MS_PER_DAY } from '../../base/model/time-units.ts';
import type { UsageRecords } from '../../storage/catalog/usage-records.ts';
import type { Prices } from '../admin/prices.ts';
import { type Cost, costOf, type StoredBytes } from './cost.ts';
import { addFigures, decodeFigures, newFigures, type UsageFigures } from './figures.ts';
import type { DayBytes, StoredBytesByDay } from './stored-bytes.ts';
import type { UsageLedger } from './usage-ledger.ts';

export interface UsageDay {
  /** UTC day since 1970-01-01. */
  readonly day: number;
  readonly figures: UsageFigures;
  readonly stored: StoredBytes;
  readonly cost: Cost;
}

interface UsageReport {
  /** Every day of the range, ascending. */
  readonly days: readonly UsageDay[];
  /** False if stored bytes, and their cost, are incomplete (see StoredBytesByDay). */
  readonly storedIsComplete: boolean;
}

interface UsageReaderParts {
  readonly records: UsageRecords;
  readonly ledger: UsageLedger;
  readonly storedBytes: StoredBytesByDay;
  readonly prices: Prices;
}

interface UsageQuestion {
  readonly tenant: string;
  /** Both inclusive. */
  readonly firstDay: number;
  readonly lastDay: number;
  readonly signal: AbortSignal;
}

/** Days read concurrently. */
const READS_AT_ONCE = 8;

export class UsageReader {
  readonly #parts: UsageReaderParts;

  constructor(parts: UsageReaderParts) {
    this.#parts = parts;
  }

  /** Reads each day of the range, which the caller bounds. Throws the signal's reason. */
  async read({ tenant, firstDay, lastDay, signal }: UsageQuestion): Promise<UsageReport> {
    const { storedBytes, prices } = this.#parts;
    const stored = await storedBytes.upTo(tenant, lastDay, signal);
    const numbers = Array.from({ length: lastDay - firstDay + 1 }, (_, i) => firstDay + i);
    const figures = new Map<number, UsageFigures>();
    const queue = numbers.values();
    const work = async () => {
      for (const day of queue) {
        signal.throwIfAborted();
        figures.set(day, await this.#figuresOf(tenant, day));
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, work));
    const upTo = sumUp(stored.days, numbers);
    const days = numbers.map((day, i) => {
      const figuresOfDay = figures.get(day) ?? newFigures();
      const cost = costOf(figuresOfDay.sums, upTo[i], prices, daysOfMonth(day));
      return { day, figures: figuresOfDay, stored: upTo[i], cost };
    });
    return { days, storedIsComplete: stored.complete };
  }

  async #figuresOf(tenant: string, day: number): Promise<UsageFigures> {
    const { records, ledger } = this.#parts;
    const sum = newFigures();
    // Taken before reading the items, so that a tally that is written and forgotten meanwhile counts once.
    const own = ledger.of(tenant).filter(tally => tally.day === day);
    for (const { figures } of own) addFigures(sum, figures);
    const writers = new Set(own.map(({ writer }) => writer));
    for await (const { writer, body } of records.read(tenant, day)) {
      if (!writers.has(writer)) addFigures(sum, decodeFigures(body));
    }
    return sum;
  }
}

/** Cumulative stored bytes at each of the ascending days. */
function sumUp(days: readonly DayBytes[], at: readonly number[]): StoredBytes[] {
  let next = 0;
  let objectBytes = 0;
  let tableBytes = 0;
  return at.map(day => {
    for (; next < days.length && days[next].day <= day; next++) {
      objectBytes += days[next].objectBytes;
      tableBytes += days[next].tableBytes;
    }
    return { objectBytes, tableBytes };
  });
}

/** Number of days in the month of the UTC day. */
function daysOfMonth(day: number): number {
  const date = new Date(day * MS_PER_DAY);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}
