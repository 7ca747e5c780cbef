/**
 * The active streams of one tenant as this process knows them, and which of them the others do not know yet.
 *
 * A stream that is not active is created by its next entry, unless the limit is reached. A process counts what it saw
 * itself and what others announced, so it may let through what was created elsewhere since its last read: the limit is
 * kept to P processes x the streams that each creates between two exchanges.
 *
 * Each stream is announced once an hour, by the process that sees it first in that hour. So in the steady state
 * nothing is written but that.
 */

import type { Limits } from '../../../base/model/limits.ts';
import { MS_PER_HOUR } from '../../../base/model/time-units.ts';
import { MAX_ANNOUNCED_STREAMS } from '../../../storage/catalog/ingest-exchange.ts';
import { ActiveStreams } from './active-streams.ts';
import { ANNOUNCED_AGAIN_MS, EXCHANGE_MS } from './bounds.ts';

export type StreamLimits = Pick<Limits, 'maxGlobalStreamsPerUser' | 'maxStreamsPerUser'>;

export class TenantStreams {
  /** Seen by any process; empty where there is no limit for all. */
  readonly #all = new ActiveStreams();
  /** Seen by this one; empty where it has no limit of its own. */
  readonly #own = new ActiveStreams();
  /** Seen here first in this hour, as far as known. */
  #unannounced: number[] = [];
  #hour = -Infinity;
  /** When announcements were read last, Unix ms; and when that was tried last. */
  #readMs = -Infinity;
  #triedMs = -Infinity;

  /** Streams that take memory. */
  get size(): number {
    return this.#all.size + this.#own.size;
  }

  /** Streams that are active, whichever of the limits counts them. */
  get active(): number {
    return Math.max(this.#all.size, this.#own.size);
  }

  get hasNews(): boolean {
    return this.#unannounced.length > 0;
  }

  startHour(nowMs: number): void {
    const hour = Math.floor(nowMs / MS_PER_HOUR);
    if (hour <= this.#hour) return;
    this.#hour = hour;
    // Those of the hour before were not announced in time: they are when they get their next entry.
    this.#unannounced = [];
    this.#all.startHour(hour);
    this.#own.startHour(hour);
  }

  /** True where decisions on new streams should wait for what others announced: none of it is known by now. */
  isUnread(nowMs: number): boolean {
    return nowMs - this.#readMs >= MS_PER_HOUR && nowMs - this.#triedMs >= EXCHANGE_MS;
  }

  /** Whether the stream counts as active already. */
  isActive(hash: number): boolean {
    return this.#all.has(hash);
  }

  /** Whether a stream may take entries now; it is active from then on. */
  admit(hash: number, { maxGlobalStreamsPerUser: most, maxStreamsPerUser: mostHere }: StreamLimits): boolean {
    const isShared = most > 0;
    const isOwn = mostHere > 0;
    if (isShared && !this.#all.has(hash) && this.#all.size >= most) return false;
    if (isOwn && !this.#own.has(hash) && this.#own.size >= mostHere) return false;
    if (isOwn) this.#own.add(hash, this.#hour);
    if (isShared && !this.#all.isOfThisHour(hash)) {
      this.#all.add(hash, this.#hour);
      this.#unannounced.push(hash);
    }
    return true;
  }

  /** What to read of the others: announcements for these hours, written from `sinceMs` on. */
  toRead(nowMs: number): { hours: readonly number[]; sinceMs: number } {
    const sinceMs = Math.max(0, this.#readMs - ANNOUNCED_AGAIN_MS);
    const isFirst = Math.floor(sinceMs / MS_PER_HOUR) < this.#hour;
    this.#triedMs = nowMs;
    return { hours: isFirst ? [this.#hour - 1, this.#hour] : [this.#hour], sinceMs };
  }

  /** All of a read that began at `startedMs` is taken in. */
  wasRead(startedMs: number): void {
    this.#readMs = startedMs;
  }

  /** Takes in what others announced for an hour. */
  learn(hour: number, hashes: readonly number[]): void {
    const heard = new Set(hashes);
    for (const hash of heard) {
      if (this.#all.size >= MAX_ANNOUNCED_STREAMS) break;
      this.#all.add(hash, hour);
    }
    if (hour === this.#hour) this.#unannounced = this.#unannounced.filter(hash => !heard.has(hash));
  }

  /** What to announce now, with its hour; nothing of it is news from then on. */
  takeNews(): { hour: number; hashes: readonly number[] } {
    const hashes = this.#unannounced;
    this.#unannounced = [];
    return { hour: this.#hour, hashes };
  }

  /** What could not be announced is news again. */
  returnNews({ hour, hashes }: { hour: number; hashes: readonly number[] }): void {
    // Not as arguments: a million of them overflow the stack.
    if (hour === this.#hour) this.#unannounced = this.#unannounced.concat(hashes);
  }
}
