/**
 * Admission control: so many requests at once, the others wait. Tenants take turns, whatever each of them asks: a thousand requests
 * of one tenant never stand before the only one of another. Requests of one tenant run in the order of their arrival. Some slots may
 * be kept for others, because turns alone do not help if long requests of one tenant run in all of them.
 */
import { ClientError } from '../model/errors.ts';

export interface AdmissionQueueOptions {
  /** At once. */
  readonly slots: number;
  /** Of one tenant; more are refused. */
  readonly maxWaiting: number;
  /** Places that no single tenant gets while it has all others; fewer than `slots`. Default: none. */
  readonly keptForOthers?: number;
}

interface Waiting {
  start(): void;
}

/** The reference's words (docs/dev/wire-format.md#status-codes-of-queries). */
const TOO_MANY = 'too many outstanding requests';

export class AdmissionQueue {
  readonly #slots: number;
  readonly #maxWaiting: number;
  readonly #maxOfTenant: number;
  #running = 0;
  /** By tenant; none is 0. */
  readonly #runningOf = new Map<string, number>();
  /** In the order of their turns; no list is empty. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor({ slots, maxWaiting, keptForOthers = 0 }: AdmissionQueueOptions) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
    this.#maxOfTenant = slots - keptForOthers;
  }

  /** Those that wait, of all tenants. */
  get length(): number {
    let length = 0;
    for (const list of this.#waiting.values()) length += list.length;
    return length;
  }

  get active(): number {
    return this.#running;
  }

  /**
   * Runs `task` when its turn comes. Throws ClientError 429 where too many of the tenant wait, and the signal's reason
   * where it aborts before.
   */
  async run<T>(tenant: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    // Who waits already comes first; those can only be of tenants that have all they may.
    if (this.#running < this.#slots && this.#mayStart(tenant)) this.#start(tenant);
    else await this.#turn(tenant, signal);
    try {
      return await task();
    } finally {
      this.#end(tenant);
    }
  }

  #mayStart(tenant: string): boolean {
    return (this.#runningOf.get(tenant) ?? 0) < this.#maxOfTenant;
  }

  #start(tenant: string): void {
    this.#running++;
    this.#runningOf.set(tenant, (this.#runningOf.get(tenant) ?? 0) + 1);
  }

  #turn(tenant: string, signal: AbortSignal): Promise<void> {
    const list = this.#waiting.get(tenant) ?? [];
    if (list.length >= this.#maxWaiting) throw new ClientError(429, TOO_MANY);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        list.splice(list.indexOf(waiting), 1);
        if (list.length === 0) this.#waiting.delete(tenant);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      list.push(waiting);
      this.#waiting.set(tenant, list);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** The place passes on to the tenant whose turn it is and that may have it, so that no newcomer takes it in between. */
  #end(tenant: string): void {
    this.#running--;
    const left = this.#runningOf.get(tenant)! - 1;
    if (left === 0) this.#runningOf.delete(tenant);
    else this.#runningOf.set(tenant, left);
    for (const [next, list] of this.#waiting) {
      if (!this.#mayStart(next)) continue;
      const first = list.shift()!;
      // Behind the others, if it has more.
      this.#waiting.delete(next);
      if (list.length > 0) this.#waiting.set(next, list);
      this.#start(next);
      first.start();
      if (this.#running >= this.#slots) return;
    }
  }
}
