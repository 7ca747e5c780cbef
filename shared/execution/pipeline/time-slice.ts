/**
 * How long the rows of one page may keep the process to themselves. A page holds up to 65,536 rows and a template may
 * take most of a second on one, so a page is worked on in turns: a pipeline whose turn is over leaves the rows it has
 * not looked at at the start of the selection, and is run on them again when others have had the process. What a
 * reader would get wrong: the time is looked at between rows and filters only, so a turn may last longer.
 */
import { BadRequestError } from '../../base/model/errors.ts';

/**
 * Long against what a turn costs (some 20 us, and once a page 0.2 ms to keep its lines), short against what a push waits: it
 * needs a dozen rounds of the event loop, each of which may bring a turn of somebody's query.
 */
const MAX_SLICE_MS = 5;

/** No reasonable row takes as long: one whose stages together need more is refused, as nothing can end it. */
const MAX_ROW_MS = 5_000;

export class TimeSlice {
  /** Rows of the page that wait for the next turn, at the start of the selection; 0 where the page is done. */
  left = 0;
  #started = 0;
  readonly #nowMs: () => number;
  readonly #turnMs: number;

  /** @param turnMs for work that nobody waits for, less than usual */
  constructor(nowMs: () => number = () => performance.now(), turnMs = MAX_SLICE_MS) {
    this.#nowMs = nowMs;
    this.#turnMs = turnMs;
  }

  begin(): void {
    this.#started = this.#nowMs();
  }

  get isOver(): boolean {
    return this.#nowMs() - this.#started >= this.#turnMs;
  }

  /** Throws BadRequestError where the stages of one row, or of the rows since the last look, go on and on. */
  checkRow(): void {
    if (this.#nowMs() - this.#started >= MAX_SLICE_MS + MAX_ROW_MS) {
      throw new BadRequestError(`the stages of the query need more than ${MAX_ROW_MS} ms for one line`);
    }
  }
}
