/**
 * Stored bytes of a tenant by the UTC day of its entries, summed from the records of chunks and indexes. A
 * day's sum is cached for some minutes, so that repeated requests read little. One request reads a bounded
 * number of records. A tenant with more gets a result marked as incomplete, and the complete one on repeated
 * requests.
 */

import { LruCache } from '../../base/model/lru.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Day } from '../../storage/catalog/day-item.ts';
import type { StoredBytes } from './cost.ts';

interface StoredByDay {
  /** Ascending by day. */
  readonly days: readonly DayBytes[];
  /** False if days are missing. Repeat the request to get them. */
  readonly complete: boolean;
}

export interface DayBytes extends StoredBytes {
  readonly day: number;
}

interface CachedDayBytes extends DayBytes {
  readonly version: number;
  readonly readMs: number;
}

/** Cached days: 27 years of one tenant, or one year of 27. */
const MAX_CACHED_DAYS = 10_000;
/**
 * Cache lifetime. Pushes change the newest days, and compaction changes older ones, which raises their
 * version.
 */
const CACHED_MS = 300_000;
const KEPT_OLD_MS = MS_PER_HOUR;
/** One second of reading, at 1 KB each. */
const MAX_RECORDS = 50_000;

export class StoredBytesByDay {
  readonly #kept = new LruCache<string, CachedDayBytes>(MAX_CACHED_DAYS);
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #maxRecords: number;

  constructor({
    catalog,
    clock,
    maxRecords = MAX_RECORDS,
  }: { catalog: Catalog; clock: Clock; maxRecords?: number }) {
    this.#catalog = catalog;
    this.#clock = clock;
    this.#maxRecords = maxRecords;
  }

  /** Sums of all days up to `lastDay`. Throws the signal's reason. */
  async upTo(tenant: string, lastDay: number, signal: AbortSignal): Promise<StoredByDay> {
    const days: DayBytes[] = [];
    let records = 0;
    let complete = true;
    for (const day of await this.#catalog.days(tenant, Number.MIN_SAFE_INTEGER, lastDay)) {
      signal.throwIfAborted();
      const known = this.#fresh(tenant, day);
      if (known !== undefined) days.push(known);
      else if (records >= this.#maxRecords) complete = false;
      else {
        const read = await this.#read(tenant, day);
        days.push(read.bytes);
        records += read.records;
      }
    }
    return { days, complete };
  }

  #fresh(tenant: string, { day, version }: Day): CachedDayBytes | undefined {
    const kept = this.#kept.get(`${tenant}/${day}`);
    if (kept === undefined || kept.version !== version) return undefined;
    const nowMs = this.#clock.nowMs();
    const keptMs = day >= Math.floor(nowMs / MS_PER_DAY) - 1 ? CACHED_MS : KEPT_OLD_MS;
    return nowMs - kept.readMs < keptMs ? kept : undefined;
  }

  async #read(tenant: string, { day }: Day): Promise<{ bytes: DayBytes; records: number }> {
    const readMs = this.#clock.nowMs();
    const snapshot = await this.#catalog.day(tenant, day);
    let objectBytes = 0;
    let tableBytes = 0;
    for (const { storedBytes } of snapshot?.indexes ?? []) objectBytes += storedBytes;
    for (const { inline, storedBytes } of snapshot?.records ?? []) {
      if (inline === undefined) objectBytes += storedBytes;
      else tableBytes += storedBytes;
    }
    const kept = { day, objectBytes, tableBytes, readMs, version: snapshot?.version ?? 0 };
    this.#kept.set(`${tenant}/${day}`, kept);
    return { bytes: kept, records: snapshot?.records.length ?? 0 };
  }
}
