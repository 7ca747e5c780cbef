/**
 * Budget for read-ahead of all scans of one source: stored bytes of pages that were requested and not scanned
 * yet.
 */

/** Maximum stored bytes of one batch of pages, which is one read. One and a half batches are held at once. */
const MAX_BYTES = 8 * 1024 * 1024;
const DISTANT_MAX_BYTES = 16 * 1024 * 1024;
/** Minimum of a batch, used even if the budget is exhausted. */
const MIN_BYTES = 512 * 1024;
/**
 * Budget of all scans before batches get shorter: two large scans. Eight of them would hold 96 MB, most of it
 * too early.
 */
const BUDGET_BYTES = 24 * 1024 * 1024;

/** Budget over a distant store: 64 reads of 1 MiB. */
const DISTANT_BUDGET_BYTES = 64 * 1024 * 1024;

export class ReadAheadBudget {
  heldBytes = 0;
  readonly #bytes: number;
  readonly #maxBatchBytes: number;

  constructor(isDistant = false) {
    this.#bytes = isDistant ? DISTANT_BUDGET_BYTES : BUDGET_BYTES;
    this.#maxBatchBytes = isDistant ? DISTANT_MAX_BYTES : MAX_BYTES;
  }

  /** Maximum bytes of the next batch: half of what is left, so that other scans can read, too. */
  get batchBytes(): number {
    return Math.max(MIN_BYTES, Math.min(this.#maxBatchBytes, (this.#bytes - this.heldBytes) / 2));
  }

  get isFull(): boolean {
    return this.heldBytes >= this.#bytes;
  }
}
