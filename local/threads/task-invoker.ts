/**
 * Parts of queries go to the query thread that owns their pages: tasks of one affinity read the same objects, and one thread caches
 * them. The thread that plans the query is one of these.
 */
import type { Invoker } from '../../shared/base/ports/invoker.ts';

export interface TaskInvokerParts {
  /** Query threads. */
  readonly threads: number;
  /** Place of this one among them. */
  readonly index: number;
  readonly here: (task: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;
  /** Tries again if the thread is lost; rejects with ClientError if that is in vain. */
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
