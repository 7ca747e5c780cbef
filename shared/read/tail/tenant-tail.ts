/**
 * All tails of one tenant that one owner serves. A step collects commits and delivers them to the tails, then
 * lets new tails join. Steps run one at a time, and none waits for a slow client longer than PATIENCE_MS.
 *
 *     commits --> CommitQueue --> scanChunks (each page once) --> Outbox of each tail --> Connections
 *                                                   lookback ------^
 *
 * A tail joins without gaps and duplicates. It waits until every process logs its commits (`joinMs` after it
 * was first seen). Between two batches a snapshot of the catalog is taken:
 *
 * - Commits in the snapshot belong to the lookback, and are skipped in later batches (`covered`).
 * - Commits that come in the log later are served live.
 * - Commits that are missing in the snapshot although they were served to others: the log can show a part of a
 *   transaction before the catalog does. They are remembered for a while and served only to the new tail, within its
 *   range.
 */

import { ClientError } from '../../base/model/errors.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import {
  SUBSCRIPTION_MS,
  type Subscription,
  type Subscriptions,
} from '../../storage/catalog/subscriptions.ts';
import type { LoggedChunk, TailLog } from '../../storage/catalog/tail-log.ts';
import { ALL_VISIBLE, type Visible } from '../query/visibility.ts';
import { APPLIED_MS, MARKED_MS, MAX_CURSOR_AGE_MS, RENEW_MS, SAVE_MS, STUCK_MS } from './bounds.ts';
import { CommitQueue } from './commit-queue.ts';
import { deliverToTails, type TailPace } from './deliver.ts';
import { LiveTail } from './live-tail.ts';
import {
  type LookbackSnapshot,
  missedBy,
  ownLookback,
  readLookback,
  takeSnapshot,
  widestOf,
} from './lookback.ts';
import { Outbox } from './outbox.ts';
import { FELL_BEHIND, MAX_DURATION_REACHED, TAKES_NOTHING } from './reasons.ts';
import { scanChunks } from './scan-chunks.ts';
import { SharedFrames } from './shared-frames.ts';
import { TailEnds } from './tail-ends.ts';
import type { TailEntry } from './tail-entry.ts';
import type { TenantTailParts } from './tail-parts.ts';
import { compileTailQuery, keyOfQuery, type TailQuery } from './tail-query.ts';

/** Interval of reading subscriptions that other processes write. */
const LIST_MS = 1_000;

interface StepFigures {
  /** Commits that were served. */
  readonly commits: number;
  /** Tails that are served from now on. */
  readonly joined: number;
}

export class TenantTail {
  readonly tenant: string;
  readonly #parts: TenantTailParts;
  readonly #tails = new Map<string, LiveTail>();
  /** Tails that are not served yet, with the time when they were first seen (Unix ms). */
  readonly #joining = new Map<string, { subscription: Subscription; seenMs: number }>();
  readonly #queries = new Map<string, TailQuery>();
  readonly #shared = new SharedFrames();
  readonly #stopping = new AbortController();
  readonly #ends: TailEnds;
  #queue: CommitQueue | undefined;
  /** Commits served so recently that the catalog may not show all of their transaction. */
  #recent: LoggedChunk[] = [];
  #listedMs = -Infinity;
  #markedMs = -Infinity;
  #savedMs = -Infinity;

  constructor(tenant: string, parts: TenantTailParts) {
    this.tenant = tenant;
    this.#parts = parts;
    const drop = (connectionId: string) => this.drop(connectionId);
    this.#ends = new TailEnds({ tenant, parts, drop, stopping: this.#stopping.signal });
  }

  /** Number of tails that are served or are about to be. */
  get count(): number {
    return this.#tails.size + this.#joining.size;
  }

  /** Milliseconds until a step has scheduled work. Infinity if it has none. */
  nextMs(): number {
    const nowMs = this.#parts.clock.nowMs();
    let next = Infinity;
    for (const { seenMs } of this.#joining.values())
      next = Math.min(next, seenMs + this.#parts.joinMs - nowMs);
    for (const { subscription } of this.#tails.values()) {
      if (this.#parts.maxDurationMs > 0)
        next = Math.min(next, subscription.createdMs + this.#parts.maxDurationMs - nowMs);
    }
    return Math.max(0, next);
  }

  /** Whether a tail waits to be served, or for its lookback. */
  get isJoining(): boolean {
    return this.#joining.size > 0 || [...this.#tails.values()].some(({ joining }) => joining !== undefined);
  }

  get hasNotices(): boolean {
    return this.#queue?.hasNotices === true;
  }

  /**
   * Adds a commit of this process. Returns false if it does not fit. Call `overflowed` when it is in the log.
   */
  notice(chunk: LoggedChunk): boolean {
    // Nothing is served before the queue exists. Then a snapshot contains it, or the first read of the log
    // finds it.
    return this.#queue?.notice(chunk) ?? true;
  }

  /** Reports commits in the log that did not fit. */
  overflowed(): void {
    this.#queue?.overflowed();
  }

  /** Reports that the subscriptions in the table have changed. */
  changed(): void {
    this.#listedMs = -Infinity;
  }

  /** Throws errors of the table and the store. It may be called again. */
  async step({ readsLog }: { readonly readsLog: boolean }): Promise<StepFigures> {
    const { clock, savesCursor } = this.#parts;
    const queue = await this.#opened();
    if (Math.abs(clock.nowMs() - this.#listedMs) >= (savesCursor ? LIST_MS : RENEW_MS)) await this.#list();
    const joinable = this.#joinable();
    // Commits so far are delivered to existing tails. Joining tails find them in their snapshot.
    await queue.gather({ readsLog: readsLog || joinable.length > 0 });
    let served = 0;
    for (let batch = queue.take(); batch.length > 0; batch = queue.take()) {
      await this.#serve(batch);
      served += batch.length;
      this.#remember(batch);
    }
    if (joinable.length > 0) await this.#join(joinable);
    await this.#keepUp();
    if (savesCursor && (served > 0 || joinable.length > 0)) await this.#save();
    return { commits: served, joined: joinable.length };
  }

  /** Resolves when everything queued for clients has been posted. */
  async drained(): Promise<void> {
    const drained = async ({ joining, outbox }: LiveTail): Promise<void> => {
      await joining;
      await outbox.drained();
    };
    await Promise.all([...this.#tails.values()].map(drained));
  }

  /** Stops serving. The subscriptions stay. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#parts.savesCursor && this.#queue !== undefined) await this.#save(true);
    for (const { outbox } of this.#tails.values()) outbox.close();
    this.#tails.clear();
  }

  /** Stops serving the tail of a closed connection. */
  drop(connectionId: string): void {
    this.#tails.get(connectionId)?.outbox.close();
    this.#tails.delete(connectionId);
    this.#joining.delete(connectionId);
    this.#forgetQueries();
  }

  get #pace(): TailPace {
    const { scheduler } = this.#parts.source;
    return {
      nowMs: () => scheduler.nowMs(),
      yield: async startedMs => {
        await scheduler.yield(this.tenant, startedMs);
        this.#stopping.signal.throwIfAborted();
      },
    };
  }

  get #subscriptions(): Subscriptions {
    return this.#parts.catalog.subscriptions;
  }

  get #log(): TailLog {
    return this.#parts.catalog.tailLog;
  }

  async #opened(): Promise<CommitQueue> {
    if (this.#queue !== undefined) return this.#queue;
    const { clock, owner, savesCursor, hearsAll, maxNotices } = this.#parts;
    const cursor = savesCursor ? await this.#subscriptions.readCursor(this.tenant, owner) : undefined;
    const { tenant } = this;
    const log = this.#log;
    this.#queue = new CommitQueue({ log, clock, tenant, hearsAll, maxNotices, cursor });
    const isLost = cursor !== undefined && clock.nowMs() - cursor.savedMs > MAX_CURSOR_AGE_MS;
    await this.#list({ refusal: isLost || (savesCursor && cursor === undefined) ? FELL_BEHIND : undefined });
    return this.#queue;
  }

  /**
   * Finds new and removed tails.
   *
   * @param refusal reason to end tails that were served before this run and cannot be continued
   */
  async #list({ refusal }: { readonly refusal?: string | undefined } = {}): Promise<void> {
    const { clock, owner } = this.#parts;
    const nowMs = clock.nowMs();
    const listed = (await this.#subscriptions.list(this.tenant)).filter(one => one.owner === owner);
    const present = new Set(listed.map(({ connectionId }) => connectionId));
    for (const id of [...this.#tails.keys(), ...this.#joining.keys()]) if (!present.has(id)) this.drop(id);
    for (const subscription of listed) {
      const { connectionId } = subscription;
      if (this.#tails.has(connectionId) || this.#joining.has(connectionId)) continue;
      if (subscription.refusal !== undefined) await this.#ends.now(subscription, subscription.refusal);
      else if (subscription.covered === undefined)
        this.#joining.set(connectionId, { subscription, seenMs: nowMs });
      else if (refusal !== undefined) await this.#ends.now(subscription, refusal);
      else {
        const covered = new Set(subscription.covered);
        void this.#open(subscription, { renewedMs: nowMs - RENEW_MS, covered })?.outbox.begin([]);
      }
    }
    this.#listedMs = nowMs;
    if (listed.length > 0 && Math.abs(nowMs - this.#markedMs) >= RENEW_MS) await this.#mark(nowMs);
  }

  /** Commits made while the marker had lapsed are in no log. */
  async #mark(nowMs: number): Promise<void> {
    const hasLapsed = Number.isFinite(this.#markedMs) && Math.abs(nowMs - this.#markedMs) >= MARKED_MS;
    await this.#log.mark(this.tenant, MARKED_MS);
    this.#markedMs = nowMs;
    if (!hasLapsed) return;
    for (const { subscription } of [...this.#tails.values()]) await this.#ends.now(subscription, FELL_BEHIND);
  }

  #joinable(): Subscription[] {
    const nowMs = this.#parts.clock.nowMs();
    return [...this.#joining.values()]
      .filter(({ seenMs }) => nowMs - seenMs >= this.#parts.joinMs)
      .map(({ subscription }) => subscription);
  }

  /** Returns undefined if the query is invalid, which is reported to the client. */
  #open(
    subscription: Subscription,
    { renewedMs, covered }: Pick<LiveTail, 'renewedMs' | 'covered'>,
  ): LiveTail | undefined {
    const { connections, clock, frames } = this.#parts;
    const { connectionId, form, flags, delayMs } = subscription;
    try {
      const key = keyOfQuery(subscription);
      const query = this.#queries.get(key) ?? compileTailQuery(subscription, clock);
      this.#queries.set(key, query);
      const outbox = new Outbox({
        connectionId,
        connections,
        clock,
        limits: frames,
        style: { form, flags },
        shared: this.#shared,
        delayMs,
        onGone: error => this.#ends.gone(subscription, error),
      });
      const tail = new LiveTail(subscription, { query, outbox, renewedMs, covered });
      this.#tails.set(connectionId, tail);
      return tail;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.#ends.later(subscription, error.message);
      return undefined;
    }
  }

  /** Takes one snapshot for all joining tails, and one lookback for all of them with equal queries. */
  async #join(joinable: readonly Subscription[]): Promise<void> {
    const asked = widestOf(joinable);
    const snapshot = await takeSnapshot(this.#parts, asked);
    const covered = new Set(snapshot.covered);
    const renewedMs = this.#parts.clock.nowMs();
    const joined: LiveTail[] = [];
    for (const subscription of joinable) {
      // It may have left meanwhile.
      if (!this.#joining.delete(subscription.connectionId)) continue;
      const tail = this.#open(subscription, { renewedMs, covered });
      if (tail !== undefined) joined.push(tail);
    }
    for (const query of new Set(joined.map(tail => tail.query))) {
      const alike = joined.filter(tail => tail.query === query);
      const widest = widestOf(alike.map(({ subscription }) => subscription));
      const lookback = readLookback(this.#parts, widest, snapshot, this.#stopping.signal);
      for (const tail of alike) {
        // Live entries are queued until the lookback has been sent, because other tails must not wait for it.
        tail.joining = this.#sendLookback(tail, lookback)
          .catch(error => this.#ends.failed(tail.subscription, error))
          .finally(() => (tail.joining = undefined));
      }
    }
    const served = this.#recent.filter(({ record }) => !covered.has(record.id));
    const missed = await missedBy(this.#parts, { asked, snapshot, served }, this.#stopping.signal);
    if (missed.length > 0) await this.#serveMissed(missed, joined, snapshot);
  }

  /** Serves commits that the snapshot did not contain, only to the tails that joined with it. */
  async #serveMissed(
    missed: readonly ChunkRecord[],
    joined: readonly LiveTail[],
    { range }: LookbackSnapshot,
  ): Promise<void> {
    await scanChunks(missed, [...new Set(joined.map(({ query }) => query))], {
      source: this.#parts.source,
      signal: this.#stopping.signal,
      visible: await this.#visible(),
      range,
      deliver: async (query, entries) => {
        for (const tail of joined.filter(one => one.query === query)) {
          const startNs = BigInt(tail.subscription.startNs);
          await deliverToTails(
            [tail],
            entries.filter(({ timeNs }) => timeNs >= startNs),
            this.#pace,
          );
        }
      },
      failed: (query, error) => {
        for (const tail of joined) if (tail.query === query) this.#ends.failed(tail.subscription, error);
      },
    });
  }

  /**
   * Stores the tail as joined when the lookback is posted. An owner that takes over before starts over with
   * the lookback.
   */
  async #sendLookback(tail: LiveTail, lookback: Promise<readonly TailEntry[]>): Promise<void> {
    const { subscription, outbox } = tail;
    await outbox.begin(ownLookback(await lookback, subscription));
    if (!this.#parts.savesCursor || outbox.isClosed) return;
    if (!(await this.#subscriptions.renew(this.#stored(tail)))) this.drop(subscription.connectionId);
  }

  #remember(batch: readonly LoggedChunk[]): void {
    // If no other process commits, the catalog contains all notices.
    if (this.#parts.joinMs === 0) return;
    const nowMs = this.#parts.clock.nowMs();
    const isFresh = ({ stampMs }: LoggedChunk) => nowMs - stampMs < APPLIED_MS;
    this.#recent = [...this.#recent, ...batch].filter(isFresh);
  }

  async #serve(batch: readonly LoggedChunk[]): Promise<void> {
    if (this.#tails.size === 0) return;
    const queries = new Set([...this.#tails.values()].map(({ query }) => query));
    try {
      await scanChunks(
        batch.map(({ record }) => record),
        [...queries],
        {
          source: this.#parts.source,
          signal: this.#stopping.signal,
          visible: await this.#visible(),
          deliver: (query, entries) => deliverToTails(this.#tailsOf(query), entries, this.#pace),
          failed: (query, error) => {
            for (const { subscription } of this.#tailsOf(query)) this.#ends.failed(subscription, error);
          },
        },
      );
      this.#shared.clear();
    } catch (error) {
      if (this.#stopping.signal.aborted) throw error;
      // It is unknown which of them were served, so continuing would leave a gap.
      for (const { subscription } of [...this.#tails.values()]) this.#ends.failed(subscription, error);
    }
  }

  #tailsOf(query: TailQuery): LiveTail[] {
    return [...this.#tails.values()].filter(tail => tail.query === query);
  }

  async #visible(): Promise<Visible> {
    const { visibility, clock } = this.#parts;
    return (await visibility?.of([this.tenant], clock.nowNs()))?.(this.tenant) ?? ALL_VISIBLE;
  }

  /** Renews live tails, and ends those that exceed their lifetime or receive nothing. */
  async #keepUp(): Promise<void> {
    const { clock, maxDurationMs, keepAliveMs = Infinity } = this.#parts;
    for (const tail of [...this.#tails.values()]) {
      const nowMs = clock.nowMs();
      const { subscription, outbox } = tail;
      if (maxDurationMs > 0 && nowMs - subscription.createdMs >= maxDurationMs) {
        await this.#ends.now(subscription, MAX_DURATION_REACHED);
        continue;
      }
      if (outbox.waitingSinceMs !== undefined && nowMs - outbox.waitingSinceMs >= STUCK_MS) {
        await this.#ends.now(subscription, TAKES_NOTHING);
        continue;
      }
      if (nowMs - Math.max(outbox.postedMs, subscription.createdMs) >= keepAliveMs) outbox.keepAlive();
      // A joining tail is stored when it has joined.
      if (nowMs - tail.renewedMs < RENEW_MS || tail.joining !== undefined) continue;
      // Expired: another process may have excluded it from the count, because it was not renewed in time.
      const isLost = nowMs - tail.renewedMs >= SUBSCRIPTION_MS;
      tail.forgetCovered(nowMs);
      if (isLost || !(await this.#subscriptions.renew(this.#stored(tail))))
        await this.#ends.now(subscription, FELL_BEHIND);
      else tail.renewedMs = nowMs;
    }
  }

  /** Returns what another process needs to continue the tail. */
  #stored({ subscription, coveredIds }: LiveTail): Subscription {
    return this.#parts.savesCursor ? { ...subscription, covered: coveredIds } : subscription;
  }

  async #save(always = false): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    if (!always && nowMs - this.#savedMs < SAVE_MS) return;
    this.#savedMs = nowMs;
    await this.#subscriptions.saveCursor(this.tenant, this.#parts.owner, this.#queue!.cursor);
  }

  #forgetQueries(): void {
    const used = new Set([...this.#tails.values()].map(({ query }) => query.key));
    for (const key of this.#queries.keys()) if (!used.has(key)) this.#queries.delete(key);
  }
}
