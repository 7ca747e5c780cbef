/**
 * Creates the client that invokes other functions. Creating it sends nothing, so a function can do it at its
 * start.
 */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { lazily } from '../base/model/lazily.ts';

const DEFAULT_ATTEMPTS = 2;

/** Minimum number of concurrent calls, the SDK's default. Further calls would wait for a connection. */
const DEFAULT_SOCKETS = 50;

/**
 * Creates the client on first use, because most processes call no function. Region and credentials are those
 * of the function.
 */
export function lambdaClient(
  maxAttempts = DEFAULT_ATTEMPTS,
  maxSockets = DEFAULT_SOCKETS,
): () => LambdaClient {
  const agent = { keepAlive: true, maxSockets };
  return lazily(
    () => new LambdaClient({ maxAttempts, requestHandler: { httpAgent: agent, httpsAgent: agent } }),
  );
}
