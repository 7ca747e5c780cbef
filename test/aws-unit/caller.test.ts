import { describe, expect, test } from '@jest/globals';
import { type Attempt, type CallerOptions, createCaller } from '../../shared/aws/caller.ts';
import {
  AttemptTimeoutError,
  AwsCallError,
  ClosedError,
  OutcomeUnknownError,
} from '../../shared/aws/errors.ts';
import { createRetryBudget, RETRY_PRICE, SUCCESS_REFUND } from '../../shared/aws/retry-budget.ts';
import { type VirtualClock, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { ObjectNotFoundError } from '../../shared/base/ports/object-store.ts';
import { ConditionFailedError } from '../../shared/base/ports/table.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { errorOf, TEST_LIMITS } from './support/limits.ts';

const READ = { operation: 'GetObject', target: 'bucket/key' };
const WRITE = { operation: 'PutItem', target: 'table p / s', writes: true };

const serviceError = (name: string, status: number): Error =>
  Object.assign(new Error('said the test'), { name, $metadata: { httpStatusCode: status } });
const SLOW_DOWN = serviceError('SlowDown', 503);
const CONFLICT = serviceError('TransactionConflictException', 400);
const BROKEN = serviceError('InternalServerError', 500);
const DENIED = serviceError('AccessDenied', 403);
const RESET = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const REFUSED = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

interface Run {
  readonly attempts: Attempt[];
  readonly atMs: number[];
  readonly clock: VirtualClock;
  readonly outcome: unknown;
}

/** One call whose attempts fail with `failures`, in order, and then succeed. */
async function run(
  failures: readonly Error[],
  { call = READ, ...options }: Partial<CallerOptions> & { call?: typeof READ } = {},
): Promise<Run> {
  const clock = virtualClock(0);
  const attempts: Attempt[] = [];
  const atMs: number[] = [];
  const caller = createCaller({ clock, limits: TEST_LIMITS, random: () => 0.999, ...options });
  const work = caller(call, async attempt => {
    attempts.push(attempt);
    atMs.push(clock.nowMs());
    const failure = failures[attempts.length - 1];
    if (failure !== undefined) throw failure;
    return 'done';
  });
  const outcome = await clock.run(work.catch((error: unknown) => error));
  return { attempts, atMs, clock, outcome };
}

describe('attempts of a call', () => {
  test('repeat retryable failures after pauses that double up to a limit', async () => {
    const limits = { ...TEST_LIMITS, maxAttempts: 6, firstPauseMs: 100, maxPauseMs: 400 };
    const { atMs, outcome } = await run([BROKEN, SLOW_DOWN, RESET, CONFLICT, REFUSED], { limits });
    expect(outcome).toBe('done');
    expect(atMs).toEqual([0, 100, 300, 700, 1100, 1500]);
  });

  test('have random pauses from zero to the limit', async () => {
    const limits = { ...TEST_LIMITS, firstPauseMs: 100, maxPauseMs: 400 };
    expect((await run([BROKEN, BROKEN], { limits, random: () => 0 })).atMs).toEqual([0, 0, 0]);
    expect((await run([BROKEN, BROKEN], { limits, random: () => 0.25 })).atMs).toEqual([0, 25, 75]);
  });

  test('are limited, and the error names the call', async () => {
    const { attempts, outcome } = await run([BROKEN, BROKEN, BROKEN, BROKEN, BROKEN]);
    expect(attempts).toHaveLength(TEST_LIMITS.maxAttempts);
    expect(outcome).toBeInstanceOf(AwsCallError);
    expect(outcome).toMatchObject({
      message:
        'GetObject of bucket/key failed after 4 attempts: InternalServerError: said the test (HTTP 500)',
      operation: 'GetObject',
      code: 'InternalServerError',
      status: 500,
      attempts: 4,
      cause: BROKEN,
    });
  });

  test('do not repeat a refusal', async () => {
    const { attempts, outcome } = await run([DENIED]);
    expect(attempts).toHaveLength(1);
    expect(outcome).toMatchObject({ name: 'AwsCallError', status: 403, attempts: 1 });
  });

  test('pass on results of the ports unchanged', async () => {
    const key = { pk: 'p', sk: 's' };
    for (const answer of [
      new ObjectNotFoundError('k'),
      new ConditionFailedError(key, 3),
      new RangeError('r'),
    ])
      expect((await run([answer])).outcome).toBe(answer);
  });

  test('do not begin after the deadline', async () => {
    const limits = {
      ...TEST_LIMITS,
      maxAttempts: 100,
      firstPauseMs: 100,
      maxPauseMs: 100,
      totalTimeoutMs: 350,
    };
    const { atMs, outcome } = await run(Array(100).fill(BROKEN), { limits });
    expect(atMs).toEqual([0, 100, 200, 300]);
    expect(outcome).toBeInstanceOf(AwsCallError);
  });

  test('an attempt without a response is aborted by its signal', async () => {
    const limits = { ...TEST_LIMITS, maxAttempts: 2, attemptTimeoutMs: 20 };
    const clock = virtualClock(0);
    const reasons: unknown[] = [];
    const caller = createCaller({ clock, limits });
    const never = caller(READ, ({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return new Promise(() => {});
    });
    const error = await clock.run(errorOf(never));
    expect(error).toMatchObject({
      name: 'AwsCallError',
      attempts: 2,
      cause: expect.any(AttemptTimeoutError),
    });
    expect(reasons).toEqual([expect.any(AttemptTimeoutError), expect.any(AttemptTimeoutError)]);
  });
});

describe('errors of refused calls', () => {
  // [attempts, call, class]
  const cases: [string, Error[], typeof READ, new (...args: never[]) => Error][] = [
    ['load', [SLOW_DOWN, SLOW_DOWN, SLOW_DOWN, SLOW_DOWN], READ, ThrottledError],
    ['conflicts', [CONFLICT, CONFLICT, CONFLICT, CONFLICT], WRITE, ThrottledError],
    ['a read, an answer missing before', [RESET, SLOW_DOWN, SLOW_DOWN, SLOW_DOWN], READ, ThrottledError],
    ['a write, an answer missing before', [RESET, SLOW_DOWN, SLOW_DOWN, SLOW_DOWN], WRITE, AwsCallError],
    ['a write, never sent before', [REFUSED, SLOW_DOWN, SLOW_DOWN, SLOW_DOWN], WRITE, ThrottledError],
    ['an error of the server at last', [SLOW_DOWN, SLOW_DOWN, SLOW_DOWN, BROKEN], WRITE, AwsCallError],
  ];
  test.each(cases)('%s', async (_, failures, call, type) => {
    expect((await run(failures, { call })).outcome).toBeInstanceOf(type);
  });

  test('report a write whose outcome is unknown', async () => {
    const { outcome } = await run([RESET, SLOW_DOWN, SLOW_DOWN, SLOW_DOWN], { call: WRITE });
    expect((outcome as Error).cause).toBeInstanceOf(OutcomeUnknownError);
  });

  test('an attempt knows if an earlier one may have taken effect', async () => {
    const { attempts } = await run([SLOW_DOWN, REFUSED, BROKEN], { call: WRITE });
    expect(attempts.map(attempt => attempt.mayHaveHappened)).toEqual([false, false, false, true]);
  });
});

describe('retry budget', () => {
  test('is shared by all calls; once it is used up, the first failure is final', async () => {
    const budget = createRetryBudget(2 * RETRY_PRICE);
    const attempts: number[] = [];
    for (let i = 0; i < 4; i++) attempts.push((await run(Array(9).fill(BROKEN), { budget })).attempts.length);
    expect(attempts).toEqual([3, 1, 1, 1]);
    expect(budget.tokens).toBe(0);
  });

  test('is refilled slowly by successes', async () => {
    const budget = createRetryBudget(100);
    expect(budget.take(100)).toBe(true);
    expect(budget.take(1)).toBe(false);
    for (let i = 0; i < RETRY_PRICE / SUCCESS_REFUND; i++) await run([], { budget });
    expect(budget.tokens).toBe(RETRY_PRICE);
    // The last retry of a call that succeeds is paid back.
    expect((await run([BROKEN], { budget })).outcome).toBe('done');
    expect(budget.tokens).toBe(RETRY_PRICE);
    budget.give(1e9);
    expect(budget.tokens).toBe(100);
  });

  test('reports throttling if it is used up', async () => {
    const { outcome } = await run([SLOW_DOWN], { budget: createRetryBudget(0) });
    expect(outcome).toBeInstanceOf(ThrottledError);
  });
});

describe('closing a caller', () => {
  test('ends attempts, pauses and later calls', async () => {
    const clock = virtualClock(0);
    const closing = new AbortController();
    const caller = createCaller({ clock, limits: TEST_LIMITS, signal: closing.signal, random: () => 0.999 });
    let began = 0;
    const running = errorOf(
      caller(READ, () => {
        began++;
        return new Promise(() => {});
      }),
    );
    const pausing = errorOf(
      caller(READ, async () => {
        began++;
        throw BROKEN;
      }),
    );
    while (began < 2 || clock.sleepers === 0) await new Promise(resolve => setImmediate(resolve));
    closing.abort();
    expect((await running).cause).toBeInstanceOf(ClosedError);
    expect((await pausing).cause).toBe(BROKEN);
    expect((await errorOf(caller(READ, async () => 'late'))).cause).toBeInstanceOf(ClosedError);
  });
});

describe('a call that its caller has canceled', () => {
  const gone = new Error('the client disconnected');

  test('ends at once during an attempt, by its signal', async () => {
    const clock = virtualClock(0);
    const unwanted = new AbortController();
    let seen: AbortSignal | undefined;
    const caller = createCaller({ clock, limits: TEST_LIMITS, random: () => 0.999 });
    const work = caller({ ...READ, signal: unwanted.signal }, ({ signal }) => {
      seen = signal;
      return new Promise(() => undefined);
    });
    setImmediate(() => unwanted.abort(gone));
    expect(await work.catch((error: unknown) => error)).toBe(gone);
    expect(seen!.reason).toBe(gone);
  });

  test('ends during a pause without another attempt, and does not begin later', async () => {
    const clock = virtualClock(0);
    const unwanted = new AbortController();
    let attempts = 0;
    const limits = { ...TEST_LIMITS, firstPauseMs: 100 };
    const caller = createCaller({ clock, limits, random: () => 0.999 });
    const call = { ...READ, signal: unwanted.signal };
    const ask = () =>
      caller(call, async () => {
        attempts++;
        throw BROKEN;
      }).catch((error: unknown) => error);
    const work = ask();
    await clock.advance(1);
    unwanted.abort(gone);
    expect(await work).toBe(gone);
    expect(await ask()).toBe(gone);
    expect(attempts).toBe(1);
  });
});
