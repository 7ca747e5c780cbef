/**
 * Chunks of a tenant's days before it is known that no swap came in between, so that a query reads objects while it is found
 * out. Over a distant table this takes most of the waiting out of a look: versions and chunks are asked for side by side.
 *
 *     known days        chunks ‖ versions ───────────────────────▶ versions again: those known before?
 *     short ranges      chunks ‖ versions ──▶ chunks again ──────▶ versions again: the same, and nothing missed at first?
 *     other days                 versions ──▶ chunks ────────────▶ versions again: the same?
 *                                             ▲ the query goes on with these
 *
 * What a reader accepts in the end is what swap.ts proves: chunks that were read between two looks at the day that show one
 * version. A first look at chunks that came before any look at versions counts only if such a reading holds all of it, and
 * beside that nothing but pushes: those were not answered when the first look began.
 */
import { mapAtOnce } from '../model/at-once.ts';
import { LruCache } from '../model/lru.ts';
import type { ChunkRecord } from './chunk-record.ts';
import type { Day } from './day-item.ts';
import type { DaySnapshot } from './day-snapshot.ts';

export interface EarlySnapshot {
  /** As of a snapshot; torn by a swap in rare cases. */
  readonly days: readonly DaySnapshot[];
  /**
   * Looks at the versions again: undefined where `days` is whole, else what is true. Asked again it answers the same. It is of
   * no use early, and costs nothing beside other requests of the query. Rejects with what the table throws.
   */
  confirm(): Promise<readonly DaySnapshot[] | undefined>;
}

/** Of a catalog. Ranges are inclusive. */
export interface DayReads {
  days(tenant: string, firstDay: number, lastDay: number): Promise<readonly Day[]>;
  chunksOfDay(tenant: string, day: number, startNs: bigint, endNs: bigint): Promise<ChunkRecord[]>;
  snapshot(tenant: string, startNs: bigint, endNs: bigint): Promise<DaySnapshot[]>;
}

export interface EarlyRange {
  readonly tenant: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Days whose chunks are read at once: 31 days of 4 partitions and a look at versions are 125 requests. */
export const DAYS_AT_ONCE = 31;
/** Days that nothing is known of, yet are asked for: a request that finds nothing costs half a read unit. */
const MAX_GUESSED_DAYS = 3;
/** Versions in memory, some 100 bytes each. */
const KNOWN_VERSIONS = 10_000;
/** Days of a range that are looked for among them. */
const MAX_LOOKED_FOR = 400;

/** Undefined for a day that is a guess. */
type Guesses = ReadonlyMap<number, number | undefined>;

interface Found {
  readonly day: DaySnapshot;
  /** Read before any look at the day's version. */
  readonly isGuess: boolean;
}

export class EarlyReader {
  private readonly reads: DayReads;
  private readonly versions = new LruCache<string, number>(KNOWN_VERSIONS);

  constructor(reads: DayReads) {
    this.reads = reads;
  }

  /** Throws what the table throws. */
  async read(range: EarlyRange): Promise<EarlySnapshot> {
    const { tenant, firstDay, lastDay } = range;
    const guesses = this.guess(range);
    const early = new Map<number, ChunkRecord[]>();
    const [days] = await Promise.all([
      this.reads.days(tenant, firstDay, lastDay),
      mapAtOnce([...guesses.keys()], DAYS_AT_ONCE, async day =>
        early.set(day, await this.chunksOf(range, day)),
      ),
    ]);
    this.keep(tenant, days);
    const found = await mapAtOnce(days, DAYS_AT_ONCE, async (day): Promise<Found> => {
      const records = early.get(day.day);
      const before = guesses.get(day.day);
      const isGuess = records !== undefined && before === undefined;
      // Where the version is another than was known, the chunks may be from before and after a swap.
      if (records !== undefined && (isGuess || before === day.version))
        return { day: { ...day, records }, isGuess };
      return { day: { ...day, records: await this.chunksOf(range, day.day) }, isGuess: false };
    });
    const guessed = found.filter(({ isGuess }) => isGuess);
    const areWhole = mapAtOnce(guessed, DAYS_AT_ONCE, async ({ day }) =>
      holdsAll(await this.chunksOf(range, day.day), day.records),
    );
    // Who ends before it confirms does not hear of it.
    areWhole.catch(() => undefined);
    let correction: Promise<readonly DaySnapshot[] | undefined> | undefined;
    return {
      days: found.map(({ day }) => day),
      confirm: () => {
        correction ??= this.correct(range, found, areWhole);
        correction.catch(() => undefined);
        return correction;
      },
    };
  }

  private chunksOf({ tenant, startNs, endNs }: EarlyRange, day: number): Promise<ChunkRecord[]> {
    return this.reads.chunksOfDay(tenant, day, startNs, endNs);
  }

  /** Days whose chunks are read beside the versions, with the version that was known before. */
  private guess({ tenant, firstDay, lastDay }: EarlyRange): Guesses {
    const guesses = new Map<number, number | undefined>();
    const count = lastDay - firstDay + 1;
    if (count > MAX_LOOKED_FOR) return guesses;
    for (let day = firstDay; day <= lastDay; day++) {
      const version = this.versions.get(`${tenant}/${day}`);
      if (version !== undefined || count <= MAX_GUESSED_DAYS) guesses.set(day, version);
    }
    return guesses;
  }

  private keep(tenant: string, days: readonly Day[]): void {
    for (const { day, version } of days) this.versions.set(`${tenant}/${day}`, version);
  }

  private async correct(
    range: EarlyRange,
    found: readonly Found[],
    areWhole: Promise<readonly boolean[]>,
  ): Promise<readonly DaySnapshot[] | undefined> {
    const { tenant, firstDay, lastDay, startNs, endNs } = range;
    if (found.length === 0) return undefined;
    if ((await areWhole).every(isWhole => isWhole)) {
      const days = await this.reads.days(tenant, firstDay, lastDay);
      this.keep(tenant, days);
      const versions = new Map(days.map(({ day, version }) => [day, version]));
      if (found.every(({ day }) => versions.get(day.day) === day.version)) return undefined;
    }
    return this.reads.snapshot(tenant, startNs, endNs);
  }
}

/** True where `later` has all of `earlier` as it was, and beside that only what was pushed. */
function holdsAll(later: readonly ChunkRecord[], earlier: readonly ChunkRecord[]): boolean {
  const before = new Map(earlier.map(record => [record.id, record]));
  let same = 0;
  for (const record of later) {
    const known = before.get(record.id);
    if (known === undefined) {
      if (record.asOfMs !== 0) return false;
    } else if (known.asOfMs === record.asOfMs) same++;
  }
  return same === before.size;
}
