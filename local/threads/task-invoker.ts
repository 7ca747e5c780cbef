/**
 * Sends query tasks to the query thread that owns their pages. Tasks of one affinity read the same objects,
 * and one thread caches them. The thread that plans the query is one of these threads.
 */
import type { Invoker } from '../../shared/base/ports/invoker.ts';

interface TaskInvokerParts {
  /** Number of query threads. */
  readonly threads: number;
  /** Index of this thread among them. */
  readonly index: number;
  readonly here: (task: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;
  /**
   * Runs a task in another thread. Retries if the thread is lost, and rejects with ClientError if the retry
   * fails.
   */
  readonly there: (task: Uint8Array, affinity: number, signal: AbortSignal) => Promise<Uint8Array>;
}

export function taskInvoker({ threads, index, here, there }: TaskInvokerParts): Invoker {
  return {
    slots: threads,
    invoke: (task, { affinity, signal }) =>
      affinity % threads === index ? here(task, signal) : there(task, affinity, signal),
    close: async () => undefined,
  };
}
