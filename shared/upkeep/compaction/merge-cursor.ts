/**
 * The position of a merge in one input: a decoded page and a row of it. Columns that belong to the decoder
 * are copied, because a page stays open while pages of other inputs are decoded.
 */

import { BufferPool } from '../../base/model/buffer-pool.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import { freeWhole } from '../../base/model/free-bytes.ts';
import type { MetadataColumn, PageRows, Run } from '../../base/model/page.ts';
import { decodePage, type PageWants } from '../../storage/chunk/reader.ts';
import type { RowHasher, RowHashes } from './fingerprint.ts';
import { type MergeInput, PageReader } from './merge-reader.ts';

const EVERYTHING: PageWants = { lines: 'bytes', metadata: 'all' };
/** Line buffers of finished pages for reuse, usually 1 MiB each. More of them save no CPU time that can be measured. */
const POOL = new BufferPool(8 * 1024 * 1024);
/** Smaller buffers share one allocation, because inputs of a few lines come by the thousand. */
const SHARED_BYTES = 4096;

/** A page of an input with all columns decoded. It owns its columns. */
export interface OpenPage extends PageRows {
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
  readonly streamPlaces: Uint32Array;
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
  #opened: OpenPage | undefined;
  #run = 0;
  #runEnd = 0;
  #rowsRead = 0;
  readonly #input: MergeInput;
  readonly #options: CursorOptions;
  readonly #reader: PageReader;
  #runPlaces = new Uint32Array(0);

  constructor(input: MergeInput, options: CursorOptions) {
    this.order = options.order;
    this.#input = input;
    this.#options = options;
    this.#reader = new PageReader(input, options.maxReadBytes);
  }

  /** The page of the current row. */
  get page(): OpenPage {
    return this.#opened!;
  }

  /** Starts the first read, so that inputs wait for theirs together. */
  startReading(): void {
    this.#reader.start();
  }

  /**
   * Opens the next page at its first row, and frees the previous one. Returns false after the last page.
   * Throws CorruptionError, and what reading and `dropRows` throw.
   */
  async nextPage(): Promise<boolean> {
    if (this.#opened !== undefined) freePage(this.#opened);
    this.#opened = undefined;
    const { footer } = this.#input;
    await this.#reader.freeRead();
    const next = await this.#reader.nextPage();
    if (next === undefined) {
      if (this.#rowsRead !== footer.rows) throw this.#broken(`${this.#rowsRead} of ${footer.rows} rows`);
      return false;
    }
    const { page, stored } = next;
    const decoded = decodePage(footer, page, stored, EVERYTHING, this.#name);
    const rows = ownRows(decoded);
    const hashes = this.#options.hasher.hash(rows);
    const dropped = await this.#options.dropRows?.(rows);
    if (dropped !== undefined && dropped.length !== page.rows) {
      throw new RangeError(`${dropped.length} marks for ${page.rows} rows of a page`);
    }
    this.#opened = { ...rows, base: page.base, hashes, dropped };
    this.#runPlaces = Uint32Array.from(page.runs, ({ stream }) => this.#options.streamPlaces[stream]);
    this.#rowsRead += page.rows;
    this.row = 0;
    this.#run = -1;
    this.#runEnd = 0;
    if (page.rows === 0) throw this.#broken('a page without rows');
    this.#enterRun();
    return true;
  }

  /** Moves to the next row of the page. Returns false after the last row. */
  advance(): boolean {
    this.row++;
    if (this.row < this.#runEnd) {
      this.time = this.#opened!.base + this.#opened!.times[this.row];
      return true;
    }
    if (this.row === this.#opened!.rows) return false;
    this.#enterRun();
    return true;
  }

  /**
   * Timestamps ascend within a run because of how they are stored. Between runs, the order is checked here.
   */
  #enterRun(): void {
    const { runs, base, times } = this.#opened!;
    do this.#run++;
    while (runs[this.#run].rows === 0);
    const run = runs[this.#run];
    const stream = this.#runPlaces[this.#run];
    const time = base + times[this.row];
    if (stream < this.stream || (stream === this.stream && time < this.time)) {
      throw this.#broken(`rows out of order at a run of ${run.stream.text}`);
    }
    this.stream = stream;
    this.time = time;
    this.#runEnd = run.firstRow + run.rows;
  }

  get #name(): string {
    return `chunk ${this.#input.footer.tenant}/${this.#input.footer.id}`;
  }

  #broken(what: string): CorruptionError {
    return new CorruptionError(`${this.#name}: ${what}`);
  }
}

/**
 * Frees the columns of a page. If left to the garbage collector, those of a whole merge would stay in memory.
 */
function freePage({ lines, times, lineOffsets, hashes }: OpenPage): void {
  POOL.give(lines);
  for (const column of [times, lineOffsets, hashes.one, hashes.two, hashes.metadataBytes]) freeWhole(column);
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
