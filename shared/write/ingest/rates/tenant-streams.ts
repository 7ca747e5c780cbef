/**
 * Tracks the active streams of one tenant that this process knows, and those that other processes do not know
 * yet.
 *
 * The next entry of an inactive stream creates it, unless the limit is reached. A process counts the streams
 * that it saw and those that others announced. It may accept streams although others created more since its
 * last read. The excess is bounded by the number of processes x the streams that each creates between two
 * exchanges.
 *
 * Each stream is announced once per hour, by the process that sees it first in that hour. In a steady state
 * nothing else is written.
 */

import type { Limits } from '../../../base/model/limits.ts';
import { MS_PER_HOUR } from '../../../base/model/time-units.ts';
import { MAX_ANNOUNCED_STREAMS } from '../../../storage/catalog/ingest-exchange.ts';
import { ActiveStreams } from './active-streams.ts';
import { ANNOUNCED_AGAIN_MS, EXCHANGE_MS } from './bounds.ts';

type StreamLimits = Pick<Limits, 'maxGlobalStreamsPerUser' | 'maxStreamsPerUser'>;

export class TenantStreams {
  /** Streams seen by any process. Empty if there is no shared limit. */
  readonly #all = new ActiveStreams();
  /** Streams seen by this process. Empty if there is no limit per process. */
  readonly #own = new ActiveStreams();
  /** Streams that this process saw first in this hour, as far as known. */
  #unannounced: number[] = [];
  #hour = -Infinity;
  /** Time of the last read of announcements, Unix ms, and of the last attempt. */
  #readMs = -Infinity;
  #triedMs = -Infinity;

  /** Number of streams held in memory. */
  get size(): number {
    return this.#all.size + this.#own.size;
  }

  /** Number of active streams, whichever limit counts them. */
  get active(): number {
    return Math.max(this.#all.size, this.#own.size);
  }

  get hasUnannounced(): boolean {
    return this.#unannounced.length > 0;
  }

  startHour(nowMs: number): void {
    const hour = Math.floor(nowMs / MS_PER_HOUR);
    if (hour <= this.#hour) return;
    this.#hour = hour;
    // Streams of the previous hour were not announced in time. Their next entry announces them.
    this.#unannounced = [];
    this.#all.startHour(hour);
    this.#own.startHour(hour);
  }

  /** Whether decisions on new streams should wait for announcements of others, because none is known yet. */
  isUnread(nowMs: number): boolean {
    return nowMs - this.#readMs >= MS_PER_HOUR && nowMs - this.#triedMs >= EXCHANGE_MS;
  }

  /** Whether the stream is already active. */
  isActive(hash: number): boolean {
    return this.#all.has(hash);
  }

  /** Decides whether a stream may receive entries. If so, it is active from then on. */
  admit(
    hash: number,
    { maxGlobalStreamsPerUser: maxInAll, maxStreamsPerUser: maxPerProcess }: StreamLimits,
  ): boolean {
    const isShared = maxInAll > 0;
    const isOwn = maxPerProcess > 0;
    if (isShared && !this.#all.has(hash) && this.#all.size >= maxInAll) return false;
    if (isOwn && !this.#own.has(hash) && this.#own.size >= maxPerProcess) return false;
    if (isOwn) this.#own.add(hash, this.#hour);
    if (isShared && !this.#all.isOfThisHour(hash)) {
      this.#all.add(hash, this.#hour);
      this.#unannounced.push(hash);
    }
    return true;
  }

  /** Returns what to read of other processes: announcements for these hours, written since `sinceMs`. */
  toRead(nowMs: number): { hours: readonly number[]; sinceMs: number } {
    const sinceMs = Math.max(0, this.#readMs - ANNOUNCED_AGAIN_MS);
    const isFirst = Math.floor(sinceMs / MS_PER_HOUR) < this.#hour;
    this.#triedMs = nowMs;
    return { hours: isFirst ? [this.#hour - 1, this.#hour] : [this.#hour], sinceMs };
  }

  /** Marks a read that began at `startedMs` as complete. */
  wasRead(startedMs: number): void {
    this.#readMs = startedMs;
  }

  /** Applies the announcements of other processes for an hour. */
  learn(hour: number, hashes: readonly number[]): void {
    const heard = new Set(hashes);
    for (const hash of heard) {
      if (this.#all.size >= MAX_ANNOUNCED_STREAMS) break;
      this.#all.add(hash, hour);
    }
    if (hour === this.#hour) this.#unannounced = this.#unannounced.filter(hash => !heard.has(hash));
  }

  /** Returns the streams to announce, with their hour, and marks them as announced. */
  takeUnannounced(): { hour: number; hashes: readonly number[] } {
    const hashes = this.#unannounced;
    this.#unannounced = [];
    return { hour: this.#hour, hashes };
  }

  /** Restores streams whose announcement failed. */
  restoreUnannounced({ hour, hashes }: { hour: number; hashes: readonly number[] }): void {
    // Not as arguments: a million of them overflow the stack.
    if (hour === this.#hour) this.#unannounced = this.#unannounced.concat(hashes);
  }
}
