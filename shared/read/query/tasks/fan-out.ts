/**
 * Runs the tasks of one query, a few at once, and hands their answers back in the order in which they were added. So a query
 * of a thousand tasks never starts a thousand, plans days only as fast as they are worked on, and its answer does not depend
 * on which worker was first.
 */
export interface FanOutOptions {
  /** The query's; an abort ends all tasks. */
  readonly signal: AbortSignal;
  /** Tasks that run at once at the start. */
  readonly firstWidth: number;
  /** And at most: the width doubles with each answer. */
  readonly maxWidth: number;
}

interface Running {
  readonly answered: Promise<() => void>;
  readonly isWanted: () => boolean;
}

export class FanOut {
  private readonly aborting = new AbortController();
  private readonly signal: AbortSignal;
  private readonly running: Running[] = [];
  private readonly maxWidth: number;
  private width: number;

  constructor({ signal, firstWidth, maxWidth }: FanOutOptions) {
    this.signal = AbortSignal.any([signal, this.aborting.signal]);
    this.maxWidth = Math.max(1, maxWidth);
    this.width = Math.min(this.maxWidth, Math.max(1, firstWidth));
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
    while (this.running.length >= this.width) await this.mergeNext();
    const answered = start(this.signal).then(answer => () => merge(answer));
    // It is awaited in its turn; until then its failure is nobody's.
    answered.catch(() => undefined);
    this.running.push({ answered, isWanted });
  }

  /** Merges what has been started, until no more is wanted. Throws as `add`. */
  async drain(isOver: () => boolean = () => false): Promise<void> {
    while (this.running.length > 0 && !isOver()) await this.mergeNext();
  }

  /** Ends tasks whose answers nobody wants any more. To be called whenever the query ends, however it ends. */
  stop(): void {
    this.running.length = 0;
    this.aborting.abort();
  }

  private async mergeNext(): Promise<void> {
    try {
      const [{ answered, isWanted }] = this.running;
      if (isWanted()) (await answered)();
    } catch (error) {
      this.stop();
      throw error;
    }
    this.running.shift();
    this.width = Math.min(this.maxWidth, this.width * 2);
  }
}
