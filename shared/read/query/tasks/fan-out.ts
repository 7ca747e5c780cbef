/**
 * Runs the tasks of one query, a bounded number at a time, and merges their results in the order in which
 * they were added. Results may arrive in any order. An early one frees its slot and waits to be merged, so a
 * slow task does not block later ones. A query of a thousand tasks never starts them all at once, and plans
 * days only as fast as they are processed. Its result does not depend on which worker was first.
 *
 *     added     1  2  3  4  5  6
 *     answered  x     x  x           2 is slow: 5 and 6 run meanwhile; 3 and 4 are held until 2 is merged
 */
interface FanOutOptions {
  /** Signal of the query. An abort ends all tasks. */
  readonly signal: AbortSignal;
  /** Initial number of concurrent tasks. */
  readonly firstWidth: number;
  /** Maximum number of concurrent tasks. The number doubles with each result. */
  readonly maxWidth: number;
  /** Called with the failure of a task. Returns true if the query continues without it. Default: it does not. */
  readonly skips?: ((error: unknown) => boolean) | undefined;
}

interface StartedTask {
  readonly answered: Promise<() => void>;
  readonly isWanted: () => boolean;
  isAnswered: boolean;
  /** Whether it has a result. */
  hasSucceeded: boolean;
}

/**
 * Maximum tasks that were started and not merged, per concurrent task. While one task is slow, two rounds of
 * others continue. Held results are charged to the memory of the query.
 */
const STARTED_FACTOR = 3;

export class FanOut {
  readonly #aborting = new AbortController();
  readonly #signal: AbortSignal;
  /** Tasks that are not merged yet, in the order in which they were added. */
  readonly #started: StartedTask[] = [];
  /** Tasks that were not merged when the fan-out stopped. */
  #left: readonly StartedTask[] = [];
  readonly #maxWidth: number;
  /** Weight of the tasks that run. */
  #running = 0;
  #merged = 0;
  #width: number;
  #onAnswer: () => void = () => undefined;
  readonly #skips: (error: unknown) => boolean;

  constructor({ signal, firstWidth, maxWidth, skips = () => false }: FanOutOptions) {
    this.#skips = skips;
    this.#signal = AbortSignal.any([signal, this.#aborting.signal]);
    this.#maxWidth = Math.max(1, maxWidth);
    this.#width = Math.min(this.#maxWidth, Math.max(1, firstWidth));
  }

  /** Raises the number of concurrent tasks to this number, if it is smaller and the maximum allows it. */
  widen(width: number): void {
    this.#width = Math.max(this.#width, Math.min(this.#maxWidth, width));
  }

  /**
   * Starts a task when a slot is free. `merge` is called with its result after those of all earlier tasks,
   * unless the result is no longer needed by then. Throws errors of earlier tasks and of their merges. All
   * other tasks are then aborted.
   *
   * @param weight concurrent tasks that it counts as
   */
  async add<Answer>(
    start: (signal: AbortSignal) => Promise<Answer>,
    merge: (answer: Answer) => void,
    isWanted: () => boolean = () => true,
    weight = 1,
  ): Promise<void> {
    const isFull = () => this.#running > 0 && this.#running + weight > this.#width;
    while (isFull() || this.#started.length >= STARTED_FACTOR * this.#width) {
      if (this.#started[0].isAnswered) await this.#mergeNext();
      else await this.#anyAnswer();
    }
    const answered = start(this.#signal).then(answer => () => merge(answer));
    const task: StartedTask = { answered, isWanted, isAnswered: false, hasSucceeded: false };
    const note = () => {
      task.isAnswered = true;
      this.#running -= weight;
      this.#onAnswer();
    };
    // It is awaited when it is merged. Until then its failure must not become an unhandled rejection.
    answered.then(() => {
      task.hasSucceeded = true;
      note();
    }, note);
    this.#running += weight;
    this.#started.push(task);
  }

  /** Merges tasks until this number of them is merged, or all that were added. Throws as `add`. */
  async mergeFirst(count: number): Promise<void> {
    while (this.#merged < count && this.#started.length > 0) await this.#mergeNext();
  }

  /** Merges started tasks until no more are needed. Throws as `add`. */
  async drain(isOver: () => boolean = () => false): Promise<void> {
    while (this.#started.length > 0 && !isOver()) await this.#mergeNext();
  }

  /** Aborts tasks whose results are no longer needed. Call it however the query ends. */
  stop(): void {
    if (this.#started.length > 0) this.#left = this.#started.splice(0);
    this.#aborting.abort();
  }

  /**
   * Stops, and merges the results that arrived, in the order of their tasks. The query continues without the
   * others.
   */
  async mergeAnswered(): Promise<void> {
    this.stop();
    for (const { answered, hasSucceeded } of this.#left) if (hasSucceeded) (await answered)();
    this.#left = [];
  }

  #anyAnswer(): Promise<void> {
    return new Promise(resolve => {
      this.#onAnswer = resolve;
    });
  }

  /** Returns undefined if the query continues without the task. Throws its error otherwise. */
  async #unlessSkipped(answered: StartedTask['answered']): Promise<(() => void) | undefined> {
    try {
      return await answered;
    } catch (error) {
      if (this.#signal.aborted || !this.#skips(error)) throw error;
      return undefined;
    }
  }

  async #mergeNext(): Promise<void> {
    try {
      const [{ answered, isWanted }] = this.#started;
      if (isWanted()) (await this.#unlessSkipped(answered))?.();
    } catch (error) {
      this.stop();
      throw error;
    }
    this.#started.shift();
    this.#merged++;
    this.#width = Math.min(this.#maxWidth, this.#width * 2);
  }
}
