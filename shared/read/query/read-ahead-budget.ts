/**
 * Budget for read-ahead of all scans of one source: stored bytes of pages that were requested and not scanned
 * yet.
 */

/** Maximum stored bytes of one batch of pages, which is one read. One and a half batches are held at once. */
const MAX_BYTES = 8 * 1024 * 1024;
/** The same over a distant store, as a part of the budget: 16 MiB, and 32 MiB in a function. */
const DISTANT_MAX_SHARE = 1 / 4;
/** Minimum of a batch, used even if the budget is exhausted. */
const MIN_BYTES = 512 * 1024;
/**
 * Budget of all scans before batches get shorter: two large scans. Eight of them would hold 96 MB, most of it
 * too early.
 */
const BUDGET_BYTES = 24 * 1024 * 1024;

/** Budget over a distant store: 64 reads of 1 MiB. */
const DISTANT_BUDGET_BYTES = 64 * 1024 * 1024;
/** Budget of a function that runs one task at a time, and has its memory for it. */
export const FUNCTION_BUDGET_BYTES = 128 * 1024 * 1024;
/** Maximum batch of any process, without the page that fills it. */
export const LARGEST_BATCH_BYTES = FUNCTION_BUDGET_BYTES * DISTANT_MAX_SHARE;

export class ReadAheadBudget {
  heldBytes = 0;
  readonly #bytes: number;
  readonly #maxBatchBytes: number;

  /** @param bytes of a distant store */
  constructor(isDistant = false, bytes = DISTANT_BUDGET_BYTES) {
    this.#bytes = isDistant ? bytes : BUDGET_BYTES;
    this.#maxBatchBytes = isDistant ? bytes * DISTANT_MAX_SHARE : MAX_BYTES;
  }

  /** Maximum bytes of the next batch: half of what is left, so that other scans can read, too. */
  get batchBytes(): number {
    return Math.max(MIN_BYTES, Math.min(this.#maxBatchBytes, (this.#bytes - this.heldBytes) / 2));
  }

  get isFull(): boolean {
    return this.heldBytes >= this.#bytes;
  }
}
