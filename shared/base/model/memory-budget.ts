/** Counts the bytes that a query's partial results hold, and refuses the query that would hold too many. */
import { BadRequestError } from '../model/errors.ts';

/** 256 MiB a leaf: 20 million panes of a count, or 10 million samples of a quantile. */
export const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/** What may help, in the words of the refusal. */
const ADVICE_FOR_SERIES = 'reducing the number of series';

/** What a budget is a part of: the query's, or that of all queries. */
export interface SharedMemory {
  /** Throws ClientError where there is no room; nothing is reserved then. */
  reserve(bytes: number): void;
  release(bytes: number): void;
}

export class MemoryBudget implements SharedMemory {
  readonly maxBytes: number;
  usedBytes = 0;
  readonly #advice: string;
  readonly #shared: SharedMemory | undefined;

  constructor(maxBytes: number, advice = ADVICE_FOR_SERIES, shared?: SharedMemory) {
    this.maxBytes = maxBytes;
    this.#advice = advice;
    this.#shared = shared;
  }

  /** To be called before the bytes are allocated. Throws BadRequestError. */
  reserve(bytes: number): void {
    if (this.usedBytes + bytes > this.maxBytes) {
      throw new BadRequestError(
        `the query needs more than ${this.maxBytes} bytes of memory for its partial results; consider adding ` +
          `more specific stream selectors, reducing the time range, or ${this.#advice}`,
      );
    }
    this.#shared?.reserve(bytes);
    this.usedBytes += bytes;
  }

  release(bytes: number): void {
    this.usedBytes -= bytes;
    this.#shared?.release(bytes);
  }

  /** When all that was reserved is gone. */
  releaseAll(): void {
    this.release(this.usedBytes);
  }
}
