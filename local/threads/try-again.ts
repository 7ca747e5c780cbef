/**
 * Retries calls that were lost with their thread, one after the other. One of them may have exhausted the
 * memory of all, and then affects no others the second time.
 */
import { AdmissionQueue } from '../../shared/base/scheduling/admission-queue.ts';
import { lostAgainOf, ThreadLostError } from './thread-errors.ts';

/** More than admission control admits. */
const MAX_WAITING = 20_000;

export class TryAgain {
  readonly #queue = new AdmissionQueue({ slots: 1, maxWaiting: MAX_WAITING });

  /**
   * Rejects with the error of `call`, with the reason of the signal, and with ClientError if the call was
   * lost twice.
   */
  async run<Answer>(call: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error;
    }
    try {
      return await this.#queue.run('', signal, call);
    } catch (error) {
      throw error instanceof ThreadLostError ? lostAgainOf(error) : error;
    }
  }
}
