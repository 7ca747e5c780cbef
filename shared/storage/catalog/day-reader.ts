/**
 * Reads chunks of a tenant's days for queries over a distant table, in the minimum number of round trips.
 *
 *     days with one partition, any number of them       days ‖ chunks of all of them
 *     days that were seen before with more partitions   days ‖ chunks
 *     other days                                        days ──▶ chunks
 *
 * No swap makes a query miss an entry. All chunks of a day are read within READ_WINDOW_MS, and a swap waits longer than
 * that between publishing its outputs and removing its inputs (swap.ts). Reads that need more time are repeated. If that
 * happens MAX_SLOW_READS times in a row, versions prove the days.
 *
 * Pitfall: the window applies to one day only. That is enough because an entry and the output of its merge are in
 * chunks of the same day.
 */
import { mapAtOnce } from '../../base/model/at-once.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChunkRecord } from './chunk-record.ts';
import type { Day } from './day-item.ts';
import type { DaySnapshot } from './day-snapshot.ts';
import { READ_WINDOW_MS } from './swap.ts';

/** Reads of a catalog. Ranges are inclusive. */
export interface DayReads {
  days(tenant: string, firstDay: number, lastDay: number): Promise<readonly Day[]>;
  /** Reads the chunks in the partitions of the day; none if it has one partition. */
  ownChunks(tenant: string, day: Pick<Day, 'day' | 'partitions'>, range: NsRange): Promise<ChunkRecord[]>;
  /** Reads the chunks of the days in the tenant's common partition. */
  commonChunks(tenant: string, firstDay: number, lastDay: number, range: NsRange): Promise<ChunkRecord[]>;
  /** Reads the day's chunks, proven by its version; undefined if the tenant does not have the day. */
  provenDay(tenant: string, day: number, range: NsRange): Promise<DaySnapshot | undefined>;
  /** Reads the chunks of all days of the range, each day proven by its version. */
  provenDays(tenant: string, range: NsRange): Promise<DaySnapshot[]>;
}

export interface NsRange {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

interface DaysToRead extends NsRange {
  readonly tenant: string;
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Number of days whose chunks are read concurrently, with up to 256 requests for each day that has its own partitions. */
export const DAYS_AT_ONCE = 31;
/** Number of days in memory, about 100 bytes each. */
const KNOWN_DAYS = 10_000;
/** Maximum number of days of a range that are looked up in memory. */
const MAX_LOOKED_FOR = 400;
/** Number of reads of a day that may exceed the window. */
const MAX_SLOW_READS = 3;

/** Chunks that were read before the day's item. */
interface EarlyRead {
  readonly partitions: number;
  readonly records: readonly ChunkRecord[];
  /** Whether this read and that of the common partition were within one window. */
  readonly isInWindow: boolean;
}

/** Chunks of the common partition, read within one window. */
interface CommonRead {
  readonly byDay: ReadonlyMap<number, readonly ChunkRecord[]>;
  /** Whether the first read was quick enough. Another one is not in one window with early reads. */
  readonly isFirst: boolean;
}

export class DayReader {
  readonly #reads: DayReads;
  readonly #clock: Clock;
  /** Number of partitions of each known day with more than one. */
  readonly #known = new LruCache<string, number>(KNOWN_DAYS);

  constructor(reads: DayReads, clock: Clock) {
    this.#reads = reads;
    this.#clock = clock;
  }

  /** Days ascending. A day may have no chunks. Throws the errors of the table. */
  async read(asked: DaysToRead): Promise<DaySnapshot[]> {
    const { tenant, firstDay, lastDay } = asked;
    const elapsedMs = stopwatch(this.#clock);
    const isInWindow = () => elapsedMs() <= READ_WINDOW_MS;
    const early = new Map<number, EarlyRead>();
    const [days, common] = await Promise.all([
      this.#reads.days(tenant, firstDay, lastDay),
      this.#commonInWindow(asked),
      mapAtOnce(this.#daysWithPartitions(asked), DAYS_AT_ONCE, async day => {
        const partitions = this.#known.get(`${tenant}/${day}`)!;
        const records = await this.#reads.ownChunks(tenant, { day, partitions }, asked);
        early.set(day, { partitions, records, isInWindow: isInWindow() });
      }),
    ]);
    for (const day of early.keys()) this.#known.delete(`${tenant}/${day}`);
    for (const { day, partitions } of days) {
      if (partitions > 1) this.#known.set(`${tenant}/${day}`, partitions);
    }
    if (common === undefined && days.some(({ isCommon }) => isCommon === true)) {
      return this.#reads.provenDays(tenant, asked);
    }
    const read = await mapAtOnce(days, DAYS_AT_ONCE, async day => {
      const records = recordsOf(day, common, early.get(day.day)) ?? (await this.#inWindow(asked, day));
      return records === undefined ? this.#reads.provenDay(tenant, day.day, asked) : { ...day, records };
    });
    return read.filter(day => day !== undefined);
  }

  /** Reads the common partition, by day. Undefined if no read was within the window. */
  async #commonInWindow({
    tenant,
    firstDay,
    lastDay,
    ...range
  }: DaysToRead): Promise<CommonRead | undefined> {
    for (let reads = 0; reads < MAX_SLOW_READS; reads++) {
      const elapsedMs = stopwatch(this.#clock);
      const records = await this.#reads.commonChunks(tenant, firstDay, lastDay, range);
      if (elapsedMs() > READ_WINDOW_MS) continue;
      return { byDay: Map.groupBy(records, ({ day }) => day), isFirst: reads === 0 };
    }
    return undefined;
  }

  /** Days that are known to have several partitions, which the tenant may not have any more. */
  #daysWithPartitions({ tenant, firstDay, lastDay }: DaysToRead): number[] {
    const count = lastDay - firstDay + 1;
    if (count > MAX_LOOKED_FOR) return [];
    const all = Array.from({ length: count }, (_, i) => firstDay + i);
    return all.filter(day => this.#known.get(`${tenant}/${day}`) !== undefined);
  }

  /** Undefined if no read was within the window. */
  async #inWindow(asked: DaysToRead, day: Day): Promise<ChunkRecord[] | undefined> {
    for (let reads = 0; reads < MAX_SLOW_READS; reads++) {
      const elapsedMs = stopwatch(this.#clock);
      const [own, common] = await Promise.all([
        this.#reads.ownChunks(asked.tenant, day, asked),
        day.isCommon === true ? this.#reads.commonChunks(asked.tenant, day.day, day.day, asked) : [],
      ]);
      if (elapsedMs() <= READ_WINDOW_MS) return [...own, ...common];
    }
    return undefined;
  }
}

/**
 * Returns the chunks of a day from early reads; undefined if it must be read again.
 *
 * The day may have got partitions since its item was read. That does not matter: they have pushes that came after the
 * query, and merges write into the partitions that the day began with (swap.ts).
 */
function recordsOf(
  { day, partitions, isCommon }: Day,
  common: CommonRead | undefined,
  early: EarlyRead | undefined,
): readonly ChunkRecord[] | undefined {
  const recordsOfDay = common?.byDay.get(day) ?? [];
  if (partitions === 1) return recordsOfDay;
  // The day may have more partitions than were read.
  if (early === undefined || early.partitions < partitions || !early.isInWindow) return undefined;
  if (isCommon === true && common?.isFirst !== true) return undefined;
  return [...early.records, ...recordsOfDay];
}

/** Measures with two clocks and returns the longer time: one may be set back, the other may stop during suspend. */
function stopwatch(clock: Clock): () => number {
  const startMs = clock.nowMs();
  const startMonotonicMs = clock.monotonicMs?.() ?? 0;
  return () => Math.max(clock.nowMs() - startMs, (clock.monotonicMs?.() ?? 0) - startMonotonicMs);
}
