/**
 * Calls that were lost with their thread are tried once more, one after the other: one of them may have taken the memory of all, and
 * takes no other with it the second time.
 */
import { AdmissionQueue } from '../../shared/base/scheduling/admission-queue.ts';
import { lostAgainOf, ThreadLostError } from './thread-errors.ts';

/** More than admission control lets through. */
const MAX_WAITING = 20_000;

export class TryAgain {
  readonly #queue = new AdmissionQueue({ slots: 1, maxWaiting: MAX_WAITING });

  /** Rejects with what `call` rejects with, with the reason of the signal, and with ClientError if the call was lost twice. */
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
