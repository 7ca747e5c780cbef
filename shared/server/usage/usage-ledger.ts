/**
 * Counts the usage of tenants in memory, and writes it to the table periodically.
 *
 *     push, query ──> tally of (tenant, today) ──every 60 s, and at a stop──> item of this process
 *
 * Nothing here fails or delays what is counted.
 *
 * Pitfall: an item contains everything that its writer counted that day, not the difference. So a lost or
 * repeated write does no harm. Counts since the last write are lost with the process.
 */

import { MS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { QueryStatistics } from '../../read/query/statistics.ts';
import type { UsageRecords } from '../../storage/catalog/usage-records.ts';
import type { IngestObserver, Received, Refused } from '../../write/ingest/observer.ts';
import type { StoredPush } from '../../write/ingest/stored-push.ts';
import { chunkWrites, gatewayUnits } from './cost.ts';
import { addRefused, encodeFigures, newFigures, type UsageFigures } from './figures.ts';

/**
 * 1,440 small writes a day for a continuously active tenant: 0.001 dollars on AWS
 * (docs/reference/metrics.md).
 */
export const WRITE_EVERY_MS = 60_000;
/** Tallies in memory, at most about 6 KB each. Events beyond this are dropped, and the drops are counted. */
const MAX_TALLIES = 10_000;
/** Ended days that wait to be written. The oldest are dropped first. */
const MAX_ENDED = 10_000;
/** Concurrent writes, in addition to those of pushes. */
const WRITES_AT_ONCE = 8;

/** Counts of this process for a tenant and day. */
interface UsageTally {
  readonly tenant: string;
  readonly day: number;
  /** Name of its item. */
  readonly writer: string;
  readonly figures: UsageFigures;
  /** Increases with every change. */
  revision: number;
  writtenRevision: number;
}

interface UsageLedgerParts {
  readonly records: UsageRecords;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly maxTallies?: number;
  /** Called if a write fails. The next write retries. */
  readonly onFailure?: (error: unknown) => void;
  /** Called if an event was not counted because of MAX_TALLIES. */
  readonly onDrop?: () => void;
}

export class UsageLedger implements IngestObserver {
  readonly #parts: UsageLedgerParts;
  readonly #maxTallies: number;
  /** Newest day by tenant. */
  readonly #tallies = new Map<string, UsageTally>();
  readonly #ended = new Set<UsageTally>();
  #startedMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;

  constructor(parts: UsageLedgerParts) {
    this.#parts = parts;
    this.#maxTallies = parts.maxTallies ?? MAX_TALLIES;
  }

  received({ tenant, lines, lineBytes, metadataBytes }: Received): void {
    const sums = this.#change(tenant)?.sums;
    if (sums === undefined) return;
    sums.lines += lines;
    sums.lineBytes += lineBytes;
    sums.metadataBytes += metadataBytes;
  }

  refused({ tenant, reason, lines, bytes }: Refused): void {
    const figures = this.#change(tenant);
    if (figures !== undefined) addRefused(figures, reason, { lines, bytes });
  }

  /** Counts a push that became durable. */
  stored(tenant: string, { streams, bytes: rawBytes }: StoredPush): void {
    const figures = this.#change(tenant);
    if (figures === undefined) return;
    const { sums } = figures;
    for (const hash of streams) figures.streams.add(hash);
    const { objectPuts, writeUnits } = chunkWrites(rawBytes);
    sums.pushes++;
    sums.gatewayUnits += gatewayUnits(rawBytes);
    sums.objectPuts += objectPuts;
    sums.writeUnits += writeUnits;
  }

  /** Counts a successful query for each tenant, and divides what it read equally. */
  queried(tenants: readonly string[], statistics: QueryStatistics, execNs: number): void {
    const part = 1 / tenants.length;
    for (const tenant of tenants) {
      const sums = this.#change(tenant)?.sums;
      if (sums === undefined) continue;
      sums.queries++;
      sums.queryMs += (execNs / 1e6) * part;
      sums.queryBytes += statistics.compressedBytes * part;
      sums.queryGets += statistics.pagesRead * part;
      sums.queryRecords += statistics.chunksReferenced * part;
    }
  }

  /** Tallies of a tenant in this process, except days that have ended and are written. */
  of(tenant: string): readonly UsageTally[] {
    const ended = [...this.#ended].filter(tally => tally.tenant === tenant);
    const newest = this.#tallies.get(tenant);
    return newest === undefined ? ended : [...ended, newest];
  }

  /** Writes changes if the last write began at least 60 s ago, or none has been made. Never rejects. */
  async writeIfDue(): Promise<void> {
    if (this.#parts.clock.nowMs() - this.#startedMs >= WRITE_EVERY_MS) await this.write();
  }

  /** Writes changes. Never rejects: the next write retries failures. */
  async write(): Promise<void> {
    // A running write may not include the latest counts.
    while (this.#writing !== undefined) await this.#writing;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes once a minute until the signal aborts, and then once more. */
  async keepWritten(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(WRITE_EVERY_MS, signal).catch(() => undefined);
      await this.write();
    }
  }

  /** Figures to change; `undefined` if MAX_TALLIES is reached. */
  #change(tenant: string): UsageFigures | undefined {
    const day = Math.floor(this.#parts.clock.nowMs() / MS_PER_DAY);
    let tally = this.#tallies.get(tenant);
    if (tally === undefined || tally.day !== day) {
      if (tally !== undefined) this.#end(tally);
      else if (this.#tallies.size >= this.#maxTallies) {
        this.#parts.onDrop?.();
        return undefined;
      }
      tally = {
        tenant,
        day,
        writer: this.#parts.ids.randomHex(8),
        figures: newFigures(),
        revision: 0,
        writtenRevision: 0,
      };
      this.#tallies.set(tenant, tally);
    }
    tally.revision++;
    return tally.figures;
  }

  /** Keeps an ended day until it is written. */
  #end(tally: UsageTally): void {
    if (!isNew(tally)) return;
    this.#ended.add(tally);
    if (this.#ended.size <= MAX_ENDED) return;
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest);
      this.#parts.onDrop?.();
      break;
    }
  }

  async #writeAll(): Promise<void> {
    const crowded = this.#tallies.size > this.#maxTallies / 2;
    const quiet = crowded ? [...this.#tallies.values()].filter(tally => !isNew(tally)) : [];
    // Written, and unchanged for one minute. The next change starts a new item.
    for (const { tenant } of quiet) this.#tallies.delete(tenant);
    const unwritten = [...this.#ended, ...this.#tallies.values()].filter(isNew);
    if (unwritten.length === 0) return;
    this.#startedMs = this.#parts.clock.nowMs();
    const queue = unwritten.values();
    const work = async () => {
      for (const tally of queue) await this.#writeOne(tally);
    };
    await Promise.all(Array.from({ length: WRITES_AT_ONCE }, work));
  }

  async #writeOne(tally: UsageTally): Promise<void> {
    const { revision, figures, tenant, day, writer } = tally;
    try {
      await this.#parts.records.write({ tenant, day, writer, body: encodeFigures(figures) });
      tally.writtenRevision = revision;
      this.#ended.delete(tally);
    } catch (error) {
      this.#parts.onFailure?.(error);
    }
  }
}

function isNew({ revision, writtenRevision }: UsageTally): boolean {
  return revision > writtenRevision;
}
