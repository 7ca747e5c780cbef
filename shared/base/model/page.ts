/**
 * Rows of one page in columns. The chunk reader produces them and pipelines run on them. No object represents
 * a row; a row is an index into these columns.
 */
import type { BytePattern } from './byte-pattern.ts';
import type { Labels } from './labels.ts';
import type { CaptureWants, PageCaptures } from './page-captures.ts';
import type { FieldColumns } from './page-fields.ts';

/** Maximum number of rows of a page. It bounds the columns of pages with very short lines. */
export const PAGE_MAX_ROWS = 65_536;

/** Stream as a page refers to it. */
export interface Stream {
  readonly labels: Labels;
  /** Canonical label text; equal text means the same stream. */
  readonly text: string;
}

/** Consecutive rows of one stream: `firstRow` to `firstRow + rows - 1`, ascending by time. */
export interface Run {
  readonly stream: Stream;
  readonly firstRow: number;
  readonly rows: number;
}

/** Structured metadata with one name: a dictionary, and a dictionary index for each row. */
export interface MetadataColumn {
  readonly name: string;
  /**
   * Value ID of each row: 0 if the entry lacks the name, else 1 + index of its value. That value is never
   * empty.
   */
  readonly ids: Uint32Array;
  /** Number of distinct values. Chunks of earlier versions may include an empty value. */
  readonly count: number;
  /** Returns value number `index`, 0 <= index < count. Decoded once, then cached. */
  valueAt(index: number): string;
}

/** Remembers results of line filters (storage/columns/filtered-rows.ts). */
export interface KnownFilters {
  narrow(
    filter: string,
    selection: Uint32Array,
    count: number,
    select: (selection: Uint32Array, count: number) => number,
  ): number;
}

/** The columns of a page. Rows are sorted by (stream, timestamp). */
export interface PageRows {
  readonly rows: number;
  /** Unix nanoseconds that `times` is relative to. */
  readonly baseNs: bigint;
  /** `rows` offsets from `baseNs`, ns, whole numbers below 2^53 (a page never crosses a UTC day). */
  readonly times: Float64Array;
  /** All lines, concatenated without separators. Valid until the lines of another page are read. */
  readonly lines: Buffer;
  /** `rows + 1` offsets into `lines`, bytes. */
  readonly lineOffsets: Uint32Array;
  /** Runs in row order; together they cover all rows. */
  readonly runs: readonly Run[];
  readonly metadata: readonly MetadataColumn[];
  /** Field columns of the lines. Undefined if the caller did not request them, or if the page has none. */
  readonly fieldColumns?: FieldColumns | undefined;
  /** Undefined if the page is not cached. */
  readonly knownFilters?: KnownFilters | undefined;
  /**
   * Returns captures of rows in these runs of the page, for a query that needs those of `rows` rows. They come from columns of split
   * lines, or from what a cached page keeps. Undefined if they must be searched in the lines. Throws CorruptionError.
   */
  captures?(wants: CaptureWants, runs: readonly Run[], rows: number): PageCaptures | undefined;
  /**
   * Narrows `selection[0..count)`, ascending rows, in place to rows whose line may contain one of the patterns, or to all of them
   * without patterns. The returned page has the lines of these rows only: the bytes of other lines are zeros. That costs less than
   * `lines`. Returns undefined if it does not, and keeps the selection.
   */
  narrow?(selection: Uint32Array, count: number, patterns: readonly BytePattern[]): NarrowedPage | undefined;
  /**
   * Returns the values of split lines in the rows `selection[0..count)`, which are ascending. Undefined if the lines are not split,
   * or are cached. Throws CorruptionError.
   */
  values?(selection: Uint32Array, count: number): LineValues | undefined;
}

/** Values of split lines, without the constant text of their templates. Valid until values of another page are read. */
export interface LineValues {
  /** Lines of the rows, concatenated, with a zero byte for each byte of constant text. */
  readonly bytes: Buffer;
  /** Offset of each row's line by its index in the selection, and the end of the last one. */
  readonly offsets: Uint32Array;
  /** Template of each row; 0 if the line is one value. */
  readonly templateOf: ArrayLike<number>;
  /** Constant text of each template, template 1 first. */
  readonly templates: readonly LineTemplate[];
}

export interface LineTemplate {
  /** Bytes as latin1, without the values between them. */
  readonly text: string;
  /** Offsets in the text at which the values are. */
  readonly values: readonly number[];
}

/** Page with the lines of some of its rows. */
export interface NarrowedPage {
  readonly page: PageRows;
  /** Remaining rows of the selection. */
  readonly count: number;
}
