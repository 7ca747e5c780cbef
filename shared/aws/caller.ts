/**
 * Runs one call to a service with a bounded number of attempts. Each attempt has a timeout, and pauses
 * between attempts grow and are randomized. A deadline and a retry budget that all calls share bound the
 * whole call. The SDK's own retries are off. They cover neither the reading of a body nor conflicts, and they
 * do not report whether an earlier attempt may have written.
 *
 *     call      |-- wait for a slot --|-- attempt 1 --x  pause  |-- attempt 2 --x  pause  |-- attempt 3 --|
 *               0                     <--------------------- at most totalTimeoutMs ---------------------->
 */
import type { Clock } from '../base/ports/clock.ts';
import { waitForConnection } from '../base/ports/read-trace.ts';
import { ThrottledError } from '../base/ports/throttled.ts';
import {
  AttemptTimeoutError,
  AwsCallError,
  ClosedError,
  classify,
  type Failure,
  isPortResult,
  OutcomeUnknownError,
} from './errors.ts';
import {
  createRetryBudget,
  RETRY_PRICE,
  type RetryBudget,
  SUCCESS_REFUND,
  TIMEOUT_RETRY_PRICE,
} from './retry-budget.ts';
import { createSlots } from './slots.ts';

export interface CallLimits {
  readonly maxAttempts: number;
  /** Maximum first pause. It doubles with every attempt. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** Timeout of one attempt, including its body. */
  readonly attemptTimeoutMs: number;
  /** Timeout of all attempts and pauses of a call. */
  readonly totalTimeoutMs: number;
  /** Maximum number of concurrent calls, and therefore of connections. */
  readonly maxRunning: number;
  /** Maximum number of calls that wait for a connection. Further calls are refused. */
  readonly maxWaiting: number;
}

/**
 * An object of 64 MiB takes 1 s at 80 MB/s. 12 s tolerate a slow line, and allow two attempts within a query
 * of 28 s.
 */
export const S3_LIMITS: CallLimits = Object.freeze({
  maxAttempts: 5,
  firstPauseMs: 50,
  maxPauseMs: 2_000,
  attemptTimeoutMs: 12_000,
  totalTimeoutMs: 25_000,
  // Sized for the small reads of one query. Bytes bound the large ones.
  maxRunning: 128,
  maxWaiting: 10_000,
});

/**
 * DynamoDB responds within milliseconds, to a transaction of 3.5 MB within a second. Conflicts are the usual
 * reason to retry.
 */
export const DYNAMODB_LIMITS: CallLimits = Object.freeze({
  maxAttempts: 7,
  firstPauseMs: 25,
  maxPauseMs: 1_000,
  attemptTimeoutMs: 5_000,
  totalTimeoutMs: 15_000,
  // A query of a month reads the partitions of 31 days at once.
  maxRunning: 128,
  maxWaiting: 10_000,
});

export interface CallerOptions {
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly limits: CallLimits;
  /** Returns a number in [0, 1) that randomizes the pauses. */
  readonly random?: () => number;
  readonly budget?: RetryBudget;
  /** Aborts all running and future calls. */
  readonly signal?: AbortSignal;
}

export interface Call {
  /** Name of the operation, for example `PutObject`. */
  readonly operation: string;
  /** Key or table, for messages. */
  readonly target: string;
  /** True if a retry after an unknown outcome must not be reported as "nothing happened". */
  readonly writes?: boolean;
  /**
   * Aborted when no caller awaits the result. The call then rejects at once with the signal's reason. Set it
   * for reads, and for requests that another request duplicates.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface Attempt {
  /** Aborted when the attempt times out, and when no caller awaits the call. */
  readonly signal: AbortSignal;
  /** True if an earlier attempt of this call may have taken effect. */
  readonly mayHaveHappened: boolean;
}

/**
 * Runs `attempt` until it succeeds. Errors that the ports promise (isPortResult) are rethrown unchanged. Throws
 * ThrottledError if the service refused the last attempt for load or conflicts, and no attempt of a write can
 * have happened. Otherwise throws AwsCallError.
 */
export type Caller = <T>(call: Call, attempt: (attempt: Attempt) => Promise<T>) => Promise<T>;

export function createCaller(options: CallerOptions): Caller {
  const { clock, limits, random = Math.random, budget = createRetryBudget(), signal: closed } = options;
  const slots = createSlots({
    maxRunning: limits.maxRunning,
    maxWaiting: limits.maxWaiting,
    maxWaitMs: limits.totalTimeoutMs,
  });

  const run = async <T>(call: Call, attempt: (attempt: Attempt) => Promise<T>): Promise<T> => {
    const deadlineMs = clock.nowMs() + limits.totalTimeoutMs;
    let mayHaveHappened = false;
    let spent = 0;
    const { signal: unwanted } = call;
    for (let number = 1; ; number++) {
      unwanted?.throwIfAborted();
      try {
        const leftMs = Math.max(1, deadlineMs - clock.nowMs());
        const timeoutMs = Math.min(limits.attemptTimeoutMs, leftMs);
        const result = await runOnce(attempt, { timeoutMs, mayHaveHappened, closed, unwanted });
        budget.give(number === 1 ? SUCCESS_REFUND : spent);
        return result;
      } catch (error) {
        unwanted?.throwIfAborted();
        if (isPortResult(error)) throw error;
        const failure = classify(error);
        mayHaveHappened ||= failure.mayHaveHappened;
        const giveUp = (): Error => endOf(call, number, error, failure, mayHaveHappened);
        if (failure.kind === 'final' || number >= limits.maxAttempts) throw giveUp();
        const longestMs = Math.min(limits.maxPauseMs, limits.firstPauseMs * 2 ** (number - 1));
        const pauseMs = Math.ceil(longestMs * random());
        if (clock.nowMs() + pauseMs >= deadlineMs) throw giveUp();
        spent = error instanceof AttemptTimeoutError ? TIMEOUT_RETRY_PRICE : RETRY_PRICE;
        if (!budget.take(spent)) throw giveUp();
        await clock.sleep(pauseMs, anyOf(closed, unwanted)).catch(() => {
          unwanted?.throwIfAborted();
          throw giveUp();
        });
      }
    }
  };

  return (call, attempt) => {
    const begun = waitForConnection();
    return slots(() => {
      begun();
      return run(call, attempt);
    });
  };
}

function endOf(
  call: Call,
  attempts: number,
  error: unknown,
  { kind }: Failure,
  mayHaveHappened: boolean,
): Error {
  const isRefused = kind === 'throttled' || kind === 'conflict';
  if (isRefused && !(call.writes && mayHaveHappened)) {
    return new ThrottledError(`${call.operation} of ${call.target} was refused ${attempts} times`, {
      cause: error,
    });
  }
  const cause = isRefused ? new OutcomeUnknownError(error) : error;
  return new AwsCallError(call.operation, call.target, attempts, cause);
}

function anyOf(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a !== undefined && b !== undefined ? AbortSignal.any([a, b]) : (a ?? b);
}

interface AttemptEnds {
  readonly timeoutMs: number;
  readonly mayHaveHappened: boolean;
  readonly closed: AbortSignal | undefined;
  readonly unwanted: AbortSignal | undefined;
}

/**
 * Runs one attempt and settles at its timeout. Not every wait inside the SDK (for credentials) heeds the
 * signal.
 */
async function runOnce<T>(
  attempt: (attempt: Attempt) => Promise<T>,
  { timeoutMs, mayHaveHappened, closed, unwanted }: AttemptEnds,
): Promise<T> {
  if (closed?.aborted) throw new ClosedError();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new AttemptTimeoutError(timeoutMs)), timeoutMs);
  const close = (): void => controller.abort(new ClosedError());
  const leave = (): void => controller.abort(unwanted?.reason);
  closed?.addEventListener('abort', close, { once: true });
  unwanted?.addEventListener('abort', leave, { once: true });
  try {
    return await new Promise<T>((resolve, reject) => {
      const { signal } = controller;
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      attempt({ signal, mayHaveHappened }).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    closed?.removeEventListener('abort', close);
    unwanted?.removeEventListener('abort', leave);
  }
}
