/**
 * Runs one call to a service: a bounded number of attempts, each with its time-out, with growing and scattered pauses,
 * inside a deadline and a budget that all calls share. The SDK's own retries are switched off: they do not cover the
 * reading of a body, nor conflicts, and they do not say whether an earlier attempt may have written.
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
  isAnswer,
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
  /** Longest first pause; it doubles with every attempt. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** For one attempt, its body included. */
  readonly attemptTimeoutMs: number;
  /** For all attempts and pauses of a call. */
  readonly totalTimeoutMs: number;
  /** Calls that run at once, and so connections. */
  readonly maxRunning: number;
  /** Calls that wait for a connection; more are refused. */
  readonly maxWaiting: number;
}

/** An object of 64 MiB takes a second at 80 MB/s; 12 s leave room for a slow line, and two attempts for a query of 28 s. */
export const S3_LIMITS: CallLimits = Object.freeze({
  maxAttempts: 5,
  firstPauseMs: 50,
  maxPauseMs: 2_000,
  attemptTimeoutMs: 12_000,
  totalTimeoutMs: 25_000,
  // Small reads of one query; large ones are bounded by their bytes.
  maxRunning: 128,
  maxWaiting: 10_000,
});

/** DynamoDB answers within milliseconds, a transaction of 3.5 MB within a second. Conflicts are the usual reason to retry. */
export const DYNAMODB_LIMITS: CallLimits = Object.freeze({
  maxAttempts: 7,
  firstPauseMs: 25,
  maxPauseMs: 1_000,
  attemptTimeoutMs: 5_000,
  totalTimeoutMs: 15_000,
  // A query of a month asks for the partitions of 31 days at once.
  maxRunning: 128,
  maxWaiting: 10_000,
});

export interface CallerOptions {
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly limits: CallLimits;
  /** In [0, 1); scatters the pauses. */
  readonly random?: () => number;
  readonly budget?: RetryBudget;
  /** Ends everything that runs and everything to come. */
  readonly signal?: AbortSignal;
}

export interface Call {
  /** For example `PutObject`. */
  readonly operation: string;
  /** For people: which key or table. */
  readonly target: string;
  /** True where a retry after an unknown outcome must not be reported as "nothing happened". */
  readonly writes?: boolean;
  /** Aborted: nobody waits for the answer. The call then rejects with the signal's reason, at once. For reads, and for requests of which
   * another one does the same. */
  readonly signal?: AbortSignal | undefined;
}

export interface Attempt {
  /** Aborted when the attempt's time is up, and when nobody waits for the call. */
  readonly signal: AbortSignal;
  /** An earlier attempt of this call may have taken effect. */
  readonly mayHaveHappened: boolean;
}

/**
 * Runs `attempt` until it succeeds. What the ports promise (isAnswer) passes as it is. Throws ThrottledError where the
 * service refused the last attempt for load or conflicts and no attempt of a write can have happened, else AwsCallError.
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
        if (isAnswer(error)) throw error;
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

/** Settles at the latest when the time is up: not every wait inside the SDK (for credentials) heeds the signal. */
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
