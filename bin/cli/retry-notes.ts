/** Reports retried requests: on the progress line of a terminal, elsewhere once per problem. */
import type { ProgressLine } from './progress-line.ts';

export class RetryNotes {
  readonly #progress: ProgressLine | undefined;
  readonly #note: (text: string) => void;
  readonly #noted = new Set<string>();
  #more = 0;

  constructor(progress: ProgressLine | undefined, note: (text: string) => void) {
    this.#progress = progress;
    this.#note = note;
  }

  /** Handler for `onRetry` of a push. */
  retry(problem: string, again: string): void {
    if (this.#progress !== undefined) {
      this.#more++;
      this.#progress.wait(`${problem}; ${again}`);
    } else if (this.#noted.has(problem) || this.#noted.size >= MAX_NOTED) this.#more++;
    else {
      this.#noted.add(problem);
      this.#note(`${problem}; ${again}`);
    }
  }

  /** Reports the number of attempts that were not reported. */
  end(): void {
    if (this.#more > 0)
      this.#note(`requests were retried ${this.#more} ${this.#noted.size > 0 ? 'more ' : ''}times`);
    this.#more = 0;
  }
}

/** Maximum number of reported problems, because messages of a store may contain changing numbers. */
const MAX_NOTED = 10;
