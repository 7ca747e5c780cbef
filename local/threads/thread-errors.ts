/** Errors of calls to a thread that ended, and the errors that clients get. */
import { ClientError } from '../../shared/base/model/errors.ts';

/** The thread ended unexpectedly during the call. */
export class ThreadLostError extends Error {
  override readonly name: string = 'ThreadLostError';
}

/** The thread ended because its heap was too small. */
export class ThreadMemoryError extends ThreadLostError {
  override readonly name = 'ThreadMemoryError';
}

const LOST = 'a server thread was restarted while it processed the request; retry';
const OUT_OF_MEMORY = 'the query needs more memory than its thread has; reduce the time range or the limit';

/** Error for a call that may have been lost because of another call. */
export function lostOf(cause: ThreadLostError): ClientError {
  return new ClientError(503, LOST, { cause });
}

/** Error for a retried call. If it exhausted the memory, the client is not asked to repeat it. */
export function lostAgainOf(cause: ThreadLostError): ClientError {
  return cause instanceof ThreadMemoryError ? new ClientError(400, OUT_OF_MEMORY, { cause }) : lostOf(cause);
}
