/**
 * Queues the commits of one tenant that its tails have not been served, each once. Commits come as notices of
 * this process, or from the log, which is read again by its margin because stamps are not in order.
 *
 *     position - LOG_MARGIN_MS        position - SHALLOW_MARGIN_MS   position
 *     |-- read every DEEP_READ_MS --------------|-- read every time --|--> new
 *
 * If one process makes all commits, it is notified of all of them. Only commits that do not fit in memory are
 * then logged and read.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { TailCursor } from '../../storage/catalog/subscriptions.ts';
import { LOG_MARGIN_MS, type LoggedChunk, type TailLog } from '../../storage/catalog/tail-log.ts';
import {
  DEEP_READ_MS,
  MAX_BATCH_CHUNKS,
  MAX_NOTICE_BYTES,
  MAX_NOTICES,
  SERVED_MS,
  SHALLOW_MARGIN_MS,
} from './bounds.ts';

interface CommitQueueParts {
  readonly log: TailLog;
  readonly clock: Clock;
  readonly tenant: string;
  /** Whether this process is notified of each commit of the tenant. */
  readonly hearsAll?: boolean | undefined;
  /** Default: MAX_NOTICES. */
  readonly maxNotices?: number | undefined;
  /** Cursor of an earlier run. Default: everything in the log is served first. */
  readonly cursor?: TailCursor | undefined;
}

export class CommitQueue {
  readonly #parts: CommitQueueParts;
  #notices: LoggedChunk[] = [];
  #noticeBytes = 0;
  #waiting: LoggedChunk[] = [];
  readonly #waitingIds = new Set<string>();
  /** Time at which each chunk was served, Unix ms, in the order of serving. */
  readonly #served: Map<string, number>;
  /**
   * Time of the last read of the log. Commits with an earlier stamp have been seen, except within the margin.
   */
  #positionMs: number;
  #deepReadMs = -Infinity;
  /** True if notices were dropped. The log contains those commits. */
  #hasOverflowed = false;

  constructor(parts: CommitQueueParts) {
    this.#parts = parts;
    const { cursor, clock } = parts;
    this.#positionMs = cursor?.positionMs ?? clock.nowMs() - LOG_MARGIN_MS;
    this.#served = new Map(cursor?.served);
  }

  /** Position from which the next run continues: all results of `take` so far have been served. */
  get cursor(): TailCursor {
    const positionMs = this.#waiting.reduce(
      (least, { stampMs }) => Math.min(least, stampMs),
      this.#positionMs,
    );
    return { positionMs, served: [...this.#served], savedMs: this.#parts.clock.nowMs() };
  }

  get hasNotices(): boolean {
    return this.#notices.length > 0 || this.#waiting.length > 0 || this.#hasOverflowed;
  }

  /**
   * Adds a commit of this process. Returns false if it does not fit. Call `overflowed` when it is in the log.
   */
  notice(chunk: LoggedChunk): boolean {
    const bytes = chunk.record.inline?.length ?? chunk.record.footer?.length ?? 0;
    const { maxNotices = MAX_NOTICES } = this.#parts;
    if (this.#notices.length >= maxNotices || this.#noticeBytes + bytes > MAX_NOTICE_BYTES) return false;
    this.#notices.push(chunk);
    this.#noticeBytes += bytes;
    return true;
  }

  /** Records that the log has commits without notices. */
  overflowed(): void {
    this.#hasOverflowed = true;
  }

  /** Collects the notices and, if requested or needed, the commits in the log. Throws errors of the table. */
  async gather({ readsLog }: { readonly readsLog: boolean }): Promise<void> {
    const notices = this.#notices;
    this.#notices = [];
    this.#noticeBytes = 0;
    for (const chunk of notices) this.#add(chunk);
    const { log, clock, tenant, hearsAll } = this.#parts;
    const nowMs = clock.nowMs();
    if (!this.#hasOverflowed && (hearsAll || !readsLog)) {
      // Later notices were stamped at most a commit's duration ago, which is within the margin.
      if (hearsAll) this.#advance(nowMs);
      return;
    }
    const isDeep = this.#hasOverflowed || Math.abs(nowMs - this.#deepReadMs) >= DEEP_READ_MS;
    // Later overflows may be logged after the read.
    const hasOverflowed = this.#hasOverflowed;
    this.#hasOverflowed = false;
    const fromMs = this.#positionMs - (isDeep ? LOG_MARGIN_MS : SHALLOW_MARGIN_MS);
    const logged = await log.read(tenant, fromMs).catch(error => {
      this.#hasOverflowed ||= hasOverflowed;
      throw error;
    });
    if (isDeep) this.#deepReadMs = nowMs;
    for (const chunk of logged) this.#add(chunk);
    this.#advance(nowMs);
  }

  /** Returns the next chunks to serve, in the order of their stamps. They count as served. */
  take(): LoggedChunk[] {
    const batch = this.#waiting.sort((a, b) => a.stampMs - b.stampMs).splice(0, MAX_BATCH_CHUNKS);
    const nowMs = this.#parts.clock.nowMs();
    for (const { record } of batch) {
      this.#waitingIds.delete(record.id);
      this.#served.set(record.id, nowMs);
    }
    return batch;
  }

  #add(chunk: LoggedChunk): void {
    const { id } = chunk.record;
    if (this.#served.has(id) || this.#waitingIds.has(id)) return;
    this.#waitingIds.add(id);
    this.#waiting.push(chunk);
  }

  #advance(nowMs: number): void {
    this.#positionMs = nowMs;
    for (const [id, servedMs] of this.#served) {
      if (Math.abs(nowMs - servedMs) <= SERVED_MS) break;
      this.#served.delete(id);
    }
  }
}
