/**
 * Rows of one line syntax that wait to be encoded into an output of a merge.
 *
 *     rows → filling batch → output
 *                  ⇄ packed in the thread pool meanwhile
 *
 * A thread that compresses itself has one batch: it fills none meanwhile.
 */
import { packsInThisThread } from '../../storage/codec/compression.ts';
import { MergeBatch } from './merge-batch.ts';
import type { MergeOutput } from './merge-output.ts';
import type { MergeTies } from './merge-ties.ts';

interface WaitingOptions {
  /** Raw bytes that are sorted before they are encoded. */
  readonly batchBytes: number;
  /** Raw bytes of the lines that may be added. */
  readonly expectedBytes: number;
  readonly pageBytes: number;
}

export class WaitingRows {
  readonly #options: WaitingOptions;
  #filling: MergeBatch;
  /** The batch that is being encoded, or is free. Undefined if this thread compresses itself. */
  #resting: MergeBatch | undefined;

  constructor(options: WaitingOptions) {
    this.#options = options;
    this.#filling = this.#newBatch();
  }

  #newBatch(): MergeBatch {
    const { batchBytes, pageBytes, expectedBytes } = this.#options;
    return new MergeBatch(batchBytes, pageBytes, expectedBytes);
  }

  /** The batch of the next rows. */
  get batch(): MergeBatch {
    return this.#filling;
  }

  /**
   * Returns true if the batch must be written before the next row, which may or may not continue the tie.
   * @param stream, lineBytes of the row, see MergeBatch.endsBefore
   */
  refuses(goesOn: boolean, stream: number, lineBytes: number): boolean {
    const batch = this.#filling;
    return goesOn ? batch.overflowing : batch.full || batch.endsBefore(stream, lineBytes);
  }

  /**
   * Passes the batch, which has rows, to the output. The next rows go to the other one meanwhile, if there is one.
   * @param ties of the next row, if it has the stream and timestamp of the last
   * @param endsPage whether the next row begins a page, or none follows
   */
  async flush(output: MergeOutput, ties: MergeTies | undefined, endsPage: boolean): Promise<void> {
    const filling = this.#filling;
    await output.packed();
    ties?.keepDigests(filling);
    output.add(filling.toRows(), filling.sum.value, endsPage);
    if (packsInThisThread()) {
      await output.packed();
      filling.clear();
    } else {
      this.#resting?.clear();
      this.#filling = this.#resting ?? this.#newBatch();
      this.#resting = filling;
    }
    this.#filling.continuePage(endsPage ? undefined : filling);
  }

  /** Frees the batches. They may not be used afterwards. */
  free(): void {
    this.#filling.free();
    this.#resting?.free();
  }
}
