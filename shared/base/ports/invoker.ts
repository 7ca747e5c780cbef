/**
 * Who runs a piece of a query elsewhere: in this thread, in a worker thread, as an invocation of a function. It knows
 * nothing of what the bytes mean (shared/read/query/tasks). What a reader would get wrong: an error of the query itself is part
 * of an answer; a rejection says that there is none.
 */
export interface InvokeOptions {
  /** Aborted: the answer is not wanted any more. The call then rejects with the signal's reason, at once. */
  readonly signal: AbortSignal;
  /** Tasks of equal affinity read the same objects: they go to the same worker where that costs no waiting. */
  readonly affinity: number;
}

/** Totals since the start, of invokers whose workers are calls to a platform. */
export interface InvokerFigures {
  readonly invocations: number;
  /** Made again because the platform had no room for the call. */
  readonly refused: number;
  /** Made again because the worker was lost or the platform failed. */
  readonly retried: number;
  /** Made again beside the first call because that one took long. */
  readonly hedged: number;
  /** Tasks that were run here after all, by reason. */
  readonly here: Readonly<Record<string, number>>;
}

export interface Invoker {
  /** Absent where there is nothing to tell beyond the tasks themselves. */
  readonly figures?: InvokerFigures;
  /** Tasks that it runs at once; whoever sends more makes them wait. At least 1. */
  readonly slots: number;
  /**
   * The answer to a task. The task's bytes may be read until then and stay as they are. Throws InvokerError where a worker
   * ended before it answered, even after another try; ThrottledError where the platform refuses more work.
   */
  invoke(task: Uint8Array, options: InvokeOptions): Promise<Uint8Array>;
  /** Ends what it has started. Running tasks reject. */
  close(): Promise<void>;
}

/** A worker ended, or answered nonsense: no fault of the client. */
export class InvokerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvokerError';
  }
}
