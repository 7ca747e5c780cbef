/**
 * Threads of one role. The first starts on first use. Each further one starts when all running threads are
 * busy.
 *
 * A pool can have a spare thread for light tenants next to heavy ones. Work inside a thread is scheduled
 * fairly in small steps. But a garbage collection of one tenant's query memory stops the whole thread: for
 * 400 ms with half a million series of a heavy query, while a light one takes 5 ms. The system schedules the
 * threads independently.
 */
import type { ThreadClient } from './thread-client.ts';

/** Operations of a thread that a pool uses. */
export type PooledThread = Pick<ThreadClient<never, never>, 'running' | 'isReady' | 'ready' | 'stop'>;

/** Running calls of the pool. */
export interface RunningCalls {
  /** Calls of the tenant of the next call. */
  readonly own: number;
  readonly others: number;
}

const ALONE: RunningCalls = { own: 0, others: 0 };
/** A tenant is light if all others together have at least this many times as many calls. */
const LIGHT = 2;

export interface RolePoolOptions {
  readonly hasSpare?: boolean;
  /** True if calls take longer than the start of a thread, so that it is better to wait for one than to share one. */
  readonly waitsForStart?: boolean;
}

export class RolePool<Thread extends PooledThread> {
  readonly #threads: Thread[] = [];
  /** Maximum number of threads without the spare one. */
  readonly max: number;
  readonly #start: (index: number) => Thread;
  readonly #hasSpare: boolean;
  readonly #waitsForStart: boolean;
  #spare: Thread | undefined;

  /** @param max number of threads without the spare one, at least 1; the spare one has this index */
  constructor(
    max: number,
    start: (index: number) => Thread,
    { hasSpare = false, waitsForStart = false }: RolePoolOptions = {},
  ) {
    this.max = max;
    this.#start = start;
    this.#hasSpare = hasSpare;
    this.#waitsForStart = waitsForStart;
  }

  /** Started threads. */
  get threads(): readonly Thread[] {
    return this.#spare === undefined ? this.#threads : [...this.#threads, this.#spare];
  }

  /** Thread at an index below the maximum. Starts it on first use. */
  at(index: number): Thread {
    for (let next = this.#threads.length; next <= index; next++) this.#threads.push(this.#start(next));
    return this.#threads[index];
  }

  /**
   * Selects the thread with the fewest calls, and the first of equals, so that an idle store keeps one thread
   * warm. A starting thread is skipped if another exists, because its start takes longer than most calls. If
   * all are busy, light tenants get the spare one.
   */
  pick({ own, others }: RunningCalls = ALONE): Thread {
    if (this.#waitsForStart) return this.#leastBusy();
    const ready = this.#threads.filter(({ isReady }) => isReady);
    if (ready.length === 0) return this.at(0);
    let least = ready[0];
    for (const thread of ready) if (thread.running < least.running) least = thread;
    if (this.#hasSpare && least.running > 0 && ready.length === this.max && own * LIGHT < others) {
      this.#spare ??= this.#start(this.max);
      if (this.#spare.isReady) return this.#spare;
    }
    const isGrowing = ready.length < this.#threads.length;
    if (least.running > 0 && !isGrowing && ready.length < this.max) this.at(ready.length);
    return least;
  }

  #leastBusy(): Thread {
    let least = this.at(0);
    for (const thread of this.#threads) if (thread.running < least.running) least = thread;
    const count = this.#threads.length;
    return least.running > 0 && count < this.max ? this.at(count) : least;
  }

  async ready(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.ready()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.stop()));
  }
}
