/**
 * Bounds how much of the load may be retries. While a service is down, every call would otherwise send its full number
 * of attempts, which is what keeps an overloaded service down. Tokens are shared by all calls of one client; a retry
 * takes some, a success gives some back.
 */

/** 100 retries in a row at their usual price, then one for every five calls that succeed at once. */
export const RETRY_TOKENS = 500;
export const RETRY_PRICE = 5;
/** Waiting for a time-out holds a connection: the budget ends sooner. */
export const TIMEOUT_RETRY_PRICE = 10;
/** What a call that succeeds at its first attempt gives back. */
export const SUCCESS_REFUND = 1;

export interface RetryBudget {
  readonly tokens: number;
  /** Takes `price` tokens; false (and nothing taken) where they are not there. */
  take(price: number): boolean;
  give(tokens: number): void;
}

export function createRetryBudget(capacity: number = RETRY_TOKENS): RetryBudget {
  let tokens = capacity;
  return {
    get tokens() {
      return tokens;
    },
    take(price) {
      if (tokens < price) return false;
      tokens -= price;
      return true;
    },
    give(given) {
      tokens = Math.min(capacity, tokens + given);
    },
  };
}
