/**
 * Rows of one page, column by column: what the chunk reader produces and what pipelines run on. No object
 * stands for a row; a row is an index into these columns.
 */
import type { Labels } from './labels.ts';
import type { PromotedPage } from './page-fields.ts';

/** Maximum number of rows of a page: bounds the columns of pages with tiny lines. */
export const PAGE_MAX_ROWS = 65_536;

/** One stream as a page names it. */
export interface Stream {
  readonly labels: Labels;
  /** Canonical label text; equal text means the same stream. */
  readonly text: string;
}

/** Rows `firstRow` to `firstRow + rows - 1` of a page belong to one stream and ascend by time. */
export interface Run {
  readonly stream: Stream;
  readonly firstRow: number;
  readonly rows: number;
}

/** One structured-metadata name of a page: a dictionary and, for each row, a place in it. */
export interface MetadataColumn {
  readonly name: string;
  /** For each row: 0 where the entry lacks the name, else `valueAt(id - 1)` is its value, which is never empty. */
  readonly ids: Uint32Array;
  /** How many distinct values there are, an empty one among them where an earlier version stored such. */
  readonly count: number;
  /** Value number `index`, 0 <= index < count. Decoded once, then cached. */
  valueAt(index: number): string;
}

/** The columns of a page. Rows are sorted by (stream, timestamp). */
export interface PageRows {
  readonly rows: number;
  /** Unix nanoseconds that `times` is relative to. */
  readonly baseNs: bigint;
  /** `rows` offsets from `baseNs`, ns, whole numbers below 2^53 (a page never crosses a UTC day). */
  readonly times: Float64Array;
  /** All lines, one after the other, without separators. Valid until another page's lines are looked at. */
  readonly lines: Buffer;
  /** `rows + 1` offsets into `lines`, bytes. */
  readonly lineOffsets: Uint32Array;
  /** Runs in row order; together they cover all rows. */
  readonly runs: readonly Run[];
  readonly metadata: readonly MetadataColumn[];
  /** What parsers make of the lines; undefined where nobody asked for it, or the page has none of it. */
  readonly promoted?: PromotedPage | undefined;
}
