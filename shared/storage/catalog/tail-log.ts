/**
 * Log of commits while a tenant has live tails, in the order of time. It stores a copy of each chunk's record, written
 * in the transaction of the commit. Tails follow only this log: it shows which chunks are new, which the catalog does
 * not. A chunk that was merged since is still in it, including inline bytes. Its object is kept for a grace period
 * (swap.ts).
 *
 *     tm/<tenant>           tails                            the tenant has tails; expires unless it is renewed
 *     tl/<tenant>/<shard>   <commit's Unix ms, hex>/<chunk>  a committed chunk: its record; expires
 *
 * A process reads the marker every MARKER_KNOWN_MS, in parallel with pushes. If its knowledge is older than that, the push
 * waits for the read, up to LEARN_WAIT_MS. A tenant whose marker could not be read counts as tailed. So:
 *
 *     marker is there      + MARKER_KNOWN_MS
 *     |-- commits may be missing --|-- every commit is in the log -->
 *
 * This holds because a commit that was not logged checks again when it is visible. It logs itself late if the marker
 * was written, or may have been, in the meantime. A lookback that reads the catalog after the first line and MARKER_KNOWN_MS
 * misses nothing, and the log contains all later commits. Duplicates are recognized by the chunk's ID.
 * test/catalog/tail-log.test.ts checks the orders.
 *
 * If one process makes all commits of a store (`followAll`), it needs none of this. It keeps its commits in memory for
 * its tails, and logs only those that do not fit into their memory limit, which costs these pushes one more write.
 *
 * Pitfall: stamps come from the writers' clocks, and are taken before the commit. A reader that continues from a stamp
 * must therefore go back by LOG_MARGIN_MS from time to time.
 */
import { invariant } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Table, Write } from '../../base/ports/table.ts';
import { type ChunkRecord, decodeRecord, encodeRecord } from './chunk-record.ts';
import { COMMON_SHARDS, DAY_BIAS, shardOfText, timeKeyText } from './keys.ts';

/**
 * Maximum age of a process's knowledge of a marker, ms. Costs half a read unit per interval for each tenant that
 * pushes.
 */
export const MARKER_KNOWN_MS = 2_000;
/** Maximum wait of a push for the read of the marker, ms. */
const LEARN_WAIT_MS = 250;
/** Number of tenants whose marker state a process caches. */
const KNOWN_TENANTS = 10_000;
/** Covers clock differences and commits in progress. The calls of one commit take at most 15 s, and are retried. */
export const LOG_MARGIN_MS = 60_000;
/** Commit duration after which a commit is logged again, so that its stamp is inside the margin. */
const LATE_COMMIT_MS = 20_000;
/** Time for which a commit stays in the log: longer than the grace period of objects (10 minutes by default). */
const LOGGED_MS = 900_000;

export interface LoggedChunk {
  readonly stampMs: number;
  readonly record: ChunkRecord;
}

/** Called in the process that committed, when the commit is visible. Must not throw and must not do work. */
type OnCommitted = (chunks: readonly LoggedChunk[]) => void;

/** Serves all tails of a store, in the one process that commits to it. */
interface SoleFollower {
  /**
   * Called for each commit when it is visible. Returns false if there is no memory left for it. The commit is then
   * logged before it is acknowledged. Must not throw and must not do work.
   */
  take(chunks: readonly LoggedChunk[]): boolean;
  /** Called when commits that `take` refused are in the log. Must not throw and must not do work. */
  logged(tenant: string): void;
}

interface KnownTails {
  /** Time before the read began, Unix ms. */
  readonly readMs: number;
  readonly isTailed: boolean;
}

export class TailLog {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #known = new LruCache<string, KnownTails>(KNOWN_TENANTS);
  readonly #reading = new Map<string, Promise<boolean>>();
  /** Tenants that this process has marked, with the end of the mark. */
  readonly #marked = new Map<string, number>();
  readonly #listeners = new Set<OnCommitted>();
  #sole: SoleFollower | undefined;

  constructor({ table, clock }: { readonly table: Table; readonly clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /**
   * Makes commits of the tenant logged for `validMs`: from the response on here, and MARKER_KNOWN_MS later in other processes.
   */
  async mark(tenant: string, validMs: number): Promise<void> {
    if (this.#sole !== undefined) return;
    const untilMs = this.#clock.nowMs() + validMs;
    // Sets the local mark first, so that a commit that is visible from now on finds it.
    this.#marked.set(tenant, untilMs);
    const expiresAt = Math.ceil(untilMs / 1000);
    await this.#table.put({ ...markerKey(tenant), version: 0, body: new Uint8Array(0), expiresAt });
  }

  /** Calls back for commits of this process of tenants with tails. Returns a function that ends it. */
  listen(onCommitted: OnCommitted): () => void {
    this.#listeners.add(onCommitted);
    return () => this.#listeners.delete(onCommitted);
  }

  /**
   * Declares that this process makes all commits of the store, and passes them to `sole`. Returns a function that ends
   * it.
   */
  followAll(sole: SoleFollower): () => void {
    invariant(this.#sole === undefined, 'one follower hears of all commits');
    this.#sole = sole;
    return () => (this.#sole = undefined);
  }

  /** Reports commits of another thread of this process, which has logged them if `logged` is true. */
  async relay(chunks: readonly LoggedChunk[], logged: boolean): Promise<void> {
    if (logged || this.#sole === undefined) {
      for (const listener of this.#listeners) listener(chunks);
      return;
    }
    for (const { stampMs, record } of chunks) {
      await this.#notifySole(this.#sole, record.tenant, [record], { stampMs, logged });
    }
  }

  /** True if a commit must be logged. Called before the commit. Never throws: an unknown state counts as true. */
  async isTailed(tenant: string): Promise<boolean> {
    if (this.#sole !== undefined) return false;
    if (this.#isMarkedHere(tenant)) return true;
    const known = this.#known.get(tenant);
    if (known !== undefined && this.#isFresh(tenant)) {
      // Refreshes at half the maximum age, so that a tenant that pushes continuously never waits.
      if (!this.#isFresh(tenant, MARKER_KNOWN_MS / 2)) void this.#learn(tenant);
      return known.isTailed;
    }
    const done = new AbortController();
    const late = this.#clock.sleep(LEARN_WAIT_MS, done.signal).then(
      () => true,
      () => true,
    );
    try {
      const isTailed = await Promise.race([this.#learn(tenant), late]);
      // Treats an outdated result as true: a read that another push started may be too old.
      return isTailed || !this.#isFresh(tenant);
    } finally {
      done.abort();
    }
  }

  /** Writes that a commit includes to log its chunks. */
  writes(records: readonly ChunkRecord[], stampMs: number): Write[] {
    const expiresAt = Math.ceil((stampMs + LOGGED_MS) / 1000);
    return records.map(record => ({
      kind: 'put',
      item: {
        pk: logPartition(record.tenant, shardOfText(record.id)),
        sk: `${timeKeyText(Math.trunc(stampMs))}/${record.id}`,
        version: record.day + DAY_BIAS,
        body: encodeRecord(record),
        expiresAt,
      },
    }));
  }

  /**
   * Called after a commit, before its response. `logged` is the decision made before it, and `stampMs` the time of that
   * decision. Throws the errors of the table: a commit that must be logged and is not must not be acknowledged.
   */
  async committed(
    tenant: string,
    records: readonly ChunkRecord[],
    { stampMs, logged }: { readonly stampMs: number; readonly logged: boolean },
  ): Promise<void> {
    if (this.#sole !== undefined) return this.#notifySole(this.#sole, tenant, records, { stampMs, logged });
    const elapsedMs = Math.abs(this.#clock.nowMs() - stampMs);
    // Checks for tails that started during the commit. They did not find the commit, and it did not know of them.
    const isLate = logged ? elapsedMs > LATE_COMMIT_MS : await this.isTailed(tenant);
    if (isLate) await this.#logLate(records);
    if ((logged || isLate) && this.#listeners.size > 0) {
      const chunks = records.map(record => ({ stampMs, record }));
      for (const listener of this.#listeners) listener(chunks);
    }
  }

  async #notifySole(
    sole: SoleFollower,
    tenant: string,
    records: readonly ChunkRecord[],
    { stampMs, logged }: { readonly stampMs: number; readonly logged: boolean },
  ): Promise<void> {
    if (sole.take(records.map(record => ({ stampMs, record })))) return;
    if (!logged) await this.#logLate(records);
    sole.logged(tenant);
  }

  async #logLate(records: readonly ChunkRecord[]): Promise<void> {
    const lateMs = this.#clock.nowMs();
    // Writes one by one, because there are few and a transaction is limited in size.
    for (const write of this.writes(records, lateMs)) await this.#table.transact([write]);
  }

  /** Chunks logged since `fromMs` (Unix ms), ascending by stamp. Commits in progress may be missing. */
  async read(tenant: string, fromMs: number): Promise<LoggedChunk[]> {
    const from = timeKeyText(Math.max(0, Math.trunc(fromMs)));
    const shards = Array.from({ length: COMMON_SHARDS }, (_, shard) => this.#readShard(tenant, shard, from));
    return (await Promise.all(shards)).flat().sort((a, b) => a.stampMs - b.stampMs);
  }

  async #readShard(tenant: string, shard: number, from: string): Promise<LoggedChunk[]> {
    const chunks: LoggedChunk[] = [];
    let after: string | undefined;
    do {
      const page = await this.#table.query(logPartition(tenant, shard), { from, after });
      for (const { sk, version, body } of page.items) {
        const stampMs = Number.parseInt(sk.slice(0, sk.indexOf('/')), 16);
        chunks.push({ stampMs, record: decodeRecord(tenant, version - DAY_BIAS, body) });
      }
      after = page.next;
    } while (after !== undefined);
    return chunks;
  }

  #isFresh(tenant: string, maxAgeMs = MARKER_KNOWN_MS): boolean {
    const known = this.#known.get(tenant);
    // Compares the absolute age, so that a clock that was set back does not extend the validity.
    return known !== undefined && Math.abs(this.#clock.nowMs() - known.readMs) < maxAgeMs;
  }

  #isMarkedHere(tenant: string): boolean {
    const untilMs = this.#marked.get(tenant);
    if (untilMs === undefined) return false;
    if (this.#clock.nowMs() < untilMs) return true;
    this.#marked.delete(tenant);
    return false;
  }

  #learn(tenant: string): Promise<boolean> {
    let reading = this.#reading.get(tenant);
    if (reading === undefined) {
      const readMs = this.#clock.nowMs();
      reading = this.#table
        .get(markerKey(tenant))
        .then(
          item => {
            const isTailed = item !== undefined;
            this.#known.set(tenant, { readMs, isTailed });
            return isTailed;
          },
          () => true,
        )
        .finally(() => this.#reading.delete(tenant));
      this.#reading.set(tenant, reading);
    }
    return reading;
  }
}

function markerKey(tenant: string) {
  return { pk: `tm/${tenant}`, sk: 'tails' };
}

function logPartition(tenant: string, shard: number): string {
  return `tl/${tenant}/${shard}`;
}
