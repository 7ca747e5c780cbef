/**
 * Merges chunks of one tenant and day into one, or into one for each part of the streams. Pages are copied first,
 * then rows are merged by stream and timestamp, with one page of each input in memory. Rows are added to batches,
 * batches to an object (merge-lane.ts). For the memory limits, see merge-bounds.ts.
 *
 *     inputs → pages apart, as they are stored ----------------↓
 *       └----→ cursors → heap → (dropped? repeat?) → lane of the part → emit
 *
 * Pages of final chunks are copied with their columns and index parts if no other input has rows among theirs
 * (apart-pages.ts), whatever streams they have. So a row is encoded well once, and merging the chunks of an hour or a
 * day costs little. Two kinds of pages are merged all the same, because each page that a query reads costs it a
 * request: small ones, and those with very short runs. Rows of a small stream are then together.
 *
 * Entries are a set: equal ones (stream, timestamp, line, metadata) become one row, in one input or across
 * inputs, at the position of the first. The result does not depend on the order of the list of inputs.
 * Entries of one stream and timestamp are in the order of their chunks
 * (shared/storage/catalog/chunk-order.ts), then of their rows, as queries order those of the inputs. Among
 * chunks outside the merge, an output takes the position of the oldest input. Outputs of different parts have no
 * common stream, so they share the position. A part is one chunk whatever its size, because two would need two
 * positions. The caller limits its size by its choice of inputs.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compareUtf8 } from '../../base/model/bytes.ts';
import { invariant } from '../../base/model/errors.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { ObjectWriter } from '../../base/ports/object-store.ts';
import { compareChunks, oldestOrigin } from '../../storage/catalog/chunk-order.ts';
import { partOfStream } from '../../storage/catalog/stream-part.ts';
import type { WrittenChunk } from '../../storage/chunk/chunk-assembler.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import { PAGE_TARGET_BYTES, type PageMeta } from '../../storage/chunk/format.ts';
import type { Compression } from '../../storage/codec/compression.ts';
import { CopiedCounts } from './copied-counts.ts';
import { FingerprintSum, RowHasher } from './fingerprint.ts';
import { LINE_SYNTAXES, type LineSyntax, lineSyntax } from './line-syntax.ts';
import { BATCH_BYTES, SLICE_BYTES, SLICE_ROWS } from './merge-bounds.ts';
import type { MergeCursor, MergeRows } from './merge-cursor.ts';
import { CursorHeap, compareCursors } from './merge-heap.ts';
import { type LaneOutput, MergeLane, type PageFigures } from './merge-lane.ts';
import { assertPreserved, unhashed } from './merge-output.ts';
import { checkPageRows, type MergeInput } from './merge-reader.ts';
import { MergeTies } from './merge-ties.ts';
import { openCursors } from './open-cursors.ts';
import type { WaitingRows } from './waiting-rows.ts';

export { COMPACTION_COMPRESSION } from '../../storage/codec/compression.ts';
export type { PageFigures } from './merge-lane.ts';
export type { MergeInput } from './merge-reader.ts';

export interface MergeOptions {
  readonly tenant: string;
  /** UTC day since 1970-01-01, that of all inputs. */
  readonly day: number;
  /** Level of the output. */
  readonly level: number;
  /**
   * Divides the streams into 2 ** `streamBits` parts (stream-part.ts), each with an output. Default: 0, one
   * output.
   */
  readonly streamBits?: number;
  /** Returns the ID of an output. Called when its writing begins. */
  newId(): string;
  /** Returns the writer of an output. Called when its writing begins. */
  newWriter(): ObjectWriter;
  /** Unix ms. */
  readonly createdMs: number;
  readonly compression: Compression;
  /** Called when the writing of an output begins. Default: outputs contain only entries. */
  readonly indexer?: () => ChunkIndexer;
  /** Raw bytes of the lines of a page. Default: PAGE_TARGET_BYTES. */
  readonly pageBytes?: number;
  /** Raw bytes that are sorted before they are encoded. Default: BATCH_BYTES. */
  readonly batchBytes?: number;
  /** Maximum bytes of decoded pages. Default: MAX_OPEN_PAGES_BYTES. */
  readonly maxOpenBytes?: number;
  /** Maximum bytes that are read ahead of all inputs, if a page of each fits. Default: READ_BUDGET_BYTES. */
  readonly readBudgetBytes?: number;
  /**
   * Returns 1 for each row to remove, or undefined if all rows stay. Called at least once for each page of the
   * inputs with all columns decoded. The page is valid until the result is returned.
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
  /** Stored bytes of the outputs. */
  readonly outputBytes: number;
  /** Pages of the outputs that were copied from inputs. */
  readonly copied: PageFigures;
  readonly encoded: PageFigures;
}

/** Stores a verified output, whose bytes the writer has. All of its streams are in the part. */
type EmitChunk = (chunk: WrittenChunk, writer: ObjectWriter, streamPart: number) => Promise<void>;

/**
 * Calls `emit` with each verified output, once all are verified, or not at all if no row stays. Throws
 * CorruptionError if an input is corrupt, MergeTooLargeError if the inputs are too many for one merge, the reason of
 * `signal`, and what `read`, `dropRows`, `pause` and `emit` throw. Nothing is emitted after an error.
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
  }
}

class Merge {
  readonly #options: MergeOptions;
  readonly #emit: EmitChunk;
  /** Ordered by age. */
  readonly #inputs: readonly MergeInput[];
  /** Streams of all inputs, ascending. */
  readonly #streams: readonly Stream[];
  /** Cursors of the pages that are apart, and of those whose rows are merged. */
  readonly #apart: readonly MergeCursor[];
  readonly #cursors: readonly MergeCursor[];
  readonly #hasher = new RowHasher();
  readonly #ties = new MergeTies();
  readonly #counts = new CopiedCounts();
  readonly #pageBytes: number;
  readonly #lanes: readonly MergeLane[];
  /** For each stream, the index of its lane. */
  readonly #laneOf: Uint8Array;
  /** For each stream that had a row, the rows of its lane and syntax that wait. */
  readonly #waitingOf: (WaitingRows | undefined)[] = [];
  /** Whether streams whose lines differ in syntax share no page. */
  readonly #dividesSyntaxes: boolean;
  readonly #read = new FingerprintSum();
  readonly #left = new FingerprintSum();
  readonly #written = new FingerprintSum();
  #duplicates = 0;
  #dropped = 0;
  #outputBytes = 0;
  readonly #copied = { pages: 0, bytes: 0 };
  readonly #encoded = { pages: 0, bytes: 0 };
  #sliceBytes = 0;
  #sliceRows = 0;

  constructor(inputs: readonly MergeInput[], options: MergeOptions, emit: EmitChunk) {
    this.#options = options;
    this.#emit = emit;
    this.#inputs = inputs.slice().sort((a, b) => compareChunks(a.footer, b.footer));
    checkInputs(this.#inputs, options);
    for (const input of this.#inputs) checkPageRows(input);
    this.#streams = streamsOf(this.#inputs);
    this.#pageBytes = options.pageBytes ?? PAGE_TARGET_BYTES;
    const { streamBits = 0 } = options;
    const parts = this.#streams.map(stream => partOfStream(stream, streamBits));
    const present = [...new Set(parts)].sort((a, b) => a - b);
    this.#laneOf = Uint8Array.from(parts, part => present.indexOf(part));
    const cursors = openCursors(this.#inputs, {
      ...options,
      streams: this.#streams,
      laneOf: this.#laneOf,
      pageBytes: this.#pageBytes,
      // Not if a chunk is rewritten alone, without the rows of a delete request.
      runsGetTogether: inputs.length > 1,
      hasher: this.#hasher,
      counts: this.#counts,
    });
    this.#apart = cursors.apart;
    this.#cursors = cursors.merged;
    const inputBytes = this.#inputs.reduce((sum, { footer }) => sum + footer.lineBytes, 0);
    // Less is one page. Without an indexer, lines are stored as they are.
    this.#dividesSyntaxes = options.indexer !== undefined && inputBytes >= this.#pageBytes;
    this.#lanes = present.map(streamPart => this.#newLane(streamPart, present.length, inputBytes));
  }

  #newLane(streamPart: number, lanes: number, inputBytes: number): MergeLane {
    const { day, batchBytes = BATCH_BYTES, compression, newId, newWriter, indexer } = this.#options;
    const pageBytes = this.#pageBytes;
    // A batch of each lane and syntax has a page, and together they have the memory of one batch if that is larger.
    const batches = lanes * (this.#dividesSyntaxes ? LINE_SYNTAXES.length : 1);
    const ofLane = Math.max(batchBytes / batches, Math.min(batchBytes, pageBytes));
    return new MergeLane({
      streamPart,
      batchBytes: ofLane,
      expectedBytes: Math.ceil(inputBytes / lanes),
      pageBytes,
      compression,
      hasher: this.#hasher,
      dayStartNs: BigInt(day) * NS_PER_DAY,
      newId,
      newWriter,
      indexer,
    });
  }

  async run(): Promise<MergeSummary> {
    await this.#copyPages();
    const heap = new CursorHeap(await begun(this.#cursors));
    for (let cursor = heap.first; cursor !== undefined; cursor = heap.first) {
      // The cursor's row is the next of all rows: the batch contains everything before it.
      if (!cursor.isBegun) await this.#beginPage(cursor);
      if (await this.#takesRows(cursor, heap.second)) {
        heap.firstMoved();
        continue;
      }
      await this.#yieldIfDue(cursor.meta.lineBytes, cursor.meta.rows);
      if (await cursor.nextPage()) heap.firstMoved();
      else heap.dropFirst();
    }
    for (const lane of this.#lanes) await this.#endPages(lane);
    for (const lane of this.#lanes) await lane.packed();
    this.#counts.finish(this.#streams, (index, levels, counts) => {
      this.#lanes[this.#laneOf[index]].addCounts(this.#streams[index], levels, counts);
    });
    await this.#finishOutputs();
    for (const lane of this.#lanes) lane.freeBatches();
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
    for (const lane of this.#lanes) await lane.free();
  }

  /** Copies the pages that are apart, mostly by first stream and time. Queries of a stream then read neighbors. */
  async #copyPages(): Promise<void> {
    const heap = new CursorHeap(await begun(this.#apart));
    for (let cursor = heap.first; cursor !== undefined; cursor = heap.first) {
      if (!(await this.#copies(cursor))) await this.#encodeRest(cursor);
      await this.#yieldIfDue(cursor.meta.storedBytes, 0);
      if (await cursor.nextPage()) heap.firstMoved();
      else heap.dropFirst();
    }
    for (const lane of this.#lanes) await this.#endPages(lane);
  }

  /** Returns false if rows of the page are removed, or it is damaged. */
  async #copies(cursor: MergeCursor): Promise<boolean> {
    const { input, meta } = cursor;
    if (this.#mayDrop(meta, input)) {
      await cursor.open();
      if (cursor.page.dropped !== undefined) return false;
    }
    const stored = await cursor.takeStored(input.copySource!);
    if (stored === undefined) return false;
    const lane = this.#lanes[this.#laneOf[cursor.stream]];
    // Entries with equal timestamps in both pages keep their order.
    await this.#endPages(lane);
    await lane.copy(stored);
    this.#read.add(unhashed(meta));
    return true;
  }

  /** Encodes the rows of a page that stay. They share a page with those before them if they follow. */
  async #encodeRest(cursor: MergeCursor): Promise<void> {
    const { stream, time } = cursor;
    const lane = this.#lanes[this.#laneOf[stream]];
    const follows = [...lane.allWaiting].every(({ batch }) => batch.precedes(stream, time));
    if (!follows) await this.#endPages(lane);
    await this.#beginPage(cursor);
    while (await this.#takesRows(cursor, undefined));
  }

  /** Rows that are taken next begin a page. */
  async #endPages(lane: MergeLane): Promise<void> {
    for (const waiting of lane.allWaiting) await this.#flush(lane, waiting, false, true);
    this.#ties.end();
  }

  /** Returns the rows that a row waits with, of its lane and syntax. */
  #waiting(stream: number, page: MergeRows, row: number): WaitingRows {
    const known = this.#waitingOf[stream];
    if (known !== undefined) return known;
    const { lines, lineOffsets } = page;
    const syntax: LineSyntax = this.#dividesSyntaxes
      ? lineSyntax(lines, lineOffsets[row], lineOffsets[row + 1])
      : 'text';
    const waiting = this.#lanes[this.#laneOf[stream]].waiting(syntax);
    this.#waitingOf[stream] = waiting;
    return waiting;
  }

  async #beginPage(cursor: MergeCursor): Promise<void> {
    await cursor.open();
    cursor.isBegun = true;
    const { input, meta, page, runs } = cursor;
    for (const run of runs) this.#read.addRun(page, page.hashes, run);
    this.#counts.subtract(input, { base: meta.base, runs }, page);
  }

  #mayDrop({ runs }: PageMeta, input: MergeInput): boolean {
    const { mayDrop = () => this.#options.dropRows !== undefined } = this.#options;
    return runs.some(({ stream }) => mayDrop(input.footer.streams[stream], input));
  }

  /**
   * Adds rows of the cursor until the rival comes first or its page ends, and writes the batch before them if it must be.
   * Returns false if the page has ended.
   */
  async #takesRows(cursor: MergeCursor, rival: MergeCursor | undefined): Promise<boolean> {
    const { page, row, stream, time, lineBytes } = cursor;
    const goesOn = this.#ties.goesOn(stream, time);
    const waiting = this.#waiting(stream, page, row);
    if (waiting.refuses(goesOn, stream, lineBytes)) {
      const lane = this.#lanes[this.#laneOf[stream]];
      // Rows of another syntax may be written before those that follow.
      const endsPage = !goesOn && (this.#dividesSyntaxes || waiting.batch.endsBefore(stream, lineBytes));
      await this.#flush(lane, waiting, goesOn, endsPage);
    }
    return this.#takeRows(cursor, rival);
  }

  /**
   * Adds rows of the first cursor until another cursor comes first, its page ends or the batch must be
   * written. Returns false if the page has ended.
   */
  #takeRows(cursor: MergeCursor, rival: MergeCursor | undefined): boolean {
    const ties = this.#ties;
    const streams = this.#streams;
    const left = this.#left;
    const { page } = cursor;
    const { dropped, hashes, lineOffsets } = page;
    let ofStream = cursor.stream;
    let waiting = this.#waiting(ofStream, page, cursor.row);
    do {
      const { row, stream, time } = cursor;
      if (stream !== ofStream) {
        ofStream = stream;
        waiting = this.#waiting(stream, page, row);
      }
      if (rival !== undefined && compareCursors(cursor, rival) > 0) return true;
      if (dropped !== undefined && dropped[row] === 1) {
        this.#dropped++;
        left.addRow(hashes, row, lineOffsets[row + 1] - lineOffsets[row]);
        continue;
      }
      const goesOn = ties.goesOn(stream, time);
      if (waiting.refuses(goesOn, stream, lineOffsets[row + 1] - lineOffsets[row])) return true;
      const { batch } = waiting;
      if (!goesOn && dropped === undefined) {
        const taken = batch.take(page, row, cursor.endOfAscent(rival), stream, streams);
        cursor.row += taken - 1;
        ties.begin(stream, page.base + page.times[cursor.row], batch.rows - 1);
        continue;
      }
      if (!goesOn) ties.begin(stream, time, batch.rows);
      batch.lay(page, row, stream, time);
      if (goesOn && ties.isRepeat(batch)) {
        this.#duplicates++;
        left.addRow(hashes, row, lineOffsets[row + 1] - lineOffsets[row]);
      } else batch.keep(page, row, streams);
    } while (cursor.advance());
    return false;
  }

  /**
   * Passes rows of a lane that wait to its output.
   * @param goesOn the next row has the stream and timestamp of the last
   * @param endsPage see WaitingRows.flush
   */
  async #flush(lane: MergeLane, waiting: WaitingRows, goesOn: boolean, endsPage: boolean): Promise<void> {
    if (waiting.batch.rows === 0) return;
    await lane.flush(waiting, goesOn ? this.#ties : undefined, endsPage);
    await this.#yieldIfDue(SLICE_BYTES, 0);
  }

  /** Everything that was read must be accounted for before an output is emitted. */
  async #finishOutputs(): Promise<void> {
    const { tenant, day, level, createdMs, signal } = this.#options;
    const footers = this.#inputs.map(({ footer }) => footer);
    const inputs = footers.map(({ id }) => id);
    const head = { tenant, day, level, createdMs, inputs, origin: oldestOrigin(footers) };
    const yieldIfDue = (lineBytes: number, rows: number) => this.#yieldIfDue(lineBytes, rows);
    const outputs: LaneOutput[] = [];
    for (const lane of this.#lanes) {
      const output = await lane.finish(head, yieldIfDue);
      if (output === undefined) continue;
      outputs.push(output);
      this.#written.add(output.fingerprint);
    }
    const accounted = new FingerprintSum();
    accounted.add(this.#written.value);
    accounted.add(this.#left.value);
    assertPreserved(this.#read.value, accounted.value, 'the merge');
    for (const { chunk, writer, streamPart } of outputs) {
      signal?.throwIfAborted();
      const { footer, copied, bytes } = chunk;
      await this.#emit(chunk, writer, streamPart);
      this.#outputBytes += bytes;
      addPages(
        this.#copied,
        footer.pages.filter((_, i) => copied[i]),
      );
      addPages(
        this.#encoded,
        footer.pages.filter((_, i) => !copied[i]),
      );
    }
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

function addPages(figures: { pages: number; bytes: number }, pages: readonly PageMeta[]): void {
  figures.pages += pages.length;
  for (const { storedBytes } of pages) figures.bytes += storedBytes;
}

/** Requests the first pages, all at once. Returns the cursors that have one. */
async function begun(cursors: readonly MergeCursor[]): Promise<MergeCursor[]> {
  for (const cursor of cursors) cursor.startReading();
  const withPages: MergeCursor[] = [];
  for (const cursor of cursors) if (await cursor.nextPage()) withPages.push(cursor);
  return withPages;
}

function checkInputs(inputs: readonly MergeInput[], { tenant, day }: MergeOptions): void {
  for (let i = 0; i < inputs.length; i++) {
    const { footer } = inputs[i];
    invariant(footer.tenant === tenant && footer.day === day, 'a merge has chunks of one tenant and day');
    invariant(i === 0 || inputs[i - 1].footer.id !== footer.id, 'a merge has each chunk once');
  }
}

function streamsOf(inputs: readonly MergeInput[]): Stream[] {
  const byText = new Map<string, Stream>();
  for (const { footer } of inputs) {
    for (const stream of footer.streams) if (!byText.has(stream.text)) byText.set(stream.text, stream);
  }
  return [...byText.values()].sort((a, b) => compareUtf8(a.text, b.text));
}
