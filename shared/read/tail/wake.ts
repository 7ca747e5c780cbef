/**
 * A wait that others can end: until the time is up, or `call` is called. A call while no wait is running ends
 * the next one. A pause is a wait that calls do not end. `hurry` ends both.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/ports/clock.ts';

export class Wake {
  readonly #clock: Clock;
  #called = false;
  #waiting: AbortController | undefined;
  #pausing: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    this.#called = true;
    this.#waiting?.abort();
  }

  /** Ends a running pause, too. */
  hurry(): void {
    this.call();
    this.#pausing?.abort();
  }

  /** Pauses. Calls meanwhile end the next wait. */
  async pause(ms: number): Promise<void> {
    this.#pausing = new AbortController();
    await this.#clock.sleep(ms, this.#pausing.signal).catch(() => undefined);
    this.#pausing = undefined;
  }

  /**
   * Continues in a later turn of the event loop, so that the caller's next work, above all a push response,
   * comes first.
   */
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
