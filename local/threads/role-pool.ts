/**
 * The threads of one role: the first starts when it is needed, the others one by one when all before them are busy.
 *
 * A pool with a spare thread has one more, for tenants with little beside others with much. Work inside a thread is shared fairly, in
 * small steps, but a garbage collection of what one tenant's queries hold stops them all: for 400 ms with the half million series of a
 * heavy query, where a light one takes 5. The system shares the cores among threads, whatever they do.
 */
import type { ThreadClient } from './thread-client.ts';

/** How a pool uses a thread. */
export type PooledThread = Pick<ThreadClient<never, never>, 'running' | 'isReady' | 'ready' | 'stop'>;

/** Calls that run in the pool. */
export interface RunningCalls {
  /** Of the tenant that makes another one. */
  readonly own: number;
  readonly others: number;
}

const ALONE: RunningCalls = { own: 0, others: 0 };
/** Who has so many times fewer calls than the others together is light beside them. */
const LIGHT = 2;

export class RolePool<Thread extends PooledThread> {
  readonly #threads: Thread[] = [];
  readonly #max: number;
  readonly #start: (index: number) => Thread;
  readonly #hasSpare: boolean;
  #spare: Thread | undefined;

  /** @param max threads without the spare one; at least 1. The spare one is started with this as its index. */
  constructor(
    max: number,
    start: (index: number) => Thread,
    { hasSpare = false }: { readonly hasSpare?: boolean } = {},
  ) {
    this.#max = max;
    this.#start = start;
    this.#hasSpare = hasSpare;
  }

  /** Those that were started. */
  get threads(): readonly Thread[] {
    return this.#spare === undefined ? this.#threads : [...this.#threads, this.#spare];
  }

  /** The thread at a place below the maximum; it is started if it is needed for the first time. */
  at(index: number): Thread {
    for (let next = this.#threads.length; next <= index; next++) this.#threads.push(this.#start(next));
    return this.#threads[index];
  }

  /**
   * The thread with the least to do: of equals the first, so that a quiet store keeps one thread warm. One that starts is passed
   * over as long as another is there: that takes longer than most calls. If all are busy, the spare one is for who is light.
   */
  pick({ own, others }: RunningCalls = ALONE): Thread {
    const ready = this.#threads.filter(({ isReady }) => isReady);
    if (ready.length === 0) return this.at(0);
    let least = ready[0];
    for (const thread of ready) if (thread.running < least.running) least = thread;
    if (this.#hasSpare && least.running > 0 && ready.length === this.#max && own * LIGHT < others) {
      this.#spare ??= this.#start(this.#max);
      if (this.#spare.isReady) return this.#spare;
    }
    const isGrowing = ready.length < this.#threads.length;
    if (least.running > 0 && !isGrowing && ready.length < this.#max) this.at(ready.length);
    return least;
  }

  async ready(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.ready()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.stop()));
  }
}
