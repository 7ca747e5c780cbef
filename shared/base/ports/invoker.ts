/**
 * Runs tasks of a query: in this thread, in a worker thread, or as an invocation of a function. The port does
 * not interpret the bytes (shared/read/query/tasks).
 *
 * Pitfall: an error of the query itself is part of a result. A rejection means that there is no result.
 */
export interface InvokeOptions {
  /**
   * Aborted when the result is no longer needed. The call then rejects immediately with the signal's reason.
   */
  readonly signal: AbortSignal;
  /**
   * Affinity hint. Tasks of equal affinity read the same objects, and run on the same worker if that causes
   * no wait.
   */
  readonly affinity: number;
}

/** Totals since the start, for invokers whose workers are calls to a platform. */
export interface InvokerFigures {
  readonly invocations: number;
  /** Calls repeated because the platform had no capacity. */
  readonly refused: number;
  /** Calls repeated because the worker was lost or the platform failed. */
  readonly retried: number;
  /** Calls repeated in parallel with a first call that took long. */
  readonly hedged: number;
  /** Tasks that ran in this process after all, by reason. */
  readonly here: Readonly<Record<string, number>>;
}

export interface Invoker {
  /** Absent if the invoker reports nothing except the tasks. */
  readonly figures?: InvokerFigures;
  /** Number of concurrent tasks, at least 1; further tasks wait. */
  readonly slots: number;
  /**
   * Runs a task and returns its result. The caller must not change the task's bytes until then. Throws
   * InvokerError if a worker ended before it responded, even after another try. Throws ThrottledError if the
   * platform refuses more work.
   */
  invoke(task: Uint8Array, options: InvokeOptions): Promise<Uint8Array>;
  /** Ends all workers that it has started. Running tasks reject. */
  close(): Promise<void>;
}

/** A worker ended or sent an invalid response. Never caused by the client. */
export class InvokerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvokerError';
  }
}
