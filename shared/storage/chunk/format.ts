/**
 * Chunk object: one tenant, one UTC day, many streams.
 *
 *     page*  sections  footer  footer-length(u32)  magic(8)
 *
 * docs/dev/format.md describes every byte. Pushes (or groups of pushes) and compaction write the same format,
 * with one writer and one reader. All numbers in this file are part of the format or affect its speed, as
 * each comment states.
 */
import { invariant } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import type { BlockHandle } from '../codec/compression.ts';

/** Last 8 bytes of every object. */
export const MAGIC = Buffer.from('LOGBOOM1', 'latin1');
/**
 * Format version, incremented if readers of the previous version could misread. Every version stays readable
 * (test/chunk/golden). An object has the lowest version that supports its content (`versionOf`).
 */
export const FORMAT_VERSION = 7;
/** Size of footer-length and magic. */
export const TRAILER_BYTES = 12;

/** Last minute bucket of a day: bucket m holds `(m-1) min < time of day <= m min`, and bucket 0 only midnight. */
export const LAST_MINUTE = 1440;

/**
 * Page size: 1 MiB of raw lines, or two thirds of that at the end of a stream. zstd then loses 3% against
 * unlimited blocks. A false positive of the text index costs under 1 ms. A query of one stream reads few other streams.
 * With a quarter instead of two thirds, merges of 25 MB have 1.8 times as many pages, 2% more bytes, and take 10% more CPU.
 */
export const PAGE_TARGET_BYTES = 1024 * 1024;
/**
 * Page size of large pushes without a text index, which are merged within seconds or minutes; half of that at the end of a
 * stream. A merge holds one page of each push. With a fifth of the usual size, hundreds of pushes fit in one merge, and their
 * lines are encoded once. The pages take 2% more bytes. Half of a page is large enough for a task of the thread pool.
 */
const PUSH_PAGE_BYTES = 192 * 1024;
/** Raw bytes of lines up to which a push is small: pages of the usual size, because each costs 0.2 ms in ingest and merge. */
const SMALL_PUSH_BYTES = 512 * 1024;

/**
 * Raw line bytes from which on a push is written with text index and field columns. Half a second of queries
 * that read it completely costs more than the 25 ms per MiB of indexing. Smaller pushes are merged with
 * others within seconds or minutes.
 */
export const INDEXED_PUSH_BYTES = 8 * 1024 * 1024;

/** Returns the page size of a push without a text index. @param lineBytes raw bytes of its lines */
export function pageBytesOfPush(lineBytes: number): number {
  return lineBytes > SMALL_PUSH_BYTES ? PUSH_PAGE_BYTES : PAGE_TARGET_BYTES;
}
/**
 * Maximum metadata names of one page; a page ends before it would exceed this. It is twice the default limit
 * of one entry.
 */
export const PAGE_MAX_NAMES = 256;
/** Maximum of rows times names: 16 MiB of dictionary indexes if all are decoded. */
export const PAGE_MAX_CELLS = 4 * 1024 * 1024;

/** Maximum size of a dictionary in the footer, where a query reads it without the page. */
export const FOOTER_DICTIONARY_VALUES = 32;
export const FOOTER_DICTIONARY_BYTES = 512;

/**
 * Maximum distinct detected levels that are counted separately; further ones are counted under OTHER_LEVELS.
 */
export const MAX_COUNTED_LEVELS = 32;
/** Not a valid result of level detection, so it cannot collide with one. */
export const OTHER_LEVELS = '\u0000other';

/** Metadata name whose value splits the counts. */
export const LEVEL_NAME = 'detected_level';

export const ColumnKind = {
  /** High parts of the timestamps. */
  times: 1,
  /** Low bytes of the timestamps; absent if the timestamps have none. */
  lowTimes: 6,
  metadata: 2,
  lengths: 3,
  lines: 4,
  /** Field of JSON or logfmt lines that occurs often (shared/execution/fields). */
  field: 5,
  /**
   * Residual fields, if columns and residual fields contain everything in the lines
   * (shared/execution/fields/residuals.ts).
   */
  residuals: 7,
  /** Lines as templates and columns, instead of `lines` (split-page.ts). Objects with it have version 2 or above. */
  splitLines: 8,
  /** Frame of split lines whose fields have separate blocks. Objects with it have version 3 or above. */
  splitFrame: 9,
  /** Field of JSON or logfmt lines that is a column of the split lines. */
  splitField: 10,
  /**
   * Line lengths of merged pages, instead of `lengths` (length-column.ts). Objects with it have version 5 or above, and may have the
   * columns of split lines that came with it.
   */
  fixedLengths: 11,
  /** Low bits of the timestamps of merged pages, instead of `lowTimes` (time-column.ts). Objects with it have version 6 or above. */
  packedTimes: 12,
} as const;

export const SectionKind = {
  /** Text index: which pages can contain a text (shared/execution/text-index). */
  filter: 1,
  /**
   * Page summaries, for label filters: values and ranges of the field columns of each page
   * (shared/execution/text-index/summary-codec.ts).
   */
  summaries: 2,
  /** Patterns of the lines, with their times (shared/upkeep/pattern-mining). */
  patterns: 3,
} as const;

export interface ColumnMeta {
  /** Kind, one of ColumnKind; readers skip unknown kinds. */
  readonly kind: number;
  /** Metadata or field name; empty for other columns. */
  readonly name: string;
  /** Position; the offset is from the start of the page. */
  readonly block: BlockHandle;
  /** Values of a small dictionary; absent if it is stored in the column. */
  readonly dictionary?: readonly string[];
  /** Whether every row has the dictionary's only value, so that the page stores nothing for it. */
  readonly constant: boolean;
  /** Whether values of these split lines show the times of their rows. Objects with it have version 4 or above. */
  readonly isTimed?: boolean;
}

export interface RunMeta {
  /** Index into the footer's streams. */
  readonly stream: number;
  readonly firstRow: number;
  readonly rows: number;
  /** Nanoseconds since the start of the day. */
  readonly first: number;
  readonly last: number;
  readonly lineBytes: number;
  /** Bytes of metadata names and values. */
  readonly metadataBytes: number;
}

export interface PageMeta {
  /** Offset from the start of the object. */
  readonly offset: number;
  readonly storedBytes: number;
  readonly rows: number;
  /** Raw bytes of the lines. */
  readonly lineBytes: number;
  /** Base of the timestamps, nanoseconds since the start of the day. */
  readonly base: number;
  /** Index into SCALES. */
  readonly scale: number;
  readonly runs: readonly RunMeta[];
  /**
   * Columns in the order of their bytes: times, low times, metadata, lengths, field columns, residual fields,
   * lines in either form.
   */
  readonly columns: readonly ColumnMeta[];
}

/** Returns whether the kind is one of the two forms of lines. */
export function isOfLines(kind: number): boolean {
  return kind === ColumnKind.lines || kind === ColumnKind.splitLines;
}

/** Returns the version of an object with these pages. */
export function versionOf(pages: readonly PageMeta[]): number {
  if (!areSorted(pages)) return FORMAT_VERSION;
  const has = (is: (column: ColumnMeta) => boolean | undefined) =>
    pages.some(({ columns }) => columns.some(is));
  if (has(({ kind }) => kind === ColumnKind.packedTimes)) return 6;
  if (has(({ kind }) => kind === ColumnKind.fixedLengths)) return 5;
  if (has(({ isTimed }) => isTimed)) return 4;
  if (has(({ kind }) => kind === ColumnKind.splitFrame)) return 3;
  return has(({ kind }) => kind === ColumnKind.splitLines) ? 2 : 1;
}

/** Whether rows ascend by stream and time through all pages, as they do in versions up to 6. */
function areSorted(pages: readonly PageMeta[]): boolean {
  let stream = 0;
  let time = 0;
  for (const { runs } of pages) {
    for (const run of runs) {
      if (run.stream < stream || (run.stream === stream && run.first < time)) return false;
      stream = run.stream;
      time = run.last;
    }
  }
  return true;
}

/** Entries of one stream and level; the arrays are parallel and ascend by minute. */
export interface LevelCounts {
  /** Index into the footer's levels. */
  readonly level: number;
  /** Bucket m contains entries with `(m-1) min < time of day <= m min`. */
  readonly minutes: readonly number[];
  readonly entries: readonly number[];
  readonly lineBytes: readonly number[];
  /** Bytes of metadata names and values. */
  readonly metadataBytes: readonly number[];
}

/** Counts by stream index: an array for a chunk under construction, stored bytes for one that was read. */
export interface CountsByStream extends Iterable<readonly LevelCounts[]> {
  readonly length: number;
  /** Returns the counts of one stream; buckets outside the range may be omitted. Callers use `countsOf`. */
  at(stream: number, range?: MinuteRange): readonly LevelCounts[] | undefined;
}

/** Minutes of a day, both inclusive. */
export interface MinuteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the counts of a stream by its index. Throws CorruptionError.
 * @param range Buckets outside may be omitted
 */
export function countsOf(
  { counts, id }: Pick<Footer, 'counts' | 'id'>,
  stream: number,
  range?: MinuteRange,
): readonly LevelCounts[] {
  const found = counts.at(stream, range);
  invariant(found !== undefined, `chunk ${id} counts its stream ${stream}`);
  return found;
}

/** Section between pages and footer; readers skip unknown kinds. */
export interface SectionMeta {
  readonly kind: number;
  readonly block: BlockHandle;
}

export interface Footer {
  readonly version: number;
  /** Chunk ID, 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  /** UTC day since 1970-01-01. */
  readonly day: number;
  /** Level: 0 for chunks of pushes; compaction increments it. */
  readonly level: number;
  /** Unix ms at which the object was written. */
  readonly createdMs: number;
  /** IDs of the chunks from which this one was merged. */
  readonly inputs: readonly string[];
  /**
   * ID of the oldest pushed chunk among the sources of its rows; for a pushed chunk, its own ID. Orders equal
   * timestamps between chunks.
   */
  readonly origin: string;
  readonly rows: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
  /** Nanoseconds since the start of the day. */
  readonly first: number;
  readonly last: number;
  /** Streams, ascending by text. */
  readonly streams: readonly Stream[];
  readonly pages: readonly PageMeta[];
  /** Values of detected_level; '' means entries without one. */
  readonly levels: readonly string[];
  /** Counts of each stream by level. */
  readonly counts: CountsByStream;
  readonly sections: readonly SectionMeta[];
}
