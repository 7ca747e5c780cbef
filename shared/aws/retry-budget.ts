/**
 * Bounds the share of retries in the load. If every call sent all its attempts while a service is down, the
 * retries would keep the service overloaded. All calls of a client share the tokens. A retry uses some, and a
 * success returns some.
 */

/**
 * Budget of 100 retries in a row at their usual price, then one for every five calls that succeed at once.
 */
const RETRY_TOKENS = 500;
export const RETRY_PRICE = 5;
/** Price of a retry after a timeout. Waiting for a timeout holds a connection, so the budget ends sooner. */
export const TIMEOUT_RETRY_PRICE = 10;
/** Tokens that a call returns if its first attempt succeeds. */
export const SUCCESS_REFUND = 1;

export interface RetryBudget {
  readonly tokens: number;
  /** Takes `price` tokens. Returns false and takes none if fewer are left. */
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
