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
  const { rows, streams, streamOf, lineStart, lineEnd, firstPair, pairName, pairValue, values } = input;
  const cuts: number[] = [];
  const endBytes = streamEndBytes(pageBytes);
  if (open === undefined && fitsOnePage(input, pageBytes)) return cuts;
  /** Number of the page, from 1, in which a name or value last occurred. */
  const pageOfName = new Int32Array(input.names.length);
  const pageOfValue = new Int32Array(values.length);
  let page = 1;
  let pageRows = 0;
  let bytes = 0;
  let names = 0;
  let valueBytes = 0;
  let before = -1;
  if (open !== undefined) {
    pageRows = open.rows;
    for (let row = 0; row < open.rows; row++) bytes += open.lineEnd[row] - open.lineStart[row];
    names = open.names.length;
    for (const value of open.values) valueBytes += value.length + BYTES_PER_VALUE;
    markKnown(input, open, pageOfName, pageOfValue);
    if (open.streams[open.streams.length - 1].text === streams[streamOf[0]].text) before = streamOf[0];
  }
  for (let row = 0; row < rows; row++) {
    const lineBytes = lineEnd[row] - lineStart[row];
    let newNames = 0;
    let newBytes = 0;
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      if (pageOfName[pairName[p]] !== page) newNames++;
      const value = pairValue[p];
      if (pageOfValue[value] !== page) newBytes += values[value].length + BYTES_PER_VALUE;
    }
    const full =
      pageRows > 0 &&
      (bytes + lineBytes > pageBytes ||
        (streamOf[row] !== before && bytes >= endBytes) ||
        pageRows >= PAGE_MAX_ROWS ||
        names + newNames > PAGE_MAX_NAMES ||
        (pageRows + 1) * (names + newNames) > PAGE_MAX_CELLS ||
        valueBytes + newBytes > PAGE_MAX_VALUE_BYTES);
    if (full) {
      cuts.push(row);
      page++;
      pageRows = 0;
      bytes = 0;
      names = 0;
      valueBytes = 0;
    }
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      if (pageOfName[pairName[p]] !== page) {
        pageOfName[pairName[p]] = page;
        names++;
      }
      const value = pairValue[p];
      if (pageOfValue[value] !== page) {
        pageOfValue[value] = page;
        valueBytes += values[value].length + BYTES_PER_VALUE;
      }
    }
    pageRows++;
    bytes += lineBytes;
    before = streamOf[row];
    if (row % ROWS_A_STEP === ROWS_A_STEP - 1) yield;
  }
  return cuts;
}

/** Bytes of lines from which a page ends where a stream ends: two thirds of a page, or half of a small one. */
export function streamEndBytes(pageBytes: number): number {
  return pageBytes < PAGE_TARGET_BYTES ? pageBytes / 2 : Math.floor((pageBytes * 2) / 3);
}

/** Returns true if no row begins another page, as in most pushes. */
function fitsOnePage(input: ChunkRows, pageBytes: number): boolean {
  const { rows, streamOf, lineStart, lineEnd, names, values } = input;
  if (rows > PAGE_MAX_ROWS || names.length > PAGE_MAX_NAMES || rows * names.length > PAGE_MAX_CELLS)
    return false;
  let valueBytes = 0;
  for (const value of values) valueBytes += value.length + BYTES_PER_VALUE;
  const endBytes = streamEndBytes(pageBytes);
  let bytes = 0;
  for (let row = 0; row < rows; row++) {
    if (bytes >= endBytes && streamOf[row] !== streamOf[row - 1]) return false;
    bytes += lineEnd[row] - lineStart[row];
  }
  return valueBytes <= PAGE_MAX_VALUE_BYTES && bytes <= pageBytes;
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
