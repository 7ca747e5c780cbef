/**
 * What was committed while a tenant has live tails, in the order of time: a copy of each chunk's record, written in the
 * transaction of the commit. Tails follow it, and nothing else: it has what the catalog cannot tell (what is new), and a
 * chunk that was merged since is still in it, inline bytes included; its object is kept for a grace (swap.ts).
 *
 *     tm/<tenant>           tails                            the tenant has tails; expires unless it is renewed
 *     tl/<tenant>/<shard>   <commit's Unix ms, hex>/<chunk>  a committed chunk: its record; expires
 *
 * A process learns of the marker by a read every KNOWN_MS, beside a push; where it knows nothing that is younger, the push
 * waits for the read, but not long: what it could not learn counts as tailed. So:
 *
 *     marker is there      + KNOWN_MS
 *     |-- commits may be missing --|-- every commit is in the log -->
 *
 * because a commit that was not logged looks again when it is visible, and logs itself late where the marker came, or may
 * have come, meanwhile. A lookback that reads the catalog after the first line and KNOWN_MS misses nothing, and the log has
 * all that comes behind. What it has twice is told by the chunk's id. test/catalog/tail-log.test.ts goes through the orders.
 *
 * Where one process makes all commits of a store (`followAll`), nothing of this is done: it keeps what it commits in memory
 * for its tails, and writes into the log only what they have no room for, which costs those pushes a write more.
 *
 * A reader would get wrong: stamps are of the writers' clocks, and are taken before the commit. So who reads on from a stamp
 * must go back by LOG_MARGIN_MS now and then.
 */
import { invariant } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Table, Write } from '../../base/ports/table.ts';
import { type ChunkRecord, decodeRecord, encodeRecord } from './chunk-record.ts';
import { COMMON_SHARDS, DAY_BIAS, shardOfText, timeText } from './keys.ts';

/** How old what a process knows of a marker may be: half a read unit in this time, for each tenant that pushes to it. */
export const KNOWN_MS = 2_000;
/** A push waits so long at most to learn whether there are tails. */
const LEARN_WAIT_MS = 250;
/** Tenants of which a process knows whether they have tails. */
const KNOWN_TENANTS = 10_000;
/** Clocks that differ, and commits under way: the calls of one take 15 s at most, and are tried again. */
export const LOG_MARGIN_MS = 60_000;
/** A commit that took longer is logged once more, so that its stamp is inside the margin. */
const LATE_COMMIT_MS = 20_000;
/** How long a commit can be followed: longer than the grace of objects (10 minutes by default). */
const LOGGED_MS = 900_000;

export interface LoggedChunk {
  readonly stampMs: number;
  readonly record: ChunkRecord;
}

/** Told in the process that committed, when the commit is visible. Must not throw and must not do work. */
export type OnCommitted = (chunks: readonly LoggedChunk[]) => void;

/** Serves all tails of a store, in the one process that commits to it. */
export interface SoleFollower {
  /**
   * Told of each commit when it is visible. False where there is no room for it: it is logged then, before it is
   * acknowledged. Must not throw and must not do work.
   */
  take(chunks: readonly LoggedChunk[]): boolean;
  /** What there was no room for is in the log. Must not throw and must not do work. */
  logged(tenant: string): void;
}

interface Known {
  /** Before the read began. */
  readonly readMs: number;
  readonly isTailed: boolean;
}

export class TailLog {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #known = new LruCache<string, Known>(KNOWN_TENANTS);
  readonly #reading = new Map<string, Promise<boolean>>();
  /** Tenants that this process itself has marked, until when. */
  readonly #marked = new Map<string, number>();
  readonly #listeners = new Set<OnCommitted>();
  #sole: SoleFollower | undefined;

  constructor({ table, clock }: { readonly table: Table; readonly clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /** From the answer on, and KNOWN_MS in other processes, commits of the tenant are logged for `validMs`. */
  async mark(tenant: string, validMs: number): Promise<void> {
    if (this.#sole !== undefined) return;
    const untilMs = this.#clock.nowMs() + validMs;
    // First of all here: a commit that is visible from now on finds it.
    this.#marked.set(tenant, untilMs);
    const expiresAt = Math.ceil(untilMs / 1000);
    await this.#table.put({ ...markerKey(tenant), version: 0, body: new Uint8Array(0), expiresAt });
  }

  /** Calls back for what this process commits of tenants with tails; the function that it returns ends that. */
  listen(onCommitted: OnCommitted): () => void {
    this.#listeners.add(onCommitted);
    return () => this.#listeners.delete(onCommitted);
  }

  /** From now on all commits of the store are of this process, and `sole` is told of them; ends with the function it returns. */
  followAll(sole: SoleFollower): () => void {
    invariant(this.#sole === undefined, 'one follower hears of all commits');
    this.#sole = sole;
    return () => (this.#sole = undefined);
  }

  /** Another thread of this process made these commits, and logged them if `logged` says so. */
  async relay(chunks: readonly LoggedChunk[], logged: boolean): Promise<void> {
    if (logged || this.#sole === undefined) {
      for (const listener of this.#listeners) listener(chunks);
      return;
    }
    for (const { stampMs, record } of chunks) {
      await this.#tellSole(this.#sole, record.tenant, [record], { stampMs, logged });
    }
  }

  /** Asked before a commit: is it to be logged? Never throws: what cannot be learnt counts as true. */
  async isTailed(tenant: string): Promise<boolean> {
    if (this.#sole !== undefined) return false;
    if (this.#isMarkedHere(tenant)) return true;
    const known = this.#known.get(tenant);
    if (known !== undefined && this.#isFresh(tenant)) {
      // Learnt anew before it is too old, so that a tenant that pushes all the time never waits.
      if (!this.#isFresh(tenant, KNOWN_MS / 2)) void this.#learn(tenant);
      return known.isTailed;
    }
    const done = new AbortController();
    const late = this.#clock.sleep(LEARN_WAIT_MS, done.signal).then(
      () => true,
      () => true,
    );
    try {
      const isTailed = await Promise.race([this.#learn(tenant), late]);
      // A read that somebody else began may be older than it helps.
      return isTailed || !this.#isFresh(tenant);
    } finally {
      done.abort();
    }
  }

  /** The parts of a commit that log its chunks. */
  writes(records: readonly ChunkRecord[], stampMs: number): Write[] {
    const expiresAt = Math.ceil((stampMs + LOGGED_MS) / 1000);
    return records.map(record => ({
      kind: 'put',
      item: {
        pk: logPartition(record.tenant, shardOfText(record.id)),
        sk: `${timeText(Math.trunc(stampMs))}/${record.id}`,
        version: record.day + DAY_BIAS,
        body: encodeRecord(record),
        expiresAt,
      },
    }));
  }

  /**
   * After a commit, before its answer. `logged` says what was decided before it; `stampMs` is when that was. Throws what the
   * table throws: a commit that has to be logged and is not must not be acknowledged.
   */
  async committed(
    tenant: string,
    records: readonly ChunkRecord[],
    { stampMs, logged }: { readonly stampMs: number; readonly logged: boolean },
  ): Promise<void> {
    if (this.#sole !== undefined) return this.#tellSole(this.#sole, tenant, records, { stampMs, logged });
    const elapsedMs = Math.abs(this.#clock.nowMs() - stampMs);
    // Tails that came while a commit was under way did not find it, and it did not know of them.
    const isLate = logged ? elapsedMs > LATE_COMMIT_MS : await this.isTailed(tenant);
    if (isLate) await this.#logLate(records);
    if ((logged || isLate) && this.#listeners.size > 0) {
      const chunks = records.map(record => ({ stampMs, record }));
      for (const listener of this.#listeners) listener(chunks);
    }
  }

  async #tellSole(
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
    // One by one: they are few, and a transaction has its limits.
    for (const write of this.writes(records, lateMs)) await this.#table.transact([write]);
  }

  /** Chunks logged from `fromMs` (Unix ms) on, ascending by stamp; what is under way may be missing. */
  async read(tenant: string, fromMs: number): Promise<LoggedChunk[]> {
    const from = timeText(Math.max(0, Math.trunc(fromMs)));
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

  #isFresh(tenant: string, maxAgeMs = KNOWN_MS): boolean {
    const known = this.#known.get(tenant);
    // A clock that was set back must not make it last longer.
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
