/** Tells about requests that are tried again: on the progress line of a terminal, elsewhere once for each problem. */
import type { ProgressLine } from './progress-line.ts';

export class RetryNotes {
  readonly #progress: ProgressLine | undefined;
  readonly #note: (text: string) => void;
  readonly #told = new Set<string>();
  #more = 0;

  constructor(progress: ProgressLine | undefined, note: (text: string) => void) {
    this.#progress = progress;
    this.#note = note;
  }

  /** For `onRetry` of a push. */
  retry(problem: string, again: string): void {
    if (this.#progress !== undefined) {
      this.#more++;
      this.#progress.wait(`${problem}; ${again}`);
    } else if (this.#told.has(problem) || this.#told.size >= MAX_TOLD) this.#more++;
    else {
      this.#told.add(problem);
      this.#note(`${problem}; ${again}`);
    }
  }

  /** Tells how many attempts it has not told about. */
  end(): void {
    if (this.#more > 0)
      this.#note(`requests were repeated ${this.#more} ${this.#told.size > 0 ? 'more ' : ''}times`);
    this.#more = 0;
  }
}

/** Messages of a store may have a number that is new each time. */
const MAX_TOLD = 10;
