/**
 * A wait that others may end: until the time is up, or somebody calls. A call while nobody waits ends the next wait. A rest
 * is a wait that calls do not end: whoever cannot wait for its end hurries.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/ports/clock.ts';

export class Wake {
  readonly #clock: Clock;
  #called = false;
  #waiting: AbortController | undefined;
  #resting: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    this.#called = true;
    this.#waiting?.abort();
  }

  /** Ends a rest that is under way, too. */
  hurry(): void {
    this.call();
    this.#resting?.abort();
  }

  /** Calls meanwhile end the next wait. */
  async rest(ms: number): Promise<void> {
    this.#resting = new AbortController();
    await this.#clock.sleep(ms, this.#resting.signal).catch(() => undefined);
    this.#resting = undefined;
  }

  /** Goes on in a later turn: what the caller does next, an answer to a push above all, comes first. */
  async wait(ms: number): Promise<void> {
    if (!this.#called && ms > 0) {
      this.#waiting = new AbortController();
      await this.#clock.sleep(ms, this.#waiting.signal).catch(() => undefined);
      this.#waiting = undefined;
    }
    this.#called = false;
    await nextTurn();
  }
}
