/** The client that calls other functions. It sends nothing by itself: fit for the start of a function. */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { lazily } from '../base/model/lazily.ts';

const DEFAULT_ATTEMPTS = 2;

/** Makes the client on first use: most processes call no function. Region and credentials are those of the function. */
export function lambdaClient(maxAttempts = DEFAULT_ATTEMPTS): () => LambdaClient {
  return lazily(() => new LambdaClient({ maxAttempts }));
}
