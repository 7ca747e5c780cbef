/**
 * How many calls of a function run at once: up to a setting, and no more than the account has room for. A refused call halves the width,
 * once in a while and never below what runs, because Lambda also refuses single calls while it scales. Answers make it grow by a quarter
 * for each round of them.
 *
 *     width   200 -> (429s) -> 100 -> (429s) -> 50 -> ... -> 12 -> 15 -> 18 ...
 *
 * Calls beyond the width wait here, where they cost the account nothing.
 */
import type { Clock } from '../base/ports/clock.ts';

/** Calls that began together are refused together: they count as one refusal, ms. */
const REFUSED_TOGETHER_MS = 100;
/** For each answer. */
const GROWTH = 1 / 4;

interface Waiting {
  start(): void;
}

export class CallWidth {
  private readonly most: number;
  private width: number;
  private running = 0;
  private readonly waiting = new Set<Waiting>();

  private readonly clock: Clock;
  private halvedMs = Number.NEGATIVE_INFINITY;

  constructor(most: number, clock: Clock) {
    this.clock = clock;
    this.most = Math.max(1, most);
    this.width = this.most;
  }

  get current(): number {
    return Math.floor(this.width);
  }

  /** Resolves when the call may run; `leave` is to be called when it has ended. Throws the signal's reason. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.running < this.current) {
      this.running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      this.waiting.add(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** @param end `other` says nothing of the room that the account has */
  leave(end: 'answered' | 'refused' | 'other'): void {
    this.running--;
    if (end === 'answered') this.width = Math.min(this.most, this.width + GROWTH);
    if (end === 'refused' && this.clock.nowMs() - this.halvedMs >= REFUSED_TOGETHER_MS) {
      this.halvedMs = this.clock.nowMs();
      this.width = Math.max(1, Math.min(this.width, Math.max(this.width / 2, this.running)));
    }
    for (const next of this.waiting) {
      if (this.running >= this.current) return;
      this.waiting.delete(next);
      this.running++;
      next.start();
    }
  }
}
