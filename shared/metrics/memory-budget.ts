/** Counts the bytes that a query's partial results hold, and refuses the query that would hold too many. */
import { BadRequestError } from '../model/errors.ts';

/** 256 MiB a leaf: 20 million panes of a count, or 10 million samples of a quantile. */
export const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/** What may help, in the words of the refusal. */
const ADVICE_FOR_SERIES = 'reducing the number of series';

export class MemoryBudget {
  readonly maxBytes: number;
  usedBytes = 0;
  private readonly advice: string;

  constructor(maxBytes: number, advice = ADVICE_FOR_SERIES) {
    this.maxBytes = maxBytes;
    this.advice = advice;
  }

  /** To be called before the bytes are allocated. Throws BadRequestError. */
  reserve(bytes: number): void {
    this.usedBytes += bytes;
    if (this.usedBytes > this.maxBytes) {
      throw new BadRequestError(
        `the query needs more than ${this.maxBytes} bytes of memory for its partial results; consider adding ` +
          `more specific stream selectors, reducing the time range, or ${this.advice}`,
      );
    }
  }

  release(bytes: number): void {
    this.usedBytes -= bytes;
  }
}
