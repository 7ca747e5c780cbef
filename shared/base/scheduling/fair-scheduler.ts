/**
 * Shares one thread among tenants: deficit round robin on measured time (Shreedhar and Varghese, 1995), with the surplus rule: a time
 * slice that took longer than planned is paid back later. Work is split into slices of a few milliseconds, and `acquire` waits for
 * the next one:
 *
 *     await scheduler.acquire(tenant);
 *     const startedMs = scheduler.nowMs();
 *     ...                                  // no await in between
 *     scheduler.charge(tenant, startedMs);
 *
 * The scheduler is work-conserving: a tenant that is alone gets the whole thread, and only gives I/O its turn. It knows nothing of
 * requests: how many of them run at once is decided before (admission-queue.ts).
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Pace } from '../model/steps.ts';

/** Longest planned run of one task before it calls `acquire` again, ms. Long against its cost (20 us), short against what people notice. */
export const MAX_SLICE_MS = 5;
/** What a tenant of weight 1 gets before the next tenant's turn, ms: one slice. */
const QUANTUM_MS = MAX_SLICE_MS;
/** What tasks may use of one round of the event loop without waiting for the next one, ms: small pages would pay more for the round. */
const ROUND_MS = 1;
/** Of a tenant: below it, paying a debt back would take thousands of turns. */
const MIN_WEIGHT = 0.01;
/** Of tenants that wait for nothing and have a debt; beyond, the debts are forgotten. */
const MAX_DEBTORS = 10_000;

export interface FairSchedulerOptions {
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number;
  /** Share of the tenant relative to others; at least 0.01 counts. Default: 1 for all. */
  readonly weightOf?: (tenant: string) => number;
}

interface TenantQueue {
  readonly tenant: string;
  /** In the order in which they came. */
  readonly waiting: (() => void)[];
  /** Time that the tenant may still take before others have their turn; below 0 it has taken too much. */
  deficitMs: number;
  isInRing: boolean;
}

export class FairScheduler {
  readonly #nowMs: () => number;
  readonly #weightOf: (tenant: string) => number;
  /** Tenants that wait, and those with a debt while others wait. */
  readonly #queues = new Map<string, TenantQueue>();
  /** Those that wait, in the order of their turns. */
  readonly #ring: TenantQueue[] = [];
  #isServing = false;
  /** Charged in this round of the event loop. */
  #roundMs = 0;

  constructor({ nowMs = () => performance.now(), weightOf = () => 1 }: FairSchedulerOptions = {}) {
    this.#nowMs = nowMs;
    this.#weightOf = weightOf;
  }

  /** Tenants that are remembered. */
  get tenants(): number {
    return this.#queues.size;
  }

  /** Tasks that wait for a slice. */
  get waiting(): number {
    return this.#ring.reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  nowMs(): number {
    return this.#nowMs();
  }

  /** Resolves when the tenant may use the thread for a slice. Several tenants of one request, joined, are one more. */
  async acquire(tenant: string): Promise<void> {
    if (this.#ring.length === 0 && this.#roundMs < ROUND_MS) return;
    await new Promise<void>(go => {
      const queue = this.#queueOf(tenant);
      if (!queue.isInRing) this.#ring.push(queue);
      queue.isInRing = true;
      queue.waiting.push(go);
      if (!this.#isServing) void this.#serve();
    });
  }

  /** Counts a slice of the tenant that began at `startedMs` and ends now. */
  charge(tenant: string, startedMs: number): void {
    const tookMs = this.#nowMs() - startedMs;
    if (this.#roundMs === 0) setImmediate(() => (this.#roundMs = 0));
    this.#roundMs += Math.max(tookMs, Number.MIN_VALUE);
    // Nobody waits: there is nobody to owe anything to.
    if (this.#ring.length === 0) return;
    this.#queueOf(tenant).deficitMs -= tookMs;
  }

  /** Ends the slice that began at `startedMs`, and waits for the next one. */
  async yield(tenant: string, startedMs: number): Promise<void> {
    this.charge(tenant, startedMs);
    await this.acquire(tenant);
  }

  /** The time slices of one piece of work of the tenant that runs in steps (model/steps.ts). */
  pace(tenant: string): Pace {
    let startedMs = 0;
    const resume = (): void => {
      startedMs = this.#nowMs();
    };
    const due = (): boolean => this.#nowMs() - startedMs >= MAX_SLICE_MS;
    const pause = (): void => this.charge(tenant, startedMs);
    return {
      resume,
      due,
      pause,
      yieldIfDue: async () => {
        if (!due()) return;
        await this.yield(tenant, startedMs);
        resume();
      },
    };
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#ring.length > 0) {
      // One slice a round. Input and output come in between: what they bring may be another tenant's. And the slice before has been
      // charged, and its task waits again if it has more to do: then it is still the turn of its tenant.
      await nextRound();
      this.#next()?.waiting.shift()?.();
    }
    this.#queues.clear();
    this.#isServing = false;
  }

  /** The first tenant of the ring with time left; each that has none goes to the end with a new quantum. */
  #next(): TenantQueue | undefined {
    for (;;) {
      const queue = this.#ring[0];
      if (queue === undefined) return undefined;
      if (queue.waiting.length === 0) {
        this.#ring.shift();
        queue.isInRing = false;
        // What it did not use is lost, as ever in this algorithm; what it owes is not.
        if (queue.deficitMs >= 0) this.#queues.delete(queue.tenant);
      } else if (queue.deficitMs > 0) return queue;
      else {
        this.#ring.push(this.#ring.shift()!);
        queue.deficitMs += this.#quantumOf(queue.tenant);
      }
    }
  }

  #queueOf(tenant: string): TenantQueue {
    let queue = this.#queues.get(tenant);
    if (queue === undefined) {
      if (this.#queues.size >= MAX_DEBTORS) this.#forgetDebts();
      queue = { tenant, waiting: [], deficitMs: this.#quantumOf(tenant), isInRing: false };
      this.#queues.set(tenant, queue);
    }
    return queue;
  }

  #forgetDebts(): void {
    for (const { tenant, isInRing } of this.#queues.values()) {
      if (!isInRing) this.#queues.delete(tenant);
    }
  }

  #quantumOf(tenant: string): number {
    return QUANTUM_MS * Math.max(this.#weightOf(tenant), MIN_WEIGHT);
  }
}
