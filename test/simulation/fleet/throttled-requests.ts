/**
 * Requests that S3 answers with 503 (SlowDown) and DynamoDB with 400 (ThrottlingException) below their
 * limits: each is retried after a wait that doubles. Of concurrent requests the slowest decides.
 */
import type { Dice } from '../dice.ts';
import { THROTTLED } from './figures.ts';

interface ThrottledRequests {
  /** Time until the last request has completed, in addition to the time of each, ms. */
  readonly waitMs: number;
  /** Requests that were sent again. */
  readonly repeats: number;
}

/** @param share of the requests that are throttled, each time they are sent; the last try is answered */
export function throttle(dice: Dice, requests: number, share: number): ThrottledRequests {
  let [left, waitMs, repeats] = [share === 0 ? 0 : requests, 0, 0];
  for (let tries = 1; tries < THROTTLED.tries && left > 0; tries++) {
    const expected = left * share;
    left = Math.floor(expected) + (dice.chance(expected % 1) ? 1 : 0);
    if (left > 0) waitMs += THROTTLED.firstWaitMs * 2 ** (tries - 1);
    repeats += left;
  }
  return { waitMs, repeats };
}
