/** Repeats calls that fail temporarily, with pauses that double. */
import { setTimeout as delay } from 'node:timers/promises';

export interface RetryPolicy {
  readonly maxAttempts: number;
  /** Delay before the second attempt; it doubles from there. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** Retries for about 30 s in total: a store restarts in that time. */
export const RESTART_RETRIES: RetryPolicy = { maxAttempts: 9, firstDelayMs: 250, maxDelayMs: 8000 };

/** Throws the error of the last attempt, or the first one that `isTemporary` does not accept. */
export async function retried<T>(
  { maxAttempts, firstDelayMs, maxDelayMs }: RetryPolicy,
  isTemporary: (error: unknown) => boolean,
  call: () => Promise<T>,
): Promise<T> {
  let delayMs = firstDelayMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= maxAttempts || !isTemporary(error)) throw error;
    }
    await delay(delayMs);
    delayMs = Math.min(delayMs * 2, maxDelayMs);
  }
}
