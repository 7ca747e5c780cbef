/** Limits and parts of a caller for tests, in real time with short pauses. */

import { type Caller, type CallLimits, createCaller } from '../../../shared/aws/caller.ts';
import { SYSTEM_CLOCK } from '../../../shared/base/runtime/system-clock.ts';

export const TEST_LIMITS: CallLimits = Object.freeze({
  maxAttempts: 4,
  firstPauseMs: 1,
  maxPauseMs: 2,
  attemptTimeoutMs: 5_000,
  totalTimeoutMs: 20_000,
  maxRunning: 8,
  maxWaiting: 100,
});

export function testCaller(limits: Partial<CallLimits> = {}): Caller {
  return createCaller({ clock: SYSTEM_CLOCK, limits: { ...TEST_LIMITS, ...limits } });
}

/** Resolves to the error that a promise was rejected with. Throws if it was not rejected. */
export async function errorOf(work: Promise<unknown>): Promise<Error> {
  const result = await work.then(
    value => ({ value }),
    (error: Error) => ({ error }),
  );
  if ('error' in result) return result.error;
  throw new Error(`it resolved to ${JSON.stringify(result.value)}`);
}

/** Lets the SDK sign without a search for credentials. Call it before a client is created. */
export function useTestCredentials(): void {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
}
