/**
 * Queues the entries for one client: the lookback, then live entries, in frames posted one after the other.
 * Memory is bounded: if the queue is full, live entries are dropped, and the next frame reports them.
 *
 *     offer -> held until they are old enough (delay_for) -> queue -> frame -> post, one at a time
 *                                                              `-- full: dropped, reported in the next frame
 *
 * A distant client gets PATIENCE_MS per burst to receive queued entries (`caughtUp`). If it does not use this
 * time, delivery does not wait for it again until it has caught up.
 */
import { invariant } from '../../base/model/errors.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Connections } from '../../base/ports/connections.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import {
  DELIVERED_AT_ONCE,
  MAX_DROPPED_ENTRIES,
  MAX_HELD_BYTES,
  MAX_HELD_ENTRIES,
  MAX_QUEUED_BYTES,
  MAX_QUEUED_ENTRIES,
  PATIENCE_MS,
  THROTTLED_PAUSE_MS,
} from './bounds.ts';
import {
  type DroppedEntry,
  droppedOfFrame,
  entriesOfFrame,
  type FrameLimits,
  type FrameStyle,
} from './frames.ts';
import type { SharedFrames } from './shared-frames.ts';
import { sortByTime, type TailEntry } from './tail-entry.ts';

interface OutboxParts {
  readonly connectionId: string;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly limits: FrameLimits;
  readonly style: FrameStyle;
  /** Frames of all tails that may have the same entries. */
  readonly shared: SharedFrames;
  /** Minimum age of entries before they are queued, ms. */
  readonly delayMs: number;
  /** Called once if the connection is gone or cannot be posted to. */
  readonly onGone: (error?: unknown) => void;
}

interface HeldEntry {
  readonly entry: TailEntry;
  readonly releaseMs: number;
}

export class Outbox {
  /** Time of the last frame that was accepted, Unix ms. */
  postedMs: number;
  /** Time since which a frame waits to be accepted, Unix ms. Undefined if none waits. */
  waitingSinceMs: number | undefined;
  /** Totals of posted and dropped entries, and of frames. */
  readonly figures = { posted: 0, dropped: 0, frames: 0 };
  readonly #parts: OutboxParts;
  #lookback: TailEntry[] | undefined;
  #queue: TailEntry[] = [];
  #queuedBytes = 0;
  #held: HeldEntry[] = [];
  #heldBytes = 0;
  #dropped: DroppedEntry[] = [];
  #sending: Promise<void> | undefined;
  #releasing: Promise<void> | undefined;
  #isSlow = false;
  readonly #closing = new AbortController();
  #waiters: (() => void)[] = [];
  #lookbackPosted = (): void => undefined;

  /** Sends nothing before `begin`, so that the lookback comes first. */
  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.postedMs = parts.clock.nowMs();
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * Posts the lookback, ascending by time, then later offers. Resolves when the lookback is posted or
   * abandoned.
   */
  begin(lookback: readonly TailEntry[]): Promise<void> {
    this.#lookback = lookback.slice();
    // Set before anything is posted: an entry that exceeds a message completes the lookback at once.
    const posted = new Promise<void>(resolve => (this.#lookbackPosted = resolve));
    if (lookback.length === 0 || this.isClosed) this.#lookbackPosted();
    this.#pump();
    return posted;
  }

  /** Adds live entries, ascending by time. */
  offer(entries: readonly TailEntry[]): void {
    if (this.isClosed) return;
    const { delayMs, clock } = this.#parts;
    if (delayMs === 0) this.#enqueue(entries);
    else this.#hold(entries, delayMs, clock.nowMs());
    this.#pump();
  }

  /** Whether delivery need not wait for the client. */
  get isReady(): boolean {
    if (this.#queue.length === 0) this.#isSlow = false;
    return this.isClosed || this.#isSlow || this.#lookback === undefined || !this.#isHalfFull();
  }

  /** Resolves when the client has received half of the queue, or counts as slow. */
  async caughtUp(): Promise<void> {
    if (this.isReady) return;
    const done = new AbortController();
    const patience = this.#parts.clock.sleep(PATIENCE_MS, done.signal).then(
      () => (this.#isSlow = true),
      () => undefined,
    );
    const taken = new Promise<void>(resolve => this.#waiters.push(resolve));
    await Promise.race([patience, taken]);
    done.abort();
  }

  /** Resolves when the queue is empty, or the connection is gone. */
  async drained(): Promise<void> {
    await this.#releasing;
    while (this.#sending !== undefined) await this.#sending;
  }

  /** Posts a frame without entries to keep an idle connection open, unless a post is in progress. */
  keepAlive(): void {
    if (this.#sending !== undefined || this.isClosed) return;
    this.#sending = this.#post([], 0).finally(() => this.#ended());
  }

  /** Discards the queue. Nothing more is posted. */
  close(): void {
    this.#closing.abort();
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#held = [];
    this.#heldBytes = 0;
    this.#dropped = [];
    this.#lookback = [];
    this.#lookbackPosted();
    this.#wake();
  }

  #isHalfFull(): boolean {
    return this.#queue.length > MAX_QUEUED_ENTRIES / 2 || this.#queuedBytes > MAX_QUEUED_BYTES / 2;
  }

  #enqueue(entries: readonly TailEntry[]): void {
    for (const entry of entries) {
      // An entry that is larger than the queue passes through an empty one.
      const fits = this.#queue.length === 0 || this.#queuedBytes + entry.bytes <= MAX_QUEUED_BYTES;
      if (this.#queue.length >= MAX_QUEUED_ENTRIES || !fits) this.#drop(entry);
      else {
        this.#queue.push(entry);
        this.#queuedBytes += entry.bytes;
      }
    }
    const isBounded = this.#queue.length <= MAX_QUEUED_ENTRIES && this.#dropped.length <= MAX_DROPPED_ENTRIES;
    invariant(isBounded, 'the queue of a tail is bounded');
  }

  #drop({ timeNs, labels }: TailEntry): void {
    this.figures.dropped++;
    if (this.#dropped.length < MAX_DROPPED_ENTRIES) this.#dropped.push({ timeNs, labels });
  }

  #hold(entries: readonly TailEntry[], delayMs: number, nowMs: number): void {
    for (const entry of entries) {
      const fits = this.#held.length < MAX_HELD_ENTRIES && this.#heldBytes + entry.bytes <= MAX_HELD_BYTES;
      if (!fits) {
        this.#drop(entry);
        continue;
      }
      // At most the delay from now, because clocks of clients may be ahead. An entry of this millisecond is not
      // released before those of the same one that arrive later, and may have an earlier time.
      const entryMs = Math.min(Number(entry.timeNs / NS_PER_MS), nowMs);
      this.#held.push({ entry, releaseMs: entryMs + delayMs + 1 });
      this.#heldBytes += entry.bytes;
    }
    this.#held.sort((a, b) =>
      a.entry.timeNs === b.entry.timeNs ? 0 : a.entry.timeNs < b.entry.timeNs ? -1 : 1,
    );
    this.#releasing ??= this.#keepReleasing().finally(() => (this.#releasing = undefined));
  }

  async #keepReleasing(): Promise<void> {
    const { clock } = this.#parts;
    while (this.#held.length > 0 && !this.isClosed) {
      const nowMs = clock.nowMs();
      const isDue = ({ releaseMs }: HeldEntry) => releaseMs <= nowMs;
      const due = new Set(this.#held.filter(isDue).slice(0, DELIVERED_AT_ONCE));
      if (due.size === 0) {
        const nextMs = this.#held.reduce((least, { releaseMs }) => Math.min(least, releaseMs), Infinity);
        await clock.sleep(nextMs - nowMs, this.#closing.signal).catch(() => undefined);
        continue;
      }
      this.#held = this.#held.filter(one => !due.has(one));
      for (const { entry } of due) this.#heldBytes -= entry.bytes;
      this.#enqueue([...due].map(({ entry }) => entry));
      this.#pump();
      await this.caughtUp();
    }
  }

  #pump(): void {
    if (this.#sending !== undefined || this.#lookback === undefined || this.isClosed) return;
    if (this.#lookback.length === 0 && this.#queue.length === 0 && this.#dropped.length === 0) return;
    this.#sending = this.#sendAll().finally(() => this.#ended());
  }

  #ended(): void {
    this.#sending = undefined;
    this.#wake();
    this.#pump();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  async #sendAll(): Promise<void> {
    while (!this.isClosed) {
      const list = this.#lookback!.length > 0 ? this.#lookback! : sortByTime(this.#queue);
      const isLive = list === this.#queue;
      let count = entriesOfFrame(list, 0, this.#parts.limits);
      if (count === 0 && list.length > 0) {
        const [large] = list.splice(0, 1);
        if (isLive) this.#queuedBytes -= large.bytes;
        this.#drop(large);
        if (!isLive && list.length === 0) this.#lookbackPosted();
        continue;
      }
      if (count === 0 && this.#dropped.length === 0) return;
      const entries = list.splice(0, count);
      count = droppedOfFrame(this.#dropped, entries, this.#parts.limits, this.#parts.style);
      if (isLive) for (const { bytes } of entries) this.#queuedBytes -= bytes;
      await this.#post(entries, count);
      if (!isLive && list.length === 0) this.#lookbackPosted();
      if (!this.#isHalfFull()) this.#wake();
    }
  }

  async #post(entries: readonly TailEntry[], droppedCount: number): Promise<void> {
    const { connections, connectionId, clock, style, shared } = this.#parts;
    const reported = this.#dropped.splice(0, droppedCount);
    this.waitingSinceMs = clock.nowMs();
    try {
      const outcome = await connections.post(connectionId, shared.encode(entries, reported, style));
      if (outcome === 'gone') return this.#gone();
      // Reported as dropped in the next frame. A frame with only dropped entries is not repeated.
      if (outcome === 'too large') return this.#giveUp(entries, entries.length > 0 ? reported : []);
      this.postedMs = clock.nowMs();
      this.figures.frames++;
      this.figures.posted += entries.length;
    } catch (error) {
      // The outcome is unknown: the frame may be neither sent again nor reported as dropped.
      if (!(error instanceof ThrottledError)) return this.#gone(error);
      this.#giveUp(entries, reported);
      await clock.sleep(THROTTLED_PAUSE_MS, this.#closing.signal).catch(() => undefined);
    } finally {
      this.waitingSinceMs = undefined;
    }
  }

  #giveUp(entries: readonly TailEntry[], reported: readonly DroppedEntry[]): void {
    this.#dropped.unshift(...reported);
    for (const entry of entries) this.#drop(entry);
    if (this.#dropped.length > MAX_DROPPED_ENTRIES) this.#dropped.length = MAX_DROPPED_ENTRIES;
  }

  #gone(error?: unknown): void {
    if (this.isClosed) return;
    this.close();
    this.#parts.onGone(error);
  }
}
