/**
 * Merges chunks of one tenant and day into one: a streaming merge by stream and timestamp. Each input has one
 * page, which is decoded if another input has rows among its own. Rows are added to batches, batches to an
 * object. For the memory limits, see merge-bounds.ts.
 *
 *     inputs → cursors → heap → (dropped? repeat?) → batch → output → read back, compare → emit
 *                          |                         batch ⇄ packed in the thread pool meanwhile
 *                          +--- whole pages, as they are stored ---↑
 *
 * Pages of final chunks whose rows stay together are copied with their columns and index parts. So a row is
 * encoded well once, and merging the chunks of an hour or a day costs little. A page with rows of streams that
 * continue in another input is decoded: one page with all rows of a small stream is cheaper to query than many
 * with a few.
 *
 * Entries are a set: equal ones (stream, timestamp, line, metadata) become one row, in one input or across
 * inputs, at the position of the first. The result does not depend on the order of the list of inputs.
 * Entries of one stream and timestamp are in the order of their chunks
 * (shared/storage/catalog/chunk-order.ts), then of their rows, as queries order those of the inputs. Among
 * chunks outside the merge, the output takes the position of the oldest input. It is one chunk whatever its
 * size, because two would need two positions. The caller limits its size by its choice of inputs.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { freePooledBuffers } from '../../base/model/buffer-pool.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import { invariant } from '../../base/model/errors.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import type { ObjectWriter } from '../../base/ports/object-store.ts';
import { compareChunks, oldestOrigin } from '../../storage/catalog/chunk-order.ts';
import type { WrittenChunk } from '../../storage/chunk/chunk-assembler.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import { PAGE_TARGET_BYTES, type PageMeta } from '../../storage/chunk/format.ts';
import { mayRepeatItself } from '../../storage/chunk/metadata-column.ts';
import type { Compression } from '../../storage/codec/compression.ts';
import { FingerprintSum, RowHasher } from './fingerprint.ts';
import { MergeBatch } from './merge-batch.ts';
import {
  BATCH_BYTES,
  COPIED_SHARE,
  CRUMB_SHARE,
  MAX_OPEN_PAGES_BYTES,
  MergeTooLargeError,
  openPagesBytes,
  READ_BUDGET_BYTES,
  SLICE_BYTES,
  SLICE_ROWS,
} from './merge-bounds.ts';
import { MergeCursor } from './merge-cursor.ts';
import { CursorHeap, compareCursors } from './merge-heap.ts';
import { assertPreserved, MergeOutput, unhashed } from './merge-output.ts';
import type { MergeInput } from './merge-reader.ts';
import { MergeTies } from './merge-ties.ts';

export { COMPACTION_COMPRESSION } from '../../storage/codec/compression.ts';
export type { MergeInput } from './merge-reader.ts';

export interface MergeOptions {
  readonly tenant: string;
  /** UTC day since 1970-01-01, that of all inputs. */
  readonly day: number;
  /** Level of the output. */
  readonly level: number;
  /** Returns the ID of the output. Called when its writing begins. */
  newId(): string;
  /** Returns the writer of the output. Called when its writing begins. */
  newWriter(): ObjectWriter;
  /** Unix ms. */
  readonly createdMs: number;
  readonly compression: Compression;
  /** Called when the writing of the output begins. Default: the output contains only entries. */
  readonly indexer?: () => ChunkIndexer;
  /** Raw bytes of the lines of a page. Default: PAGE_TARGET_BYTES. */
  readonly pageBytes?: number;
  /** Raw bytes that are sorted before they are encoded. Default: BATCH_BYTES. */
  readonly batchBytes?: number;
  /** Maximum bytes that are read ahead of all inputs, if a page of each fits. Default: READ_BUDGET_BYTES. */
  readonly readBudgetBytes?: number;
  /**
   * Returns 1 for each row to remove, or undefined if all rows stay. Called once for each page of the inputs
   * with all columns decoded. The page is valid until the result is returned.
   */
  dropRows?(page: PageRows, input: MergeInput): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Returns false if `dropRows` removes no row of the stream from the input. Default: it may. */
  mayDrop?(stream: Stream, input: MergeInput): boolean;
  readonly signal?: AbortSignal;
  /** Called every few milliseconds, so that other work can run. */
  pause?(): Promise<void>;
}

export interface MergeSummary {
  /** Rows of the inputs: `duplicates + dropped + rowsOut`. */
  readonly rowsIn: number;
  readonly duplicates: number;
  readonly dropped: number;
  readonly rowsOut: number;
  /** Raw bytes of the lines that were written. */
  readonly lineBytes: number;
  /** Stored bytes of the output. */
  readonly outputBytes: number;
  /** Pages of the output that were copied from inputs. */
  readonly copied: PageFigures;
  readonly encoded: PageFigures;
}

export interface PageFigures {
  readonly pages: number;
  /** Stored bytes. */
  readonly bytes: number;
}

/** Stores the verified output, whose bytes the writer has. */
type EmitChunk = (chunk: WrittenChunk, writer: ObjectWriter) => Promise<void>;

/**
 * Calls `emit` with the verified output, or not at all if no row stays. Throws CorruptionError if an input is
 * corrupt, MergeTooLargeError if the inputs are too many for one merge, the reason of `signal`, and what
 * `read`, `dropRows`, `pause` and `emit` throw. Nothing is emitted after an error.
 */
export async function mergeChunks(
  inputs: readonly MergeInput[],
  options: MergeOptions,
  emit: EmitChunk,
): Promise<MergeSummary> {
  const merge = new Merge(inputs, options, emit);
  try {
    return await merge.run();
  } finally {
    await merge.free();
    // 40 MB that would otherwise wait for the next merge.
    freePooledBuffers();
  }
}

class Merge {
  readonly #options: MergeOptions;
  readonly #emit: EmitChunk;
  /** Ordered by age. */
  readonly #inputs: readonly MergeInput[];
  /** Streams of all inputs, ascending. */
  readonly #streams: readonly Stream[];
  readonly #cursors: readonly MergeCursor[];
  readonly #hasher = new RowHasher();
  readonly #ties = new MergeTies();
  #filling: MergeBatch;
  /** The batch that is being encoded, or is free. */
  #resting: MergeBatch | undefined;
  readonly #batchBytes: number;
  readonly #pageBytes: number;
  #output: MergeOutput | undefined;
  #writer: ObjectWriter | undefined;
  readonly #read = new FingerprintSum();
  readonly #left = new FingerprintSum();
  readonly #written = new FingerprintSum();
  #duplicates = 0;
  #dropped = 0;
  #outputBytes = 0;
  #copied = NO_PAGES;
  #encoded = NO_PAGES;
  #sliceBytes = 0;
  #sliceRows = 0;

  constructor(inputs: readonly MergeInput[], options: MergeOptions, emit: EmitChunk) {
    this.#options = options;
    this.#emit = emit;
    this.#inputs = inputs.slice().sort((a, b) => compareChunks(a.footer, b.footer));
    checkInputs(this.#inputs, options);
    this.#streams = streamsOf(this.#inputs);
    this.#cursors = this.#makeCursors();
    this.#batchBytes = options.batchBytes ?? BATCH_BYTES;
    this.#pageBytes = options.pageBytes ?? PAGE_TARGET_BYTES;
    this.#filling = new MergeBatch(this.#batchBytes);
  }

  async run(): Promise<MergeSummary> {
    const heap = new CursorHeap(await this.#begin());
    for (let cursor = heap.first; cursor !== undefined; cursor = heap.first) {
      // The cursor's row is the next of all rows: the batch contains everything before it.
      if (!cursor.isBegun && (await this.#copies(cursor, heap.second))) {
        await this.#yieldIfDue(cursor.meta.storedBytes, 0);
      } else {
        if (!cursor.isBegun) await this.#beginPage(cursor);
        const goesOn = this.#ties.goesOn(cursor.stream, cursor.time);
        if (this.#refuses(goesOn)) await this.#flush(goesOn);
        if (this.#takeRows(cursor, heap.second)) {
          heap.firstMoved();
          continue;
        }
        await this.#yieldIfDue(cursor.meta.lineBytes, cursor.meta.rows);
      }
      if (await cursor.nextPage()) heap.firstMoved();
      else heap.dropFirst();
    }
    await this.#flush(false);
    await this.#finishOutput();
    this.#filling.free();
    this.#resting?.free();
    const { rows, lineBytes } = this.#written.value;
    return {
      rowsIn: this.#read.value.rows,
      duplicates: this.#duplicates,
      dropped: this.#dropped,
      rowsOut: rows,
      lineBytes,
      outputBytes: this.#outputBytes,
      copied: this.#copied,
      encoded: this.#encoded,
    };
  }

  /** Frees what is not stored, after everything else. */
  async free(): Promise<void> {
    // After an error, the last batch may still be written.
    await this.#output?.packed().catch(() => undefined);
    await this.#writer?.discard();
  }

  #makeCursors(): MergeCursor[] {
    const inputs = this.#inputs;
    const streams = this.#streams;
    const hasher = this.#hasher;
    const options = this.#options;
    const indexOf = new Map(streams.map(({ text }, i) => [text, i]));
    const { readBudgetBytes = READ_BUDGET_BYTES } = options;
    const maxReadBytes = Math.floor(readBudgetBytes / 2 / Math.max(inputs.length, 1));
    return inputs.map((input, order) => {
      const streamIndexes = Uint32Array.from(input.footer.streams, ({ text }) => indexOf.get(text)!);
      const dropRows = options.dropRows && ((page: PageRows) => options.dropRows!(page, input));
      return new MergeCursor(input, { order, streamIndexes, maxReadBytes, hasher, dropRows });
    });
  }

  /** Requests the first pages, all at once. Returns the cursors that have one. */
  async #begin(): Promise<MergeCursor[]> {
    const cursors = this.#cursors;
    for (const cursor of cursors) cursor.startReading();
    const begun: MergeCursor[] = [];
    for (const cursor of cursors) if (await cursor.nextPage()) begun.push(cursor);
    return begun;
  }

  async #beginPage(cursor: MergeCursor): Promise<void> {
    await cursor.open();
    cursor.isBegun = true;
    this.#read.addPage(cursor.page, cursor.page.hashes);
  }

  /** Copies the page of the first cursor, if all of its rows come next and stay. Returns false otherwise. */
  async #copies(cursor: MergeCursor, rival: MergeCursor | undefined): Promise<boolean> {
    const { input, meta } = cursor;
    const { copySource } = input;
    if (copySource === undefined || meta.lineBytes < this.#pageBytes * COPIED_SHARE) return false;
    if (this.#ties.goesOn(cursor.stream, cursor.time) || !endsBefore(cursor, rival)) return false;
    if (mayRepeatItself(meta) || (await this.#leavesCrumb(meta))) return false;
    if (this.#mayDrop(meta, input)) {
      await cursor.open();
      if (cursor.page.dropped !== undefined) return false;
    }
    const stored = await cursor.takeStored(copySource);
    if (stored === undefined) return false;
    await this.#flush(false);
    this.#output ??= this.#newOutput();
    await this.#output.copy(stored);
    this.#read.add(unhashed(meta));
    const { stream, time } = cursor.end;
    this.#ties.begin(stream, time, 0);
    return true;
  }

  #mayDrop({ runs }: PageMeta, input: MergeInput): boolean {
    const { mayDrop = () => this.#options.dropRows !== undefined } = this.#options;
    return runs.some(({ stream }) => mayDrop(input.footer.streams[stream], input));
  }

  /** Returns true if copying a page would leave a page of a few rows before it, although both fit into one. */
  async #leavesCrumb({ lineBytes }: PageMeta): Promise<boolean> {
    await this.#output?.packed();
    const waiting = this.#filling.lineBytes + (this.#output?.openBytes ?? 0);
    const isCrumb = waiting > 0 && waiting < this.#pageBytes * CRUMB_SHARE;
    return isCrumb && waiting + lineBytes <= this.#pageBytes;
  }

  #newOutput(): MergeOutput {
    const { compression, indexer } = this.#options;
    this.#writer = this.#options.newWriter();
    return new MergeOutput(this.#options.newId(), this.#writer, compression, {
      indexer: indexer?.(),
      pageBytes: this.#pageBytes,
    });
  }

  /**
   * Adds rows of the first cursor until another cursor comes first, its page ends or the batch must be
   * written. Returns false if the page has ended.
   */
  #takeRows(cursor: MergeCursor, rival: MergeCursor | undefined): boolean {
    const ties = this.#ties;
    const batch = this.#filling;
    const streams = this.#streams;
    const left = this.#left;
    const { page } = cursor;
    const { dropped, hashes, lineOffsets } = page;
    do {
      const { row, stream, time } = cursor;
      if (rival !== undefined && compareCursors(cursor, rival) > 0) return true;
      if (dropped !== undefined && dropped[row] === 1) {
        this.#dropped++;
        left.addRow(hashes, row, lineOffsets[row + 1] - lineOffsets[row]);
        continue;
      }
      const goesOn = ties.goesOn(stream, time);
      if (this.#refuses(goesOn)) return true;
      if (!goesOn) ties.begin(stream, time, batch.rows);
      batch.lay(page, row, stream, time);
      if (goesOn && ties.isRepeat(batch)) {
        this.#duplicates++;
        left.addRow(hashes, row, lineOffsets[row + 1] - lineOffsets[row]);
      } else batch.keep(page, row, streams);
    } while (cursor.advance());
    return false;
  }

  /** Returns true if the batch must be written before the next row, which may or may not continue the tie. */
  #refuses(goesOn: boolean): boolean {
    return goesOn ? this.#filling.overflowing : this.#filling.full;
  }

  /**
   * Passes the batch to the output, and fills the other one meanwhile.
   * @param goesOn the next row has the stream and timestamp of the last
   */
  async #flush(goesOn: boolean): Promise<void> {
    const filling = this.#filling;
    if (filling.rows === 0) return;
    await this.#output?.packed();
    if (goesOn) this.#ties.keepDigests(filling);
    this.#output ??= this.#newOutput();
    this.#output.add(filling.toRows(), filling.sum.value);
    this.#resting?.clear();
    this.#filling = this.#resting ?? new MergeBatch(this.#batchBytes);
    this.#resting = filling;
    await this.#yieldIfDue(SLICE_BYTES, 0);
  }

  /** Everything that was read must be accounted for before the output is emitted. */
  async #finishOutput(): Promise<void> {
    const output = this.#output;
    const options = this.#options;
    const hasher = this.#hasher;
    const written = this.#written;
    let verified: Awaited<ReturnType<MergeOutput['finish']>> | undefined;
    if (output !== undefined) {
      const { tenant, day, level, createdMs } = options;
      const footers = this.#inputs.map(({ footer }) => footer);
      const inputs = footers.map(({ id }) => id);
      const head = { tenant, day, level, createdMs, inputs, origin: oldestOrigin(footers) };
      const yieldIfDue = (lineBytes: number, rows: number) => this.#yieldIfDue(lineBytes, rows);
      verified = await output.finish(head, { hasher, yieldIfDue });
      written.add(verified.fingerprint);
    }
    const accounted = new FingerprintSum();
    accounted.add(written.value);
    accounted.add(this.#left.value);
    assertPreserved(this.#read.value, accounted.value, 'the merge');
    if (verified === undefined) return;
    options.signal?.throwIfAborted();
    const { footer, copied, bytes } = verified.chunk;
    await this.#emit(verified.chunk, this.#writer!);
    this.#outputBytes = bytes;
    this.#copied = pagesOf(footer.pages.filter((_, i) => copied[i]));
    this.#encoded = pagesOf(footer.pages.filter((_, i) => !copied[i]));
  }

  /** Yields to other work after enough work. Throws when aborted. */
  async #yieldIfDue(lineBytes: number, rows: number): Promise<void> {
    this.#sliceBytes += lineBytes;
    this.#sliceRows += rows;
    if (this.#sliceBytes < SLICE_BYTES && this.#sliceRows < SLICE_ROWS) return;
    this.#sliceBytes = 0;
    this.#sliceRows = 0;
    const { pause, signal } = this.#options;
    await (pause === undefined ? nextTurn() : pause());
    signal?.throwIfAborted();
  }
}

const NO_PAGES: PageFigures = { pages: 0, bytes: 0 };

function pagesOf(pages: readonly PageMeta[]): PageFigures {
  return { pages: pages.length, bytes: pages.reduce((sum, { storedBytes }) => sum + storedBytes, 0) };
}

/** Returns true if all rows of the cursor's page are before the rival's row, by stream and timestamp. */
function endsBefore(cursor: MergeCursor, rival: MergeCursor | undefined): boolean {
  if (rival === undefined) return true;
  const { stream, time } = cursor.end;
  return stream < rival.stream || (stream === rival.stream && time < rival.time);
}

function checkInputs(inputs: readonly MergeInput[], { tenant, day }: MergeOptions): void {
  for (let i = 0; i < inputs.length; i++) {
    const { footer } = inputs[i];
    invariant(footer.tenant === tenant && footer.day === day, 'a merge has chunks of one tenant and day');
    invariant(i === 0 || inputs[i - 1].footer.id !== footer.id, 'a merge has each chunk once');
  }
  const bytes = openPagesBytes(inputs);
  if (bytes > MAX_OPEN_PAGES_BYTES) {
    throw new MergeTooLargeError(
      `${inputs.length} chunks have open pages of ${bytes} bytes, more than ${MAX_OPEN_PAGES_BYTES}`,
    );
  }
}

function streamsOf(inputs: readonly MergeInput[]): Stream[] {
  const byText = new Map<string, Stream>();
  for (const { footer } of inputs) {
    for (const stream of footer.streams) if (!byText.has(stream.text)) byText.set(stream.text, stream);
  }
  return [...byText.values()].sort((a, b) => compareUtf8(a.text, b.text));
}
