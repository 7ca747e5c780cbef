/**
 * Turns: so many at once, the others wait. Tenants take turns, whatever each of them asks for: who sends a thousand does
 * not stand before one who sends one. Of one tenant the first comes first.
 */
import { ClientError } from '../../model/errors.ts';

export interface FairQueueOptions {
  /** At once. */
  readonly slots: number;
  /** Of one tenant; more are refused. */
  readonly maxWaiting: number;
}

interface Waiting {
  start(): void;
}

/** The reference's words (wire-format reference, 0.3). */
const TOO_MANY = 'too many outstanding requests';

export class FairQueue {
  private readonly slots: number;
  private readonly maxWaiting: number;
  private running = 0;
  /** In the order of their turns; no list is empty. */
  private readonly waiting = new Map<string, Waiting[]>();

  constructor({ slots, maxWaiting }: FairQueueOptions) {
    this.slots = slots;
    this.maxWaiting = maxWaiting;
  }

  /** Those that wait, of all tenants. */
  get length(): number {
    let length = 0;
    for (const list of this.waiting.values()) length += list.length;
    return length;
  }

  get active(): number {
    return this.running;
  }

  /**
   * Runs `task` when its turn comes. Throws ClientError 429 where too many of the tenant wait, and the signal's reason
   * where it aborts before.
   */
  async run<T>(tenant: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.running < this.slots) this.running++;
    else await this.turn(tenant, signal);
    try {
      return await task();
    } finally {
      this.passOn();
    }
  }

  private turn(tenant: string, signal: AbortSignal): Promise<void> {
    const list = this.waiting.get(tenant) ?? [];
    if (list.length >= this.maxWaiting) throw new ClientError(429, TOO_MANY);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        list.splice(list.indexOf(waiting), 1);
        if (list.length === 0) this.waiting.delete(tenant);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      list.push(waiting);
      this.waiting.set(tenant, list);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** The place passes on to the tenant whose turn it is, so that no newcomer takes it in between. */
  private passOn(): void {
    for (const [tenant, list] of this.waiting) {
      const next = list.shift()!;
      // Behind the others, if it has more.
      this.waiting.delete(tenant);
      if (list.length > 0) this.waiting.set(tenant, list);
      next.start();
      return;
    }
    this.running--;
  }
}
