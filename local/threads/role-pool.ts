/** The threads of one role: the first runs all the time, the others are started one by one when all before them are busy. */
import type { ThreadClient } from './thread-client.ts';

/** How a pool uses a thread. */
export type PooledThread = Pick<ThreadClient<never, never>, 'running' | 'isReady' | 'ready' | 'stop'>;

export class RolePool<Thread extends PooledThread> {
  readonly #threads: Thread[] = [];
  readonly #max: number;
  readonly #start: (index: number) => Thread;

  /** @param max threads; at least 1 */
  constructor(max: number, start: (index: number) => Thread) {
    this.#max = max;
    this.#start = start;
    this.at(0);
  }

  /** Those that were started. */
  get threads(): readonly Thread[] {
    return this.#threads;
  }

  /** The thread at a place below the maximum; it is started if it is needed for the first time. */
  at(index: number): Thread {
    for (let next = this.#threads.length; next <= index; next++) this.#threads.push(this.#start(next));
    return this.#threads[index];
  }

  /**
   * The thread with the least to do: of equals the first, so that a quiet store keeps one thread warm. One that starts is passed
   * over as long as another is there: that takes longer than most calls.
   */
  pick(): Thread {
    const ready = this.#threads.filter(({ isReady }) => isReady);
    if (ready.length === 0) return this.#threads[0];
    let least = ready[0];
    for (const thread of ready) if (thread.running < least.running) least = thread;
    const isGrowing = ready.length < this.#threads.length;
    if (least.running > 0 && !isGrowing && ready.length < this.#max) this.at(ready.length);
    return least;
  }

  async ready(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.ready()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.stop()));
  }
}
