/**
 * Admission control: runs a bounded number of requests and queues the rest. Slots rotate among tenants, so a
 * thousand requests of one tenant never delay the only request of another. Requests of one tenant run in
 * order of arrival. Some slots can be reserved: rotation alone does not help if long requests of one tenant
 * occupy every slot.
 */
import { ClientError } from '../model/errors.ts';

interface AdmissionQueueOptions {
  /** Number of concurrent requests. */
  readonly slots: number;
  /** Maximum queue length per tenant; further requests are refused. */
  readonly maxWaiting: number;
  /** Slots that a tenant cannot use if it holds all others; fewer than `slots`. Default: 0. */
  readonly keptForOthers?: number;
}

interface Waiting {
  start(): void;
}

/** The reference's message (docs/dev/wire-format.md#status-codes-of-queries). */
const TOO_MANY = 'too many outstanding requests';

export class AdmissionQueue {
  readonly #slots: number;
  readonly #maxWaiting: number;
  readonly #maxOfTenant: number;
  #running = 0;
  /** Running requests by tenant; absent means 0. */
  readonly #runningOf = new Map<string, number>();
  /** Queues by tenant, in rotation order. No queue is empty. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor({ slots, maxWaiting, keptForOthers = 0 }: AdmissionQueueOptions) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
    this.#maxOfTenant = slots - keptForOthers;
  }

  /** Number of queued requests of all tenants. */
  get length(): number {
    let length = 0;
    for (const list of this.#waiting.values()) length += list.length;
    return length;
  }

  get active(): number {
    return this.#running;
  }

  /**
   * Runs `task` when it gets a slot. Throws ClientError 429 if the tenant's queue is full, and the signal's
   * reason if it aborts first.
   */
  async run<T>(tenant: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    // Queued requests come first. If any are queued although a slot is free, their tenants are at their
    // limit.
    if (this.#running < this.#slots && this.#mayStart(tenant)) this.#start(tenant);
    else await this.#waitForSlot(tenant, signal);
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

  #waitForSlot(tenant: string, signal: AbortSignal): Promise<void> {
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

  /** Passes the slot to the next eligible tenant immediately, so that no new request takes it in between. */
  #end(tenant: string): void {
    this.#running--;
    const left = this.#runningOf.get(tenant)! - 1;
    if (left === 0) this.#runningOf.delete(tenant);
    else this.#runningOf.set(tenant, left);
    for (const [next, list] of this.#waiting) {
      if (!this.#mayStart(next)) continue;
      const first = list.shift()!;
      // The tenant moves to the end of the rotation if it has more requests.
      this.#waiting.delete(next);
      if (list.length > 0) this.#waiting.set(next, list);
      this.#start(next);
      first.start();
      if (this.#running >= this.#slots) return;
    }
  }
}
