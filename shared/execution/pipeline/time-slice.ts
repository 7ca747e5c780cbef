/**
 * Bounds the time for which the rows of one page block the process. A page has up to 65,536 rows, and a
 * template may take most of a second on one. A page is therefore processed in time slices. At the end of its
 * slice, a pipeline leaves the remaining rows at the start of the selection. It continues with them after
 * other work has run.
 *
 * Pitfall: the clock is read only between rows and filters, so a slice may last longer.
 */
import { BadRequestError } from '../../base/model/errors.ts';

/**
 * Maximum time slice, ms. Long compared to its cost (about 20 µs, plus 0.2 ms per page to copy its lines).
 * Short compared to the latency of a push, which needs a dozen rounds of the event loop; each round may
 * contain a slice of a query.
 */
const MAX_SLICE_MS = 5;

/**
 * Maximum time of one row, ms. No reasonable row takes that long. A row whose stages need more is refused,
 * because nothing could interrupt it.
 */
const MAX_ROW_MS = 5_000;

export class TimeSlice {
  /**
   * Number of rows of the page that wait for the next slice, at the start of the selection; 0 if the page is
   * done.
   */
  left = 0;
  #started = 0;
  readonly #nowMs: () => number;
  readonly #sliceMs: number;

  /** @param sliceMs Length of the slice; shorter than usual for background work */
  constructor(nowMs: () => number = () => performance.now(), sliceMs = MAX_SLICE_MS) {
    this.#nowMs = nowMs;
    this.#sliceMs = sliceMs;
  }

  begin(): void {
    this.#started = this.#nowMs();
  }

  get isOver(): boolean {
    return this.#nowMs() - this.#started >= this.#sliceMs;
  }

  /** Throws BadRequestError if the stages of one row, or of the rows since the last check, take too long. */
  checkRow(): void {
    if (this.#nowMs() - this.#started >= MAX_SLICE_MS + MAX_ROW_MS) {
      throw new BadRequestError(
        `the stages of the query need more than ${MAX_ROW_MS} ms for one line; simplify them, or filter lines first`,
      );
    }
  }
}
