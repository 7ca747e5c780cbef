/**
 * Runs the tasks of one query, a few at once, and hands their answers back in the order in which they were added. Answers may arrive in
 * any order: one that is early frees its place and waits to be merged, so a slow task does not hold up those behind it. A query of
 * a thousand tasks never starts a thousand, plans days only as fast as they are worked on, and its answer does not depend on which
 * worker was first.
 *
 *     added     1  2  3  4  5  6
 *     answered  x     x  x           2 is slow: 5 and 6 run meanwhile; 3 and 4 are held until 2 is merged
 */
export interface FanOutOptions {
  /** The query's; an abort ends all tasks. */
  readonly signal: AbortSignal;
  /** Tasks that run at once at the start. */
  readonly firstWidth: number;
  /** And at most: the width doubles with each answer. */
  readonly maxWidth: number;
}

interface Started {
  readonly answered: Promise<() => void>;
  readonly isWanted: () => boolean;
  isAnswered: boolean;
}

/**
 * Tasks that were begun and are not merged, for each that may run at once. Two rounds of the others go on while one task is slow; what
 * answers hold is charged to the memory of the query.
 */
const STARTED_FACTOR = 3;

export class FanOut {
  readonly #aborting = new AbortController();
  readonly #signal: AbortSignal;
  /** In the order in which they were added; none of them is merged. */
  readonly #started: Started[] = [];
  readonly #maxWidth: number;
  #running = 0;
  #width: number;
  #onAnswer: () => void = () => undefined;

  constructor({ signal, firstWidth, maxWidth }: FanOutOptions) {
    this.#signal = AbortSignal.any([signal, this.#aborting.signal]);
    this.#maxWidth = Math.max(1, maxWidth);
    this.#width = Math.min(this.#maxWidth, Math.max(1, firstWidth));
  }

  /**
   * Starts a task when there is room; `merge` is called with its answer, after those of all tasks before it. It is passed
   * over where it is not wanted any more when its turn comes. Throws what a task before it failed with, and what its merge
   * threw; all others are ended then.
   */
  async add<Answer>(
    start: (signal: AbortSignal) => Promise<Answer>,
    merge: (answer: Answer) => void,
    isWanted: () => boolean = () => true,
  ): Promise<void> {
    while (this.#running >= this.#width || this.#started.length >= STARTED_FACTOR * this.#width) {
      if (this.#started[0].isAnswered) await this.#mergeNext();
      else await this.#anyAnswer();
    }
    const answered = start(this.#signal).then(answer => () => merge(answer));
    const task: Started = { answered, isWanted, isAnswered: false };
    const note = () => {
      task.isAnswered = true;
      this.#running--;
      this.#onAnswer();
    };
    // It is awaited in its turn; until then its failure is nobody's.
    answered.then(note, note);
    this.#running++;
    this.#started.push(task);
  }

  /** Merges what has been started, until no more is wanted. Throws as `add`. */
  async drain(isOver: () => boolean = () => false): Promise<void> {
    while (this.#started.length > 0 && !isOver()) await this.#mergeNext();
  }

  /** Ends tasks whose answers nobody wants any more. To be called whenever the query ends, however it ends. */
  stop(): void {
    this.#started.length = 0;
    this.#aborting.abort();
  }

  #anyAnswer(): Promise<void> {
    return new Promise(resolve => {
      this.#onAnswer = resolve;
    });
  }

  async #mergeNext(): Promise<void> {
    try {
      const [{ answered, isWanted }] = this.#started;
      if (isWanted()) (await answered)();
    } catch (error) {
      this.stop();
      throw error;
    }
    this.#started.shift();
    this.#width = Math.min(this.#maxWidth, this.#width * 2);
  }
}
