/**
 * Divides sorted rows into pages (docs/dev/format.md#33-pages, #5-limits-of-writers). Page boundaries do not depend on
 * the batches in which rows arrive: the next batch continues the page that a batch leaves open.
 */
import { PAGE_MAX_ROWS } from '../../base/model/page.ts';
import type { Steps } from '../../base/model/steps.ts';
import { PAGE_MAX_CELLS, PAGE_MAX_NAMES, PAGE_TARGET_BYTES } from './format.ts';
import type { ChunkRows } from './rows.ts';

/**
 * Maximum bytes of distinct metadata values in one page, and the overhead per value. Only pages of very short
 * lines with large metadata reach it. Without it, a page could hold gigabytes, and a block that is larger
 * than readers accept.
 */
const PAGE_MAX_VALUE_BYTES = 16 * 1024 * 1024;
const BYTES_PER_VALUE = 16;
/** Rows per step: a few tenths of a ms. */
const ROWS_A_STEP = 8192;

/**
 * Returns the rows of `input` that begin a page after another one, ascending, in steps.
 * @param open Rows of the page that earlier batches left open, with only the names and values that they use.
 * The first page of `input` continues it, unless row 0 is among the cuts.
 * @param pageBytes Raw bytes of the lines of a page
 */
export function* cutPages(
  input: ChunkRows,
  open?: ChunkRows,
  pageBytes = PAGE_TARGET_BYTES,
): Steps<number[]> {
  const { rows, streams, streamOf, lineStart, lineEnd } = input;
  const cuts: number[] = [];
  const page = new PageFill(pageBytes);
  const pairs = fitOnePage(input, open) ? undefined : new PagePairs(input, open);
  if (open !== undefined) {
    page.rows = open.rows;
    for (let row = 0; row < open.rows; row++) page.bytes += open.lineEnd[row] - open.lineStart[row];
    if (open.streams[open.streams.length - 1].text === streams[streamOf[0]].text) page.stream = streamOf[0];
  }
  for (let row = 0; row < rows; row++) {
    const lineBytes = lineEnd[row] - lineStart[row];
    const stream = streamOf[row];
    if (page.endsBefore(stream, lineBytes) || (page.rows > 0 && pairs?.exceedWith(row, page.rows + 1))) {
      cuts.push(row);
      page.begin();
      pairs?.beginPage();
    }
    pairs?.add(row);
    page.add(stream, lineBytes);
    if (row % ROWS_A_STEP === ROWS_A_STEP - 1) yield;
  }
  return cuts;
}

/** What the page that is being filled has so far. It decides where the page ends, apart from the limits on metadata. */
export class PageFill {
  rows = 0;
  /** Raw bytes of lines. */
  bytes = 0;
  /** Number of the stream of the last row; -1 if no further row is of that stream. */
  stream = -1;
  readonly #maxBytes: number;
  /** Bytes from which a page ends where a stream ends: two thirds of a page, or half of a small one. */
  readonly #streamEndBytes: number;

  /** @param maxBytes raw bytes of the lines of a page */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#streamEndBytes = maxBytes < PAGE_TARGET_BYTES ? maxBytes / 2 : Math.floor((maxBytes * 2) / 3);
  }

  /** Whether a row begins the next page. */
  endsBefore(stream: number, lineBytes: number): boolean {
    return (
      this.rows > 0 &&
      (this.bytes + lineBytes > this.#maxBytes ||
        (stream !== this.stream && this.bytes >= this.#streamEndBytes) ||
        this.rows >= PAGE_MAX_ROWS)
    );
  }

  /** Begins a page without rows. */
  begin(): void {
    this.rows = 0;
    this.bytes = 0;
  }

  add(stream: number, lineBytes: number): void {
    this.rows++;
    this.bytes += lineBytes;
    this.stream = stream;
  }
}

/** Returns true if no page can have too many names or values, as in nearly all chunks: they need not be counted. */
function fitOnePage(input: ChunkRows, open: ChunkRows | undefined): boolean {
  let rows = input.rows;
  let names = input.names.length;
  let valueBytes = bytesOfValues(input);
  if (open !== undefined) {
    rows += open.rows;
    names += open.names.length;
    valueBytes += bytesOfValues(open);
  }
  return (
    names <= PAGE_MAX_NAMES &&
    Math.min(rows, PAGE_MAX_ROWS) * names <= PAGE_MAX_CELLS &&
    valueBytes <= PAGE_MAX_VALUE_BYTES
  );
}

function bytesOfValues({ values }: ChunkRows): number {
  let bytes = 0;
  for (const value of values) bytes += value.length + BYTES_PER_VALUE;
  return bytes;
}

/** Counts the distinct metadata names and values of each page. */
class PagePairs {
  readonly #input: ChunkRows;
  /** Number of the page, from 1, in which a name or value last occurred. */
  readonly #pageOfName: Int32Array;
  readonly #pageOfValue: Int32Array;
  #page = 1;
  #names = 0;
  #valueBytes = 0;

  constructor(input: ChunkRows, open: ChunkRows | undefined) {
    this.#input = input;
    this.#pageOfName = new Int32Array(input.names.length);
    this.#pageOfValue = new Int32Array(input.values.length);
    if (open === undefined) return;
    this.#names = open.names.length;
    this.#valueBytes = bytesOfValues(open);
    markKnown(input, open, this.#pageOfName, this.#pageOfValue);
  }

  /** Returns true if the page would have too many names or values with a row, as its row number `pageRows`. */
  exceedWith(row: number, pageRows: number): boolean {
    const { firstPair, pairName, pairValue, values } = this.#input;
    let names = this.#names;
    let valueBytes = this.#valueBytes;
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      if (this.#pageOfName[pairName[p]] !== this.#page) names++;
      const value = pairValue[p];
      if (this.#pageOfValue[value] !== this.#page) valueBytes += values[value].length + BYTES_PER_VALUE;
    }
    return names > PAGE_MAX_NAMES || pageRows * names > PAGE_MAX_CELLS || valueBytes > PAGE_MAX_VALUE_BYTES;
  }

  beginPage(): void {
    this.#page++;
    this.#names = 0;
    this.#valueBytes = 0;
  }

  add(row: number): void {
    const { firstPair, pairName, pairValue, values } = this.#input;
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      if (this.#pageOfName[pairName[p]] !== this.#page) {
        this.#pageOfName[pairName[p]] = this.#page;
        this.#names++;
      }
      const value = pairValue[p];
      if (this.#pageOfValue[value] !== this.#page) {
        this.#pageOfValue[value] = this.#page;
        this.#valueBytes += values[value].length + BYTES_PER_VALUE;
      }
    }
  }
}

/** Marks the names and values of the open page, which is page 1. */
function markKnown(input: ChunkRows, open: ChunkRows, pageOfName: Int32Array, pageOfValue: Int32Array): void {
  const names = new Set(open.names);
  for (let n = 0; n < input.names.length; n++) if (names.has(input.names[n])) pageOfName[n] = 1;
  if (open.values.length === 0) return;
  const values = new Set(open.values.map(value => value.latin1Slice()));
  for (let v = 0; v < input.values.length; v++) {
    if (values.has(input.values[v].latin1Slice())) pageOfValue[v] = 1;
  }
}
