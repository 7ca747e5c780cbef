/** Errors of calls to a thread that ended, and what a client hears of them. */
import { ClientError } from '../../shared/base/model/errors.ts';

/** The thread ended by itself while it was working on the call. */
export class ThreadLostError extends Error {
  override readonly name: string = 'ThreadLostError';
}

/** The same, because its heap was too small. */
export class ThreadMemoryError extends ThreadLostError {
  override readonly name = 'ThreadMemoryError';
}

const LOST = 'a part of the server was restarted while it worked on the request; please send it again';
const OUT_OF_MEMORY = 'the query needs more memory than its thread has; reduce the time range or the limit';

/** Of a call that may have been lost through no fault of its own. */
export function lostOf(cause: ThreadLostError): ClientError {
  return new ClientError(503, LOST, { cause });
}

/** Of a call that was tried again by itself: if that took all memory, the client is not asked to send it once more. */
export function lostAgainOf(cause: ThreadLostError): ClientError {
  return cause instanceof ThreadMemoryError ? new ClientError(400, OUT_OF_MEMORY, { cause }) : lostOf(cause);
}
