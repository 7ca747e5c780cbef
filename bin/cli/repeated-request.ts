/** Repeats a query that the store cannot answer now, for `--retries`. */
import { setTimeout as delay } from 'node:timers/promises';
import { type StoreFlags, type StoreResponse, UnreachableError } from './store-client.ts';

/** Delays grow from the first to the last, seconds. */
const FIRST_DELAY_SECONDS = 0.5;
const LAST_DELAY_SECONDS = 300;

export async function repeatedRequest(
  { retries = 0, minBackoff = 0, maxBackoff = LAST_DELAY_SECONDS }: StoreFlags,
  send: () => Promise<StoreResponse>,
): Promise<StoreResponse> {
  let seconds = minBackoff > 0 ? minBackoff : FIRST_DELAY_SECONDS;
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= retries;
    try {
      const answer = await send();
      const mayPass = answer.status === 429 || answer.status >= 500;
      if (isLast || !mayPass) return answer;
    } catch (error) {
      if (isLast || !(error instanceof UnreachableError)) throw error;
    }
    await delay(Math.min(seconds, maxBackoff) * 1000);
    seconds *= 2;
  }
}
