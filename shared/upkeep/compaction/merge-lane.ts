/**
 * One output of a merge: the rows that wait, and the object that they are encoded into. A merge has a lane for each part of the
 * streams that it writes, usually one.
 *
 *     rows → batch of their syntax → output → read back, compare → emit
 *
 * Streams whose lines differ in syntax share no page (line-syntax.ts).
 */
import type { Stream } from '../../base/model/page.ts';
import type { ObjectWriter } from '../../base/ports/object-store.ts';
import type { ChunkHead, CopiedPage } from '../../storage/chunk/chunk-assembler.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import type { LevelCounts } from '../../storage/chunk/format.ts';
import type { Compression } from '../../storage/codec/compression.ts';
import type { RowHasher } from './fingerprint.ts';
import type { LineSyntax } from './line-syntax.ts';
import { MergeOutput, type VerifiedChunk } from './merge-output.ts';
import type { MergeTies } from './merge-ties.ts';
import { WaitingRows } from './waiting-rows.ts';

interface LaneOptions {
  /** Part of the streams, of those that the merge writes (stream-part.ts). */
  readonly streamPart: number;
  /** Raw bytes of a syntax that are sorted before they are encoded. */
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
  readonly #waiting = new Map<LineSyntax, WaitingRows>();
  #output: MergeOutput | undefined;
  #writer: ObjectWriter | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Returns the rows of a syntax that wait. Streams of one syntax share pages. */
  waiting(syntax: LineSyntax): WaitingRows {
    const known = this.#waiting.get(syntax);
    if (known !== undefined) return known;
    const begun = new WaitingRows(this.#options);
    this.#waiting.set(syntax, begun);
    return begun;
  }

  /** Returns the waiting rows of all syntaxes. */
  get allWaiting(): Iterable<WaitingRows> {
    return this.#waiting.values();
  }

  /**
   * Passes rows that wait to the output.
   * @param ties, endsPage see WaitingRows.flush
   */
  async flush(waiting: WaitingRows, ties: MergeTies | undefined, endsPage: boolean): Promise<void> {
    await waiting.flush(this.#begun(), ties, endsPage);
  }

  /** Adds a page as it is stored. No rows wait. */
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

  /** Returns the verified output, or undefined if the lane has no row. No rows wait. */
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
    for (const rows of this.#waiting.values()) rows.free();
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
