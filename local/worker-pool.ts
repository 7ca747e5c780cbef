/**
 * Query tasks in worker threads. Idle threads are kept; one that ended is replaced, and its task tried once more in another.
 * A task that was cancelled holds its thread until it notices, between pages; one that does not is ended with its thread.
 */
import { availableParallelism } from 'node:os';
import type { Clock } from '../shared/ports/clock.ts';
import { type InvokeOptions, type Invoker, InvokerError } from '../shared/ports/invoker.ts';
import { entryBeside } from './entry-beside.ts';
import type { StorageOptions } from './storage.ts';
import { systemClock } from './system-clock.ts';
import { ThreadLostError, WorkerThread } from './worker-thread.ts';

/** Each takes 30 MB before it has read anything, and queries of a store on one machine end at its disk. */
const MAX_WORKERS = 8;
/** A cancelled task looks up every 25 ms, but for one line that takes up to 5 s. */
const CANCEL_WAIT_MS = 10_000;
/** One that was lost with its thread is tried again: another query may have taken the memory. */
const MAX_TRIES = 2;

/** A single thread beside the main one gains nothing: it costs the hand-over, and pages are cached twice or not at all. */
const LEAST_WORKERS = 2;

/**
 * One core is left to the main thread, which takes pushes, plans queries and merges answers. On two cores that is none:
 * measured with one worker, the suite's large queries took 1.2 to 3 times as long, and 8 clients got 60 answers a second
 * where they get 145.
 */
export function defaultWorkers(cores = availableParallelism()): number {
  const spare = Math.min(MAX_WORKERS, cores - 1);
  return spare < LEAST_WORKERS ? 0 : spare;
}

export interface WorkerPoolOptions {
  readonly storage: StorageOptions;
  readonly workers: number;
  /** Of each thread; default: none. */
  readonly pageCacheBytes?: number;
  readonly clock?: Clock;
  /** The file of the thread; default: the one beside this. */
  readonly entry?: URL;
}

export interface WorkerPool extends Invoker {
  /** Threads that were started, those that replace others included. */
  readonly starts: number;
}

interface Waiting {
  readonly affinity: number;
  give(thread: WorkerThread): void;
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const {
    storage,
    workers,
    pageCacheBytes = 0,
    clock = systemClock,
    entry = entryBeside('query-worker'),
  } = options;
  const data = { storage, pageCacheBytes };
  const threads = Array.from({ length: workers }, () => new WorkerThread(data, entry));
  const idle = new Set(threads);
  /** In the order of their calls; no longer than what callers send beyond `slots`. */
  const waiting: Waiting[] = [];
  let isClosed = false;

  /** The preferred thread where it is idle, else the one that waits longest. */
  function take(affinity: number): WorkerThread | undefined {
    const preferred = threads[affinity % threads.length];
    const thread = idle.has(preferred) ? preferred : idle.values().next().value;
    if (thread !== undefined) idle.delete(thread);
    return thread;
  }

  /** To the task that has waited longest among those whose pages the thread may hold, else among all. */
  function giveBack(thread: WorkerThread): void {
    const place = threads.indexOf(thread);
    const own = waiting.findIndex(({ affinity }) => affinity % threads.length === place);
    const [next] = waiting.splice(Math.max(own, 0), 1);
    if (next === undefined) idle.add(thread);
    else next.give(thread);
  }

  function acquire({ affinity, signal }: InvokeOptions): Promise<WorkerThread> | WorkerThread {
    const thread = take(affinity);
    if (thread !== undefined) return thread;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(entryOf), 1);
        reject(signal.reason);
      };
      const entryOf: Waiting = {
        affinity,
        give: given => {
          signal.removeEventListener('abort', leave);
          resolve(given);
        },
      };
      waiting.push(entryOf);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Runs on a thread that was acquired, and gives it back when it is free: perhaps later than the answer is given up. */
  function runOn(thread: WorkerThread, task: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const done = thread.run(task);
    const free = () => giveBack(thread);
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        thread.cancel();
        reject(signal.reason);
        void endLate(thread, done);
      };
      signal.addEventListener('abort', abort, { once: true });
      done
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', abort))
        .finally(free);
    });
  }

  async function endLate(thread: WorkerThread, done: Promise<unknown>): Promise<void> {
    const stopped = new AbortController();
    const ended = done.catch(() => undefined).finally(() => stopped.abort());
    const late = clock.sleep(CANCEL_WAIT_MS, stopped.signal).then(
      () => true,
      () => false,
    );
    if (await Promise.race([late, ended.then(() => false)])) await thread.stop();
  }

  return {
    slots: workers,
    get starts() {
      return threads.reduce((sum, thread) => sum + thread.starts, 0);
    },
    async invoke(task, invokeOptions) {
      const { signal } = invokeOptions;
      for (let attempt = 1; ; attempt++) {
        if (isClosed) throw new InvokerError('the query workers are stopped');
        signal.throwIfAborted();
        const thread = await acquire(invokeOptions);
        if (signal.aborted) {
          giveBack(thread);
          throw signal.reason;
        }
        try {
          return await runOn(thread, task, signal);
        } catch (error) {
          if (!(error instanceof ThreadLostError) || isClosed || attempt === MAX_TRIES) throw error;
        }
      }
    },
    async close() {
      isClosed = true;
      await Promise.all(threads.map(thread => thread.stop()));
    },
  };
}
