/**
 * One output of a merge: the rows that wait, and the object that they are encoded into. A merge has a lane for each part of the
 * streams that it writes, usually one.
 *
 *     rows → filling batch → output → read back, compare → emit
 *                  ⇄ packed in the thread pool meanwhile
 *
 * A thread that compresses itself has one batch: it fills none meanwhile.
 */
import type { Stream } from '../../base/model/page.ts';
import type { ObjectWriter } from '../../base/ports/object-store.ts';
import type { ChunkHead, CopiedPage } from '../../storage/chunk/chunk-assembler.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import type { LevelCounts } from '../../storage/chunk/format.ts';
import { type Compression, packsInThisThread } from '../../storage/codec/compression.ts';
import type { RowHasher } from './fingerprint.ts';
import { MergeBatch } from './merge-batch.ts';
import { MergeOutput, type VerifiedChunk } from './merge-output.ts';
import type { MergeTies } from './merge-ties.ts';

interface LaneOptions {
  /** Part of the streams, of those that the merge writes (stream-part.ts). */
  readonly streamPart: number;
  /** Raw bytes that are sorted before they are encoded. */
  readonly batchBytes: number;
  /** Raw bytes of the lines that the lane may get. */
  readonly expectedBytes: number;
  readonly pageBytes: number;
  readonly compression: Compression;
  readonly hasher: RowHasher;
  /** Start of the day of all rows, Unix ns. */
  readonly dayStartNs: bigint;
  newId(): string;
  newWriter(): ObjectWriter;
  indexer?(): ChunkIndexer;
}

/** An output that was read back and has the entries that were added. */
export interface LaneOutput extends VerifiedChunk {
  readonly writer: ObjectWriter;
  readonly streamPart: number;
}

export interface PageFigures {
  readonly pages: number;
  /** Stored bytes. */
  readonly bytes: number;
}

export class MergeLane {
  readonly #options: LaneOptions;
  #filling: MergeBatch;
  /** The batch that is being encoded, or is free. Undefined if this thread compresses itself. */
  #resting: MergeBatch | undefined;
  #output: MergeOutput | undefined;
  #writer: ObjectWriter | undefined;

  constructor(options: LaneOptions) {
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
  async flush(ties: MergeTies | undefined, endsPage: boolean): Promise<void> {
    const filling = this.#filling;
    await this.#output?.packed();
    ties?.keepDigests(filling);
    const output = this.#begun();
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

  /** Adds a page as it is stored. The batch is empty. */
  async copy(page: CopiedPage): Promise<void> {
    await this.#begun().copy(page);
  }

  /** Resolves when the last batch is encoded. */
  async packed(): Promise<void> {
    await this.#output?.packed();
  }

  /** Counts rows of copied pages, when all batches are encoded. @param levels names of the levels */
  addCounts(stream: Stream, levels: readonly string[], counts: readonly LevelCounts[]): void {
    this.#begun().addCounts(stream, levels, counts);
  }

  /** Returns the verified output, or undefined if the lane has no row. The batch is empty. */
  async finish(
    head: Omit<ChunkHead, 'id'>,
    yieldIfDue: (lineBytes: number, rows: number) => Promise<void>,
  ): Promise<LaneOutput | undefined> {
    if (this.#output === undefined) return undefined;
    const verified = await this.#output.finish(head, yieldIfDue);
    return { ...verified, writer: this.#writer!, streamPart: this.#options.streamPart };
  }

  /** Frees the batches after everything else. They may not be used afterwards. */
  freeBatches(): void {
    this.#filling.free();
    this.#resting?.free();
  }

  /** Frees what is not stored, after everything else. */
  async free(): Promise<void> {
    // After an error, the last batch may still be written.
    await this.#output?.packed().catch(() => undefined);
    await this.#writer?.discard();
  }

  #begun(): MergeOutput {
    if (this.#output !== undefined) return this.#output;
    const { indexer, newId, newWriter, ...options } = this.#options;
    this.#writer = newWriter();
    this.#output = new MergeOutput(newId(), this.#writer, { ...options, indexer: indexer?.() });
    return this.#output;
  }
}
