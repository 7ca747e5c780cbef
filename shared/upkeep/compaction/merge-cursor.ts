/**
 * The position of a merge in some pages of one input: a page, and a row of it once the page is open.
 *
 * Columns that belong to the decoder are copied, because a page stays open while pages of other inputs are
 * decoded.
 */

import { BufferPool } from '../../base/model/buffer-pool.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import { freeWhole } from '../../base/model/free-bytes.ts';
import type { MetadataColumn, PageRows, Run } from '../../base/model/page.ts';
import type { CopiedPage } from '../../storage/chunk/chunk-assembler.ts';
import type { PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import { hasChecksums } from '../../storage/chunk/page-checksums.ts';
import { decodePage, type PageWants } from '../../storage/chunk/reader.ts';
import { type RowHasher, type RowHashes, releaseHashes } from './fingerprint.ts';
import { type MergeInput, MergePageReader } from './merge-reader.ts';
import type { Strand } from './strands.ts';

const EVERYTHING: PageWants = { lines: 'bytes', metadata: 'all' };
/**
 * Lines of the pages of a full merge of pushes (full-merges.ts), for those of the next one. Memory that is new to each merge
 * costs a page fault for every 4 KiB.
 */
const POOL = new BufferPool(64 * 1024 * 1024);
/** Smaller buffers share one allocation, because inputs of a few lines come by the thousand. */
const SHARED_BYTES = 4096;

/** A page of an input with all columns decoded. It owns its columns. */
export interface MergeRows extends PageRows {
  readonly times: Float64Array;
  readonly lineOffsets: Uint32Array;
  /** Nanoseconds since the start of the day that `times` is relative to. */
  readonly base: number;
  readonly hashes: RowHashes;
  /** 1 for each row to remove. */
  readonly dropped: Uint8Array | undefined;
}

interface CursorOptions {
  /** Index of the input in the order of chunk IDs. Decides among equal timestamps. */
  readonly order: number;
  /** For each stream of the footer, its index among the streams of all inputs, ascending. */
  readonly streamIndexes: Uint32Array;
  /** What the cursor visits, in this order. */
  readonly strand: Strand;
  readonly maxReadBytes: number;
  readonly hasher: RowHasher;
  dropRows?(page: PageRows): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

export class MergeCursor {
  readonly order: number;
  /** Index of the current row's stream. */
  stream = -1;
  /** Timestamp of the current row, ns since the start of the day. */
  time = 0;
  row = 0;
  /** Whether rows of the current page are taken one by one. */
  isBegun = false;
  /** Index of the current page in the strand. */
  #at = -1;
  /** Bytes of the current page, if they were requested. Valid until the next page. */
  #stored: Buffer | undefined;
  #opened: MergeRows | undefined;
  #run = 0;
  #runEnd = 0;
  /** End of the rows of the page that the cursor visits. */
  #end = 0;
  readonly #input: MergeInput;
  readonly #options: CursorOptions;
  readonly #reader: MergePageReader;

  constructor(input: MergeInput, options: CursorOptions) {
    this.order = options.order;
    this.#input = input;
    this.#options = options;
    const pages = options.strand.map(({ page }) => input.footer.pages[page]);
    this.#reader = new MergePageReader(input, pages, options.maxReadBytes);
  }

  get input(): MergeInput {
    return this.#input;
  }

  /** The page of the current row, if it is open. */
  get page(): MergeRows {
    return this.#opened!;
  }

  /** Bytes of the line of the current row, if the page is open. */
  get lineBytes(): number {
    const { lineOffsets } = this.#opened!;
    return lineOffsets[this.row + 1] - lineOffsets[this.row];
  }

  /** Metadata of the current page. */
  get meta(): PageMeta {
    return this.#input.footer.pages[this.pageIndex];
  }

  /** Runs of the current page that the cursor visits. */
  get runs(): readonly RunMeta[] {
    const { page, from, to } = this.#options.strand[this.#at];
    return this.#input.footer.pages[page].runs.slice(from, to);
  }

  /** Index of the current page in the input. */
  get pageIndex(): number {
    return this.#options.strand[this.#at].page;
  }

  /** Starts the first read, so that inputs wait for theirs together. */
  startReading(): void {
    this.#reader.start();
  }

  /**
   * Moves to the first row of the next page without opening it, and frees the previous page. Returns false
   * after the last page. Throws what reading throws.
   */
  async nextPage(): Promise<boolean> {
    if (this.#opened !== undefined) freePage(this.#opened);
    this.#opened = undefined;
    this.#stored = undefined;
    this.isBegun = false;
    await this.#reader.freeRead();
    this.#at++;
    if (this.#at === this.#options.strand.length) return false;
    const { runs } = this;
    const { stream, first, firstRow } = runs.find(({ rows }) => rows > 0)!;
    const last = runs[runs.length - 1];
    this.row = firstRow;
    this.#end = last.firstRow + last.rows;
    this.stream = this.#options.streamIndexes[stream];
    this.time = first;
    return true;
  }

  /**
   * Returns the page to copy, with its own bytes. Returns undefined if a checksum differs: opening the page
   * then shows whether it has lost entries, or only columns that can be derived again. Throws CorruptionError,
   * and what reading throws.
   */
  async takeStored(source: number): Promise<CopiedPage | undefined> {
    const { footer } = this.#input;
    const page = this.meta;
    const read = await this.#read();
    const stored = Buffer.allocUnsafeSlow(page.storedBytes);
    read.copy(stored);
    if (!hasChecksums(page, stored)) return undefined;
    const copy = { source, index: this.pageIndex, lineBytes: page.lineBytes };
    return { page, streams: footer.streams, stored, copy };
  }

  /** Decodes the page, once for each visit. Throws CorruptionError, and what reading and `dropRows` throw. */
  async open(): Promise<void> {
    if (this.#opened !== undefined) return;
    const { footer } = this.#input;
    const page = this.meta;
    const stored = await this.#read();
    const decoded = decodePage(footer, page, stored, EVERYTHING, this.#name);
    // Before the lines are copied: those of the decoder are hashed in place.
    const hashes = this.#options.hasher.hash(decoded);
    const rows = ownRows(decoded);
    const dropped = await this.#options.dropRows?.(rows);
    if (dropped !== undefined && dropped.length !== page.rows) {
      throw new RangeError(`${dropped.length} marks for ${page.rows} rows of a page`);
    }
    const { rows: count, baseNs, times, lines, lineOffsets, runs, metadata } = rows;
    // A literal: V8 discards the hidden class of a copy with `...` after each merge, and the code for it.
    this.#opened = {
      rows: count,
      baseNs,
      times,
      lines,
      lineOffsets,
      runs,
      metadata,
      base: page.base,
      hashes,
      dropped,
    };
    this.#run = this.#options.strand[this.#at].from - 1;
    if (!page.runs.every(run => hasTimes(run, page.base, times))) throw this.#broken('a run has other times');
    this.#enterRun();
  }

  async #read(): Promise<Buffer> {
    this.#stored ??= (await this.#reader.nextPage())!.stored;
    return this.#stored;
  }

  /**
   * Returns the end of the rows that can be taken together from the current one on: they are of one stream, each
   * has a later timestamp than the one before, and the rival comes after them.
   */
  endOfAscent(rival: MergeCursor | undefined): number {
    const { base, times } = this.#opened!;
    const end = this.#runEnd;
    const before = rival?.stream === this.stream ? rival.time - base : Infinity;
    let row = this.row + 1;
    while (row < end && times[row] > times[row - 1] && times[row] < before) row++;
    return row;
  }

  /** Moves to the next row of the page. Returns false after the last row. */
  advance(): boolean {
    this.row++;
    if (this.row < this.#runEnd) {
      this.time = this.#opened!.base + this.#opened!.times[this.row];
      return true;
    }
    if (this.row === this.#end) return false;
    this.#enterRun();
    return true;
  }

  #enterRun(): void {
    const { base, times } = this.#opened!;
    const { runs } = this.meta;
    do this.#run++;
    while (runs[this.#run].rows === 0);
    const run = runs[this.#run];
    this.#moveTo(run, base + times[this.row]);
    this.#runEnd = run.firstRow + run.rows;
  }

  /**
   * Timestamps ascend within a run because of how they are stored. Between runs of a page, the order is checked here. Pages
   * are visited in an order in which they ascend, by the times of their runs, which were checked.
   */
  #moveTo({ stream: ofFooter }: RunMeta, time: number): void {
    const stream = this.#options.streamIndexes[ofFooter];
    if (stream < this.stream || (stream === this.stream && time < this.time)) {
      const { text } = this.#input.footer.streams[ofFooter];
      throw this.#broken(`rows out of order at a run of ${text}`);
    }
    this.stream = stream;
    this.time = time;
  }

  get #name(): string {
    return `chunk ${this.#input.footer.tenant}/${this.#input.footer.id}`;
  }

  #broken(what: string): CorruptionError {
    return new CorruptionError(`${this.#name}: ${what}`);
  }
}

/** Whether the first and the last row of a run have the times that the footer says. */
function hasTimes({ firstRow, rows, first, last }: RunMeta, base: number, times: Float64Array): boolean {
  return rows === 0 || (base + times[firstRow] === first && base + times[firstRow + rows - 1] === last);
}

/**
 * Frees the columns of a page. If left to the garbage collector, those of a whole merge would stay in memory.
 */
function freePage({ lines, times, lineOffsets, hashes }: MergeRows): void {
  POOL.give(lines);
  for (const column of [times, lineOffsets]) freeWhole(column);
  releaseHashes(hashes);
}

interface OwnRows extends PageRows {
  readonly times: Float64Array;
  readonly lineOffsets: Uint32Array;
  readonly runs: readonly Run[];
  readonly metadata: readonly MetadataColumn[];
}

/** Decodes all columns now. Lines are copied. The page already owns the other columns. */
function ownRows(page: PageRows): OwnRows {
  const { rows, baseNs, times, lineOffsets, runs } = page;
  const { length } = page.lines;
  const lines = length < SHARED_BYTES ? Buffer.allocUnsafe(length) : POOL.take(length);
  page.lines.copy(lines);
  const metadata = page.metadata.map(column => {
    const { name, ids, count } = column;
    return { name, ids, count, valueAt: (index: number) => column.valueAt(index) };
  });
  return { rows, baseNs, times, lines, lineOffsets, runs, metadata };
}
