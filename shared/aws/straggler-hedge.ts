/**
 * Starts a call again if it takes much longer than the others. The first answer counts, and the other call is ended. A query waits for
 * all of its parts, so one slow worker of a thousand would decide how long it takes.
 *
 *     late     twice the 95th percentile of recent calls, 1.3 times when half of the calls under way have ended; at least half a
 *              second. Looked at again while the call runs, because calls of the first round begin before any time is known
 *     budget   one call in ten, and a few more
 *
 * A second call that fails is nobody's: the first one goes on, and may be started again later.
 *
 * Pitfall: only for calls that change nothing. Both may run to their end.
 */
import type { Clock } from '../base/ports/clock.ts';

export interface StragglerFigures {
  /** Calls that were started again. */
  hedges: number;
  /** Of those, the ones whose second call was answered first. */
  won: number;
}

/** Times of calls that are remembered. */
const SAMPLES = 256;
/** Times that must be known before any call is late. */
const MIN_SAMPLES = 5;
const QUANTILE = 0.95;
/** The first calls to end are the fastest: what is late by them may be usual. */
const EARLY_LATE_FACTOR = 2;
const LATE_FACTOR = 1.3;
/** A pause of this process or a cold start is no reason. */
const MIN_LATE_MS = 500;
/** Between two looks at a call while too few times are known. */
const LOOK_MS = 250;
const CALLS_PER_HEDGE = 10;
const FIRST_HEDGES = 3;

export class StragglerHedge {
  readonly figures: StragglerFigures = { hedges: 0, won: 0 };
  readonly #clock: Clock;
  readonly #samples = new Float64Array(SAMPLES);
  #taken = 0;
  #calls = 0;
  /** Calls under way, and those that have ended since there was none. */
  #running = 0;
  #ended = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param call called once or twice, each time with a signal of its own. Throws what the first call throws. */
  async run<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#calls++;
    this.#running++;
    const startedMs = this.#clock.nowMs();
    const [mine, ended] = [new AbortController(), new AbortController()];
    const begin = () => call(AbortSignal.any([signal, mine.signal]));
    const first = begin();
    let isOver = false;
    const over = (): void => {
      isOver = true;
      ended.abort(new DOMException('the call has ended', 'AbortError'));
    };
    first.then(over, over);
    let lookMs = 0;
    let isAnswered = false;
    const answer = async (answered: Promise<T>): Promise<T> => {
      const result = await answered;
      isAnswered = true;
      return result;
    };
    try {
      while (!isOver && !signal.aborted) {
        const waitMs = Math.max(lookMs, startedMs + (this.#lateMs() ?? Infinity)) - this.#clock.nowMs();
        if (waitMs > 0) {
          await this.#clock.sleep(Math.min(waitMs, LOOK_MS), ended.signal).catch(() => undefined);
          continue;
        }
        if (this.figures.hedges >= FIRST_HEDGES + this.#calls / CALLS_PER_HEDGE) break;
        this.figures.hedges++;
        const second = begin();
        const end = await Promise.race([
          first.then(
            () => 'first',
            () => 'first failed',
          ),
          second.then(
            () => 'second',
            () => 'second failed',
          ),
        ]);
        if (end === 'first' || end === 'second') {
          if (end === 'second') this.figures.won++;
          return await answer(end === 'first' ? first : second);
        }
        if (end === 'first failed') return await answer(second.catch(() => first));
        lookMs = this.#clock.nowMs() + LOOK_MS;
      }
      return await answer(first);
    } finally {
      // Ends what is still under way.
      mine.abort(new DOMException('another call was answered first', 'AbortError'));
      this.#ended++;
      if (--this.#running === 0) this.#ended = 0;
      // A refused call ends at once: it does not show how long an answer takes.
      if (isAnswered) this.#samples[this.#taken++ % SAMPLES] = this.#clock.nowMs() - startedMs;
    }
  }

  #lateMs(): number | undefined {
    if (this.#taken < MIN_SAMPLES) return undefined;
    const sorted = this.#samples.slice(0, Math.min(this.#taken, SAMPLES)).sort();
    const factor = this.#ended >= this.#running ? LATE_FACTOR : EARLY_LATE_FACTOR;
    return Math.max(MIN_LATE_MS, factor * sorted[Math.floor((sorted.length - 1) * QUANTILE)]);
  }
}
