/**
 * Creates the client that invokes other functions. Creating it sends nothing, so a function can do it at its
 * start.
 */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { lazily } from '../base/model/lazily.ts';

const DEFAULT_ATTEMPTS = 2;

/**
 * Creates the client on first use, because most processes invoke no function. Region and credentials are
 * those of the function.
 */
export function lambdaClient(maxAttempts = DEFAULT_ATTEMPTS): () => LambdaClient {
  return lazily(() => new LambdaClient({ maxAttempts }));
}
