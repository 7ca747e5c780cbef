/**
 * Rows that a merge has sorted but not passed to the writer yet: lines copied one after the other, metadata
 * names and values numbered. A batch is filled, written while another one is filled, cleared and filled
 * again, so its memory is reused.
 */

import { BufferPool } from '../../base/model/buffer-pool.ts';
import { equalRange } from '../../base/model/bytes.ts';
import { freeWhole } from '../../base/model/free-bytes.ts';
import type { MetadataColumn, Stream } from '../../base/model/page.ts';
import { PageFill } from '../../storage/chunk/page-cutter.ts';
import { type ChunkRows, samePairs } from '../../storage/chunk/rows.ts';
import { FingerprintSum } from './fingerprint.ts';
import { BATCH_PAIRS, BATCH_ROWS, OVERFLOW_FACTOR } from './merge-bounds.ts';
import type { MergeRows } from './merge-cursor.ts';

/** The last line of a batch usually fits here, above the size at which it counts as full. */
const LAST_LINE_BYTES = 16 * 1024;
/** Small merges are frequent, so capacity grows as rows arrive. */
const INITIAL_ROWS = 1024;
/** Lines and columns of two batches that have grown to full size, for the batches of the next merge. */
const POOL = new BufferPool(8 * 1024 * 1024);

/** Numbers of a page's names and values in a batch: 0 if not seen yet, otherwise 1 + number. */
interface PageNumbers {
  readonly names: Uint32Array;
  readonly values: readonly Uint32Array[];
}

export class MergeBatch {
  /** Number of kept rows. */
  rows = 0;
  /** Fingerprint of the kept rows, from the hashes of their pages. */
  readonly sum = new FingerprintSum();
  #lines: Buffer;
  #lineEnd: Uint32Array = new Uint32Array(INITIAL_ROWS);
  #times: Float64Array = new Float64Array(INITIAL_ROWS);
  #streamOf: Uint32Array = new Uint32Array(INITIAL_ROWS);
  #hashes: Uint32Array = new Uint32Array(2 * INITIAL_ROWS);
  readonly #pairs: { first: Uint32Array; name: Uint32Array; value: Uint32Array } = {
    first: new Uint32Array(INITIAL_ROWS + 1),
    name: new Uint32Array(2 * INITIAL_ROWS),
    value: new Uint32Array(2 * INITIAL_ROWS),
  };
  #streams: Stream[] = [];
  #lastStream = -1;
  #names: string[] = [];
  #nameIds = new Map<string, number>();
  #values: Buffer[] = [];
  #valueIds = new Map<string, number>();
  #valueBytes = 0;
  /** Weak, so that finished pages can be collected. */
  #numbers = new WeakMap<MergeRows, PageNumbers>();
  readonly #maxBytes: number;
  readonly #maxPageBytes: number;
  /** The page that the last row is in, as the writer divides them. */
  readonly #page: PageFill;

  /**
   * @param maxBytes lines of a usual batch, and as much again for distinct metadata values
   * @param maxPageBytes raw bytes of the lines of a page
   * @param expectedBytes lines of all rows that may be added: memory that grows is copied
   */
  constructor(maxBytes: number, maxPageBytes: number, expectedBytes: number) {
    this.#maxBytes = maxBytes;
    this.#maxPageBytes = maxPageBytes;
    this.#page = new PageFill(maxPageBytes);
    this.#lines = POOL.take(Math.min(maxBytes + LAST_LINE_BYTES, expectedBytes));
  }

  clear(): void {
    this.rows = 0;
    this.sum.clear();
    this.#streams = [];
    this.#lastStream = -1;
    this.#names = [];
    this.#nameIds = new Map();
    this.#values = [];
    this.#valueIds = new Map();
    this.#valueBytes = 0;
    this.#numbers = new WeakMap();
    // The larger buffer of an overflow is not kept.
    if (this.#lines.length > 2 * this.#maxBytes) {
      giveBack(this.#lines);
      this.#lines = POOL.take(this.#maxBytes);
    }
  }

  /**
   * Returns the memory of the batch to the pool, 4 MiB. If left to the garbage collector, it would add to that of
   * the next merge. The batch and views of it may not be used afterwards.
   */
  free(): void {
    const { first, name, value } = this.#pairs;
    const columns = [this.#lineEnd, this.#times, this.#streamOf, this.#hashes];
    for (const array of [this.#lines, ...columns, first, name, value]) giveBack(array);
  }

  /**
   * Returns true if the batch should end before a row, because it begins a page and another page may not fit. Then the writer
   * need not copy the rows of a page that the batch leaves open.
   * @param stream index of the row's stream, as in `lay`
   */
  endsBefore(stream: number, lineBytes: number): boolean {
    return this.lineBytes + this.#maxPageBytes > this.#maxBytes && this.#page.endsBefore(stream, lineBytes);
  }

  /** Whether a row comes after the rows of the batch, or has the timestamp of the last one. */
  precedes(stream: number, time: number): boolean {
    const { rows } = this;
    if (rows === 0 || stream !== this.#lastStream) return rows === 0 || stream > this.#lastStream;
    return time >= this.#times[rows - 1];
  }

  #addToPage(stream: number, lineBytes: number): void {
    const page = this.#page;
    if (page.endsBefore(stream, lineBytes)) page.begin();
    page.add(stream, lineBytes);
  }

  /** The next row is in the page of the last row of another batch, or begins a page. */
  continuePage(before: MergeBatch | undefined): void {
    const page = this.#page;
    if (before === undefined) page.begin();
    else {
      page.rows = before.#page.rows;
      page.bytes = before.#page.bytes;
      page.stream = before.#page.stream;
    }
  }

  /** The batch should end at the end of a timestamp. */
  get full(): boolean {
    return this.#reaches(1);
  }

  /** The batch must end now. */
  get overflowing(): boolean {
    return this.#reaches(OVERFLOW_FACTOR);
  }

  #reaches(factor: number): boolean {
    const { rows } = this;
    const maxBytes = this.#maxBytes;
    const pairs = this.#pairs;
    return (
      this.lineBytes >= maxBytes * factor ||
      rows >= BATCH_ROWS * factor ||
      pairs.first[rows] >= BATCH_PAIRS * factor ||
      this.#valueBytes >= maxBytes * factor
    );
  }

  /** Bytes of the kept lines. */
  get lineBytes(): number {
    return this.rows === 0 ? 0 : this.#lineEnd[this.rows - 1];
  }

  /**
   * Appends a row without keeping it. If `keep` does not follow, the next row overwrites it.
   * @param streamIndex index of the row's stream among those of the merge, ascending
   * @param time ns since the start of the day
   */
  lay(page: MergeRows, row: number, streamIndex: number, time: number): void {
    const { rows: at } = this;
    if (at === this.#times.length) this.#growRows();
    const start = page.lineOffsets[row];
    const end = page.lineOffsets[row + 1];
    const lineStart = this.lineBytes;
    const lineEnd = lineStart + end - start;
    if (lineEnd > this.#lines.length) this.#growLines(lineEnd, lineStart);
    page.lines.copy(this.#lines, lineStart, start, end);
    this.#lineEnd[at] = lineEnd;
    this.#times[at] = time;
    this.#streamOf[at] = streamIndex;
    this.#hashes[2 * at] = page.hashes.words[2 * row];
    this.#hashes[2 * at + 1] = page.hashes.words[2 * row + 1];
    this.#layPairs(page.metadata, row, at, this.#numbersOf(page));
  }

  #layPairs(metadata: readonly MetadataColumn[], row: number, at: number, numbers: PageNumbers): void {
    let pairAt = this.#pairs.first[at];
    if (metadata.length > 0) {
      if (pairAt + metadata.length > this.#pairs.name.length) this.#growPairs(metadata.length);
      for (let c = 0; c < metadata.length; c++) {
        const id = metadata[c].ids[row];
        if (id === 0) continue;
        const values = numbers.values[c];
        if (values[id] === 0) values[id] = 1 + this.#valueId(metadata[c].valueAt(id - 1));
        this.#pairs.name[pairAt] = numbers.names[c];
        this.#pairs.value[pairAt++] = values[id] - 1;
      }
    }
    this.#pairs.first[at + 1] = pairAt;
  }

  /**
   * Keeps the row that `lay` appended.
   * @param streams streams of the merge, indexed by `streamIndex`
   */
  keep(page: MergeRows, row: number, streams: readonly Stream[]): void {
    const at = this.rows++;
    const lineBytes = page.lineOffsets[row + 1] - page.lineOffsets[row];
    this.#addToPage(this.#streamOf[at], lineBytes);
    this.#streamOf[at] = this.#numberOf(this.#streamOf[at], streams);
    this.sum.addRow(page.hashes, row, lineBytes);
  }

  /**
   * Appends and keeps rows `from` (inclusive) to `to` (exclusive) of one stream, until the batch should end. Returns
   * their number, at least one. Works as `lay` and `keep` for each row, but copies their lines at once.
   * @param streamIndex, streams see `lay` and `keep`
   */
  take(page: MergeRows, from: number, to: number, streamIndex: number, streams: readonly Stream[]): number {
    const { base, hashes, lineOffsets, times } = page;
    const stream = this.#numberOf(streamIndex, streams);
    const numbers = this.#numbersOf(page);
    const start = this.lineBytes;
    let row = from;
    do {
      const at = this.rows;
      if (at === this.#times.length) this.#growRows();
      this.#lineEnd[at] = start + lineOffsets[row + 1] - lineOffsets[from];
      this.#times[at] = base + times[row];
      this.#streamOf[at] = stream;
      this.#hashes[2 * at] = hashes.words[2 * row];
      this.#hashes[2 * at + 1] = hashes.words[2 * row + 1];
      this.#layPairs(page.metadata, row, at, numbers);
      const lineBytes = lineOffsets[row + 1] - lineOffsets[row];
      this.sum.addRow(hashes, row, lineBytes);
      this.#addToPage(streamIndex, lineBytes);
      this.rows++;
      row++;
    } while (
      row < to &&
      !this.full &&
      !this.endsBefore(streamIndex, lineOffsets[row + 1] - lineOffsets[row])
    );
    const end = this.lineBytes;
    if (end > this.#lines.length) this.#growLines(end, start);
    page.lines.copy(this.#lines, start, lineOffsets[from], lineOffsets[row]);
    return row - from;
  }

  /** Returns the number of a stream in the batch. Streams ascend. */
  #numberOf(streamIndex: number, streams: readonly Stream[]): number {
    if (streamIndex !== this.#lastStream) {
      this.#streams.push(streams[streamIndex]);
      this.#lastStream = streamIndex;
    }
    return this.#streams.length - 1;
  }

  /** Compares hashes of appended rows: equal if two rows are the same entry, of one stream and timestamp. */
  sameHash(a: number, b: number): boolean {
    const hashes = this.#hashes;
    return hashes[2 * a] === hashes[2 * b] && hashes[2 * a + 1] === hashes[2 * b + 1];
  }

  hashOf(row: number): number {
    return this.#hashes[2 * row];
  }

  /** Returns true if line and metadata of two rows are equal. */
  sameEntry(a: number, b: number): boolean {
    const lines = this.#lines;
    const lineEnd = this.#lineEnd;
    return (
      equalRange(lines, this.#startOf(a), lineEnd[a], lines, this.#startOf(b), lineEnd[b]) &&
      samePairs(this.#pairs, a, b)
    );
  }

  #startOf(row: number): number {
    return row === 0 ? 0 : this.#lineEnd[row - 1];
  }

  /** Returns the line of a row, valid until the next row is appended. */
  lineOf(row: number): Buffer {
    return this.#lines.subarray(this.#startOf(row), this.#lineEnd[row]);
  }

  /** Returns name and value of each pair of a row, ascending by name. */
  pairsOf(row: number): [string, string][] {
    const { first, name, value } = this.#pairs;
    const list: [string, string][] = [];
    for (let p = first[row]; p < first[row + 1]; p++) {
      list.push([this.#names[name[p]], this.#values[value[p]].toString('utf8')]);
    }
    return list.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  }

  /** Returns the kept rows as views, valid until `clear`. */
  toRows(): ChunkRows {
    const { rows } = this;
    const lines = this.#lines;
    const lineEnd = this.#lineEnd;
    const pairs = this.#pairs;
    const lineStart = new Uint32Array(rows);
    lineStart.set(lineEnd.subarray(0, rows - 1), 1);
    return {
      streams: this.#streams,
      rows,
      streamOf: this.#streamOf.subarray(0, rows),
      times: this.#times.subarray(0, rows),
      sources: [lines],
      sourceOf: new Uint16Array(rows),
      lineStart,
      lineEnd: lineEnd.subarray(0, rows),
      names: this.#names,
      values: this.#values,
      firstPair: pairs.first.subarray(0, rows + 1),
      pairName: pairs.name,
      pairValue: pairs.value,
    };
  }

  #numbersOf(page: MergeRows): PageNumbers {
    const known = this.#numbers.get(page);
    if (known !== undefined) return known;
    const made = {
      names: Uint32Array.from(page.metadata, ({ name }) => this.#nameId(name)),
      values: page.metadata.map(({ count }) => new Uint32Array(count + 1)),
    };
    this.#numbers.set(page, made);
    return made;
  }

  #nameId(name: string): number {
    const known = this.#nameIds.get(name);
    if (known !== undefined) return known;
    this.#nameIds.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  #valueId(text: string): number {
    const known = this.#valueIds.get(text);
    if (known !== undefined) return known;
    const value = Buffer.from(text);
    this.#valueBytes += value.length;
    this.#valueIds.set(text, this.#values.length);
    return this.#values.push(value) - 1;
  }

  #growRows(): void {
    const capacity = this.#times.length * 2;
    this.#times = grown(this.#times, new Float64Array(POOL.take(8 * capacity).buffer, 0, capacity));
    this.#lineEnd = grown(this.#lineEnd, words(capacity));
    this.#streamOf = grown(this.#streamOf, words(capacity));
    this.#hashes = grown(this.#hashes, words(2 * capacity));
    this.#pairs.first = grown(this.#pairs.first, words(capacity + 1));
  }

  /** @param used bytes of lines that are in the buffer */
  #growLines(needed: number, used: number): void {
    const usual = this.#maxBytes + LAST_LINE_BYTES;
    const doubled = this.#lines.length * 2;
    const larger = POOL.take(Math.max(needed, needed <= usual ? Math.min(doubled, usual) : doubled));
    this.#lines.copy(larger, 0, 0, used);
    giveBack(this.#lines);
    this.#lines = larger;
  }

  #growPairs(more: number): void {
    const capacity = this.#pairs.name.length * 2 + more;
    this.#pairs.name = grown(this.#pairs.name, words(capacity));
    this.#pairs.value = grown(this.#pairs.value, words(capacity));
  }
}

/** Returns words that are not cleared. */
function words(count: number): Uint32Array {
  return new Uint32Array(POOL.take(4 * count).buffer, 0, count);
}

/** Copies a column to larger memory, and returns the old memory to the pool. */
function grown<T extends Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  giveBack(from);
  return to;
}

/** Returns the memory of lines or a column to the pool, or frees it if it is not from there. */
function giveBack(array: ArrayBufferView): void {
  if (!POOL.give(Buffer.from(array.buffer))) freeWhole(array);
}
