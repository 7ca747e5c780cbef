/**
 * How many calls of a function run at once: up to a setting, and no more than the account has room for. Refused calls halve the width,
 * once in a while and never below what runs. Lambda also refuses single calls while it scales: one in twenty at a time changes nothing.
 * Answers make it grow by a quarter for each round of them.
 *
 *     width   200 -> (429s) -> 100 -> (429s) -> 50 -> ... -> 12 -> 15 -> 18 ...
 *
 * Calls beyond the width wait here, where they cost the account nothing.
 */
import type { Clock } from '../base/ports/clock.ts';

/** Calls that began together are refused together: they count as one refusal, ms. */
const REFUSED_TOGETHER_MS = 100;
/** Part of the calls that may be refused together before the width changes. */
const STRAY_SHARE = 1 / 20;
/** For each answer. */
const GROWTH = 1 / 4;

interface Waiting {
  start(): void;
}

export class CallWidth {
  readonly #most: number;
  #width: number;
  #running = 0;
  readonly #waiting = new Set<Waiting>();

  readonly #clock: Clock;
  /** Refusals since then are counted together. */
  #refusedMs = Number.NEGATIVE_INFINITY;
  #refused = 0;
  #hasHalved = false;

  constructor(most: number, clock: Clock) {
    this.#clock = clock;
    this.#most = Math.max(1, most);
    this.#width = this.#most;
  }

  get current(): number {
    return Math.floor(this.#width);
  }

  /** Resolves when the call may run; `leave` is to be called when it has ended. Throws the signal's reason. */
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

  /** @param end `other` says nothing of the room that the account has */
  leave(end: 'answered' | 'refused' | 'other'): void {
    this.#running--;
    if (end === 'answered') this.#width = Math.min(this.#most, this.#width + GROWTH);
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
