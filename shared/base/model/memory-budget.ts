/** Counts the bytes of a query's partial results, and refuses the query if they exceed its budget. */
import { BadRequestError } from '../model/errors.ts';

/**
 * Memory budget of a leaf task: 256 MiB hold 20 million panes of a count, or 10 million samples of a
 * quantile.
 */
export const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/** Advice in the error message, if the caller gives none. */
const ADVICE_FOR_SERIES = 'reducing the number of series';

/** Memory limit that a budget is part of: that of the query, or of all queries. */
export interface SharedMemory {
  /** Throws ClientError if the limit would be exceeded; then nothing is reserved. */
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

  /** Reserves the bytes; call it before allocating them. Throws BadRequestError. */
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

  /** Releases everything that is still reserved. */
  releaseAll(): void {
    this.release(this.usedBytes);
  }
}
