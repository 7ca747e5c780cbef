/**
 * Reads chunks of a tenant's days for queries over a distant table, in the minimum number of round trips.
 *
 *     days that were seen before, and short ranges     days ‖ chunks
 *     other days                                       days ──▶ chunks
 *
 * No swap makes a query miss an entry. All chunks of a day are read within READ_WINDOW_MS, and a swap waits longer than
 * that between publishing its outputs and removing its inputs (swap.ts). Reads of a day that need more time are
 * repeated. If that happens MAX_SLOW_READS times in a row, versions prove the day.
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
import { CHUNK_SHARDS } from './keys.ts';
import { READ_WINDOW_MS } from './swap.ts';

/** Reads of a catalog. Ranges are inclusive. */
export interface DayReads {
  days(tenant: string, firstDay: number, lastDay: number): Promise<readonly Day[]>;
  chunksOfDay(tenant: string, day: Pick<Day, 'day' | 'partitions'>, range: NsRange): Promise<ChunkRecord[]>;
  /** Reads the day's chunks, proven by its version; undefined if the tenant does not have the day. */
  provenDay(tenant: string, day: number, range: NsRange): Promise<DaySnapshot | undefined>;
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

/**
 * Number of days whose chunks are read concurrently: 31 days of 4 partitions and the read of the days are 125 requests.
 */
export const DAYS_AT_ONCE = 31;
/**
 * Maximum length of a range, in days, whose chunks are read before the days are known. An empty result costs half a
 * read unit.
 */
const MAX_GUESSED_DAYS = 3;
/** Number of days in memory, about 100 bytes each. */
const KNOWN_DAYS = 10_000;
/** Maximum number of days of a range that are looked up in memory. */
const MAX_LOOKED_FOR = 400;
/** Number of reads of a day that may exceed the window. */
const MAX_SLOW_READS = 3;

/** Chunks of a day that were read before its number of partitions was known. */
interface EarlyRead {
  readonly partitions: number;
  readonly records: readonly ChunkRecord[] | undefined;
}

export class DayReader {
  readonly #reads: DayReads;
  readonly #clock: Clock;
  /** Number of partitions of each known day. */
  readonly #known = new LruCache<string, number>(KNOWN_DAYS);

  constructor(reads: DayReads, clock: Clock) {
    this.#reads = reads;
    this.#clock = clock;
  }

  /** Days ascending. A day may have no chunks. Throws the errors of the table. */
  async read(asked: DaysToRead): Promise<DaySnapshot[]> {
    const { tenant, firstDay, lastDay } = asked;
    const early = new Map<number, EarlyRead>();
    const [days] = await Promise.all([
      this.#reads.days(tenant, firstDay, lastDay),
      mapAtOnce(this.#likelyDays(asked), DAYS_AT_ONCE, async day => {
        const partitions = this.#known.get(`${tenant}/${day}`) ?? CHUNK_SHARDS;
        early.set(day, { partitions, records: await this.#inWindow(asked, { day, partitions }) });
      }),
    ]);
    for (const day of early.keys()) this.#known.delete(`${tenant}/${day}`);
    for (const { day, partitions } of days) this.#known.set(`${tenant}/${day}`, partitions);
    const read = await mapAtOnce(days, DAYS_AT_ONCE, async day => {
      const begun = early.get(day.day);
      // Rereads a day that has more partitions than were read.
      const isWhole = begun !== undefined && begun.partitions >= day.partitions;
      const records = isWhole ? begun.records : await this.#inWindow(asked, day);
      return records === undefined ? this.#reads.provenDay(tenant, day.day, asked) : { ...day, records };
    });
    return read.filter(day => day !== undefined);
  }

  /** Days whose chunks are read before the tenant is known to still have them. */
  #likelyDays({ tenant, firstDay, lastDay }: DaysToRead): number[] {
    const count = lastDay - firstDay + 1;
    if (count > MAX_LOOKED_FOR) return [];
    const all = Array.from({ length: count }, (_, i) => firstDay + i);
    return count <= MAX_GUESSED_DAYS
      ? all
      : all.filter(day => this.#known.get(`${tenant}/${day}`) !== undefined);
  }

  /** Undefined if no read was within the window. */
  async #inWindow(
    asked: DaysToRead,
    day: Pick<Day, 'day' | 'partitions'>,
  ): Promise<ChunkRecord[] | undefined> {
    for (let reads = 0; reads < MAX_SLOW_READS; reads++) {
      const elapsedMs = stopwatch(this.#clock);
      const records = await this.#reads.chunksOfDay(asked.tenant, day, asked);
      if (elapsedMs() <= READ_WINDOW_MS) return records;
    }
    return undefined;
  }
}

/** Measures with two clocks and returns the longer time: one may be set back, the other may stop during suspend. */
function stopwatch(clock: Clock): () => number {
  const startMs = clock.nowMs();
  const startMonotonicMs = clock.monotonicMs?.() ?? 0;
  return () => Math.max(clock.nowMs() - startMs, (clock.monotonicMs?.() ?? 0) - startMonotonicMs);
}
