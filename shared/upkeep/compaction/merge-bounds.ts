/**
 * The memory limits of a merge. A file store writes the output page by page. Over S3, it is in memory as
 * stored, about as large as its inputs together. In addition, a merge uses at most
 *
 *     256 MiB   footers of the inputs, or of two that are larger         MAX_FOOTERS_BYTES
 *      64 MiB   bytes that were read and are not decoded yet over S3     READ_BUDGET_BYTES
 *       8 MiB   the same for files, or two pages of each input           FILE_READ_BUDGET_BYTES
 *     512 MiB   decoded pages, one of each strand                        MAX_OPEN_PAGES_BYTES
 *      64 MiB   index parts of inputs                                    MAX_EXTRAS_BYTES
 *       4 MiB   two batches of rows for the writer, usually              BATCH_BYTES
 *       6 MiB   the same for lines of three syntaxes                     line-syntax.ts
 *      48 MiB   the same for 8 parts of the streams, two pages of each
 *      32 MiB   the same, if very many entries have one timestamp        OVERFLOW_FACTOR
 *     100 MiB   digests of further entries of one timestamp              MAX_TIE_DIGESTS
 *
 * Usual inputs are far below: a page of 1 MiB of lines uses 1.5 MiB, and as many are planned as use 192 MiB: 42 merged
 * chunks with lines of three syntaxes, or 682 pushes of more than 512 KiB.
 */
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import {
  INDEXED_PUSH_BYTES,
  PAGE_TARGET_BYTES,
  type PageMeta,
  pageBytesOfPush,
} from '../../storage/chunk/format.ts';
import { metadataOf } from '../../storage/chunk/stored-page.ts';
import { LINE_SYNTAXES } from './line-syntax.ts';
import type { MergeInput } from './merge-reader.ts';
import { FINAL_LEVEL } from './merge-sizes.ts';

/** Shared by the inputs. Half is for the ranges in use, half for those that are requested meanwhile. */
export const READ_BUDGET_BYTES = 64 * 1024 * 1024;
/** A read of a file takes 0.1 ms, so small ranges do not delay the merge. */
export const FILE_READ_BUDGET_BYTES = 8 * 1024 * 1024;
export const MAX_OPEN_PAGES_BYTES = 512 * 1024 * 1024;
/** Lines of open pages up to which merges are planned: they use PLANNED_PAGES_BYTES. */
const PLANNED_LINE_BYTES = 128 * PAGE_TARGET_BYTES;
/** Decoded pages above which the strands of inputs are made of runs, which need fewer open pages (strands.ts). */
export const PLANNED_PAGES_BYTES = 192 * 1024 * 1024;

/**
 * Decoded footers of the inputs: 97 of 10,000 streams use 141 MB. Above the limit, fewer inputs are merged at
 * once.
 */
export const MAX_FOOTERS_BYTES = 256 * 1024 * 1024;
/** Measured: a run as an object, and a stream of five labels with its text. */
export const BYTES_PER_RUN = 130;
export const BYTES_PER_STREAM = 1600;

/**
 * A batch is about two pages, so that the thread pool has work while the next batch is filled. With 4 MiB, a merge
 * holds 5 MB more, for the same CPU.
 */
export const BATCH_BYTES = 2 * 1024 * 1024;
/** Two pages of tiny lines. */
export const BATCH_ROWS = 131_072;
export const BATCH_PAIRS = 1_048_576;
/**
 * Entries of one stream and timestamp stay in one batch, up to this many times a usual one, so that their
 * bytes can be compared.
 */
export const OVERFLOW_FACTOR = 8;
/** Above OVERFLOW_FACTOR, entries of the one timestamp are represented by a digest, 100 bytes each. */
export const MAX_TIE_DIGESTS = 1_000_000;

/**
 * Minimum share of a full page that is copied. The last page of a merge can have any size. Smaller
 * pages are encoded together with other rows, so that they do not add up over the merges of a day.
 */
export const COPIED_SHARE = 1 / 4;
/**
 * Minimum mean of the runs of a copied page, as a share of a full page: 16 KiB. A query of one stream reads all pages that
 * have rows of it. With shorter runs it would read and unpack over 64 times the lines that it needs, so such
 * rows are encoded again, together with others of their streams.
 */
export const COPIED_RUN_SHARE = 1 / 64;
/** Index parts of inputs whose pages may be copied; usually a tenth of their stored bytes. */
export const MAX_EXTRAS_BYTES = 64 * 1024 * 1024;

/** Decoded lines or rows between two yields: 1 to 3 ms of work. */
export const SLICE_BYTES = 512 * 1024;
export const SLICE_ROWS = 8192;

/**
 * The inputs cannot be merged together within the limits. Fewer of them can: two always, except hostile ones.
 */
export class MergeTooLargeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MergeTooLargeError';
  }
}

/** Indexes of pages that are open one after the other (strands.ts). */
type OpenedPages = readonly { readonly page: number }[];

/**
 * Returns the maximum bytes of decoded pages that a merge of these inputs holds: a page of each strand. Pages that
 * are apart are decoded one at a time, if at all.
 */
export function openPagesBytes(
  inputs: readonly Pick<MergeInput, 'footer'>[],
  divided: readonly { readonly strands: readonly OpenedPages[] }[],
): number {
  let bytes = 0;
  for (const [i, { strands }] of divided.entries()) {
    const { pages } = inputs[i].footer;
    for (const strand of strands) {
      let largest = 0;
      for (const { page } of strand) largest = Math.max(largest, decodedBytes(pages[page]));
      bytes += largest;
    }
  }
  return bytes;
}

/**
 * Returns how many of these chunks can usually be merged at once, because a page of each fits in memory. The records say
 * only how many lines a chunk has.
 */
export function fittingInputs(records: readonly ChunkRecord[]): number {
  let bytes = 0;
  for (const { level, lineBytes } of records) {
    const isPush = level === 0 && lineBytes < INDEXED_PUSH_BYTES;
    const pageBytes = isPush ? pageBytesOfPush(lineBytes) : PAGE_TARGET_BYTES;
    // Pages of a merged chunk ascend within each syntax.
    const pages = level < FINAL_LEVEL ? 1 : LINE_SYNTAXES.length;
    bytes += Math.min(lineBytes, pages * pageBytes);
  }
  return Math.floor((PLANNED_LINE_BYTES * records.length) / Math.max(1, bytes));
}

/** Times, offsets, hashes and metadata bytes of a row. */
const BYTES_PER_ROW = 8 + 4 + 8 + 8;
/** For each byte of a metadata column: its raw bytes, its values as texts, and their offsets. */
const BYTES_PER_METADATA_BYTE = 5;

function decodedBytes(page: PageMeta): number {
  const { rows, lineBytes } = page;
  let bytes = lineBytes + rows * BYTES_PER_ROW;
  for (const { block } of metadataOf(page)) bytes += rows * 4 + block.rawBytes * BYTES_PER_METADATA_BYTE;
  return bytes;
}
