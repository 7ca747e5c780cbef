/**
 * Starts a call again if it takes much longer than the others. The first result counts, and the other call is
 * aborted. A query waits for all its tasks, so one slow worker of a thousand would decide its duration.
 *
 *     late     twice the 95th percentile of recent calls, 1.3 times once half of the running calls have ended;
 *              at least 500 ms. Checked repeatedly while the call runs, because calls of the first round start
 *              before any time is known
 *     budget   one call in ten, plus three
 *     many     if more than 3% of the calls and three are late at the same time, they take longer than those
 *              before: none of them is started again until their times are known
 *
 * If the second call fails, its error is ignored. The first call continues, and may be started again later.
 *
 * Pitfall: use it only for calls that change nothing. Both calls may run to completion.
 */
import type { Clock } from '../base/ports/clock.ts';

interface StragglerFigures {
  /** Calls that were started again. */
  hedges: number;
  /** Restarted calls whose second call completed first. */
  won: number;
}

/** Number of recorded call times. */
const SAMPLES = 256;
/** Number of times that must be known before a call can be late. */
const MIN_SAMPLES = 5;
const QUANTILE = 0.95;
/**
 * Factor while few calls have ended. The first calls to end are the fastest, so a call that looks late may be
 * normal.
 */
const EARLY_LATE_FACTOR = 2;
const LATE_FACTOR = 1.3;
/** Lower bound, so that a pause of this process or a cold start is not a reason to restart a call. */
const MIN_LATE_MS = 500;
/** Interval between checks of a call while too few times are known. */
const LOOK_MS = 250;
const CALLS_PER_HEDGE = 10;
const FIRST_HEDGES = 3;
/** Share of the calls that may be late at the same time: three times the stragglers of a usual fleet. */
const MAX_LATE_SHARE = 0.03;

export class StragglerHedge {
  readonly figures: StragglerFigures = { hedges: 0, won: 0 };
  readonly #clock: Clock;
  readonly #samples = new Float64Array(SAMPLES);
  #taken = 0;
  #calls = 0;
  /** Calls in progress, and calls that have ended since none was in progress. */
  readonly #running = new Set<{ readonly startedMs: number }>();
  #ended = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs a call, at most twice. Throws the error of the first call.
   *
   * @param call called once or twice, each time with its own signal
   */
  async run<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#calls++;
    const startedMs = this.#clock.nowMs();
    const running = { startedMs };
    this.#running.add(running);
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
        if (this.#areManyLate()) {
          lookMs = this.#clock.nowMs() + LOOK_MS;
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
      // Aborts the call that is still running.
      mine.abort(new DOMException('another call completed first', 'AbortError'));
      this.#ended++;
      this.#running.delete(running);
      if (this.#running.size === 0) this.#ended = 0;
      // A refused call ends at once: it does not show how long a result takes.
      if (isAnswered) this.#samples[this.#taken++ % SAMPLES] = this.#clock.nowMs() - startedMs;
    }
  }

  #areManyLate(): boolean {
    const lateBefore = this.#clock.nowMs() - (this.#lateMs() ?? Infinity);
    let late = 0;
    // In the order in which they began.
    for (const { startedMs } of this.#running) {
      if (startedMs > lateBefore) break;
      late++;
    }
    return late > FIRST_HEDGES + MAX_LATE_SHARE * (this.#running.size + this.#ended);
  }

  #lateMs(): number | undefined {
    if (this.#taken < MIN_SAMPLES) return undefined;
    const sorted = this.#samples.slice(0, Math.min(this.#taken, SAMPLES)).sort();
    const factor = this.#ended >= this.#running.size ? LATE_FACTOR : EARLY_LATE_FACTOR;
    return Math.max(MIN_LATE_MS, factor * sorted[Math.floor((sorted.length - 1) * QUANTILE)]);
  }
}
