/**
 * Shares one thread among tenants with deficit round robin on measured time (Shreedhar and Varghese, 1995).
 * It adds the surplus rule: a time slice that took longer than planned is paid back later. Work is split into
 * slices of a few milliseconds, and `acquire` waits for the next slice:
 *
 *     await scheduler.acquire(tenant);
 *     const startedMs = scheduler.nowMs();
 *     ...                                  // no await in between
 *     scheduler.charge(tenant, startedMs);
 *
 * The scheduler is work-conserving: a single active tenant gets the whole thread and yields only to I/O. The
 * scheduler does not count requests; admission-queue.ts bounds the number of concurrent ones.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Pace } from '../model/steps.ts';

/**
 * Maximum planned run of a task before it calls `acquire` again, ms. Long compared to the cost of a switch
 * (20 µs), but too short for users to notice.
 */
const MAX_SLICE_MS = 5;
/** Time that a tenant of weight 1 gets before the next tenant runs, ms: one slice. */
const QUANTUM_MS = MAX_SLICE_MS;
/**
 * Time in one round of the event loop that tasks may use without waiting for the next round, ms. For small
 * pages, the round would cost more than the work.
 */
const ROUND_MS = 1;
/** Minimum weight of a tenant. With less, paying back a debt would take thousands of rounds. */
const MIN_WEIGHT = 0.01;
/** Maximum number of tenants with a debt and no waiting task. Beyond it, the debts are dropped. */
const MAX_DEBTORS = 10_000;

interface FairSchedulerOptions {
  /** Returns the time of a monotonic clock, ms. */
  readonly nowMs?: () => number;
  /**
   * Returns the share of a tenant relative to others, with a minimum of 0.01. Default: 1 for all tenants.
   */
  readonly weightOf?: (tenant: string) => number;
}

interface AcquireOptions {
  /**
   * True for a later stage of a task. It comes before the waiting tasks of its tenant that have not begun, so that a task
   * completes before the next one begins. Use it a few times for each task, not for each slice: otherwise a long task
   * holds up all others of its tenant.
   */
  readonly isLaterStage?: boolean;
}

interface TenantShare {
  readonly tenant: string;
  /** Waiting tasks in order of arrival. */
  readonly waiting: (() => void)[];
  /** Later stages in order of arrival; they come first. */
  readonly laterStages: (() => void)[];
  /** Time that the tenant may still use before other tenants run, ms; negative if it used too much. */
  deficitMs: number;
  isInRing: boolean;
}

export class FairScheduler {
  readonly #nowMs: () => number;
  readonly #weightOf: (tenant: string) => number;
  /** Tenants with waiting tasks, and tenants with a debt while others wait. */
  readonly #queues = new Map<string, TenantShare>();
  /** Tenants with waiting tasks, in rotation order. */
  readonly #ring: TenantShare[] = [];
  #isServing = false;
  /** Time charged in this round of the event loop. */
  #roundMs = 0;

  constructor({ nowMs = () => performance.now(), weightOf = () => 1 }: FairSchedulerOptions = {}) {
    this.#nowMs = nowMs;
    this.#weightOf = weightOf;
  }

  /** Number of tenants in memory. */
  get tenants(): number {
    return this.#queues.size;
  }

  /** Number of tasks that wait for a slice. */
  get waiting(): number {
    return this.#ring.reduce((sum, { waiting, laterStages }) => sum + waiting.length + laterStages.length, 0);
  }

  nowMs(): number {
    return this.#nowMs();
  }

  /**
   * Resolves when the tenant may use the thread for a slice. The joined tenants of a multi-tenant request
   * count as one more tenant.
   */
  async acquire(tenant: string, { isLaterStage = false }: AcquireOptions = {}): Promise<void> {
    if (this.#ring.length === 0 && this.#roundMs < ROUND_MS) return;
    await new Promise<void>(go => {
      const queue = this.#queueOf(tenant);
      if (!queue.isInRing) this.#ring.push(queue);
      queue.isInRing = true;
      (isLaterStage ? queue.laterStages : queue.waiting).push(go);
      if (!this.#isServing) void this.#serve();
    });
  }

  /** Charges the tenant for a slice that began at `startedMs` and ends now. */
  charge(tenant: string, startedMs: number): void {
    const tookMs = this.#nowMs() - startedMs;
    if (this.#roundMs === 0) setImmediate(() => (this.#roundMs = 0));
    this.#roundMs += Math.max(tookMs, Number.MIN_VALUE);
    // No task waits, so no tenant is owed time.
    if (this.#ring.length === 0) return;
    this.#queueOf(tenant).deficitMs -= tookMs;
  }

  /** Ends the slice that began at `startedMs`, and waits for the next slice. */
  async yield(tenant: string, startedMs: number): Promise<void> {
    this.charge(tenant, startedMs);
    await this.acquire(tenant);
  }

  /** Returns the time slices for one task of the tenant that runs in steps (model/steps.ts). */
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
      // Run one slice per round of the event loop. I/O runs in between and may bring work of another tenant.
      // The previous slice has been charged by now. Its task waits again if it has more to do, so its tenant
      // can continue.
      await nextRound();
      const queue = this.#next();
      (queue?.laterStages.shift() ?? queue?.waiting.shift())?.();
    }
    this.#queues.clear();
    this.#isServing = false;
  }

  /**
   * Returns the first tenant of the ring with time left. Tenants without time move to the end with a new
   * quantum.
   */
  #next(): TenantShare | undefined {
    for (;;) {
      const queue = this.#ring[0];
      if (queue === undefined) return undefined;
      if (queue.waiting.length === 0 && queue.laterStages.length === 0) {
        this.#ring.shift();
        queue.isInRing = false;
        // Deficit round robin drops the unused time of a tenant, but not its debt.
        if (queue.deficitMs >= 0) this.#queues.delete(queue.tenant);
      } else if (queue.deficitMs > 0) return queue;
      else {
        this.#ring.push(this.#ring.shift()!);
        queue.deficitMs += this.#quantumOf(queue.tenant);
      }
    }
  }

  #queueOf(tenant: string): TenantShare {
    let queue = this.#queues.get(tenant);
    if (queue === undefined) {
      if (this.#queues.size >= MAX_DEBTORS) this.#forgetDebts();
      queue = {
        tenant,
        waiting: [],
        laterStages: [],
        deficitMs: this.#quantumOf(tenant),
        isInRing: false,
      };
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
