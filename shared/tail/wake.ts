/** A wait that others may end: until the time is up, or somebody calls. A call while nobody waits ends the next wait. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';

export class Wake {
  private readonly clock: Clock;
  private called = false;
  private waiting: AbortController | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  call(): void {
    this.called = true;
    this.waiting?.abort();
  }

  /** Goes on in a later turn: what the caller does next, an answer to a push above all, comes first. */
  async wait(ms: number): Promise<void> {
    if (!this.called && ms > 0) {
      this.waiting = new AbortController();
      await this.clock.sleep(ms, this.waiting.signal).catch(() => undefined);
      this.waiting = undefined;
    }
    this.called = false;
    await nextTurn();
  }
}
