/**
 * Limits how many calls of a function run at once, up to a setting and to the concurrency of the account.
 * Refused calls halve the limit, at most once per 100 ms and never below the calls that run. Lambda also
 * refuses single calls while it scales: one refusal in twenty changes nothing. Each round of successful calls
 * raises the limit by a quarter.
 *
 *     width   200 -> (429s) -> 100 -> (429s) -> 50 -> ... -> 12 -> 15 -> 18 ...
 *
 * Calls beyond the limit wait in this process, where they use no concurrency of the account.
 */
import type { Clock } from '../base/ports/clock.ts';

/** Refusals within this time, ms, count as one: calls that start together are refused together. */
const REFUSED_TOGETHER_MS = 100;
/** Share of simultaneous calls that may be refused before the width changes. */
const STRAY_SHARE = 1 / 20;
/** Growth of the width per successful call. */
const GROWTH = 1 / 4;

interface Waiting {
  start(): void;
}

export class CallWidth {
  readonly #max: number;
  #width: number;
  #running = 0;
  readonly #waiting = new Set<Waiting>();

  readonly #clock: Clock;
  /** Start of the window in which refusals are counted together, Unix ms. */
  #refusedMs = Number.NEGATIVE_INFINITY;
  #refused = 0;
  #hasHalved = false;

  constructor(most: number, clock: Clock) {
    this.#clock = clock;
    this.#max = Math.max(1, most);
    this.#width = this.#max;
  }

  get current(): number {
    return Math.floor(this.#width);
  }

  /** Resolves when the call may run. Call `leave` when it has ended. Throws the signal's reason. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.current) {
      this.#running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** @param end `other` if the call says nothing about the concurrency of the account */
  leave(end: 'answered' | 'refused' | 'other'): void {
    this.#running--;
    if (end === 'answered') this.#width = Math.min(this.#max, this.#width + GROWTH);
    if (end === 'refused') this.#noteRefused();
    this.#startWaiting();
  }

  #noteRefused(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#refusedMs >= REFUSED_TOGETHER_MS) {
      this.#refusedMs = nowMs;
      this.#refused = 0;
      this.#hasHalved = false;
    }
    this.#refused++;
    if (this.#hasHalved || this.#refused <= (this.#running + this.#refused) * STRAY_SHARE) return;
    this.#hasHalved = true;
    this.#width = Math.max(1, Math.min(this.#width, Math.max(this.#width / 2, this.#running)));
  }

  #startWaiting(): void {
    for (const next of this.#waiting) {
      if (this.#running >= this.current) return;
      this.#waiting.delete(next);
      this.#running++;
      next.start();
    }
  }
}
