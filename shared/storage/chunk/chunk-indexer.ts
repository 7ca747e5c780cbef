/**
 * Derived data of a chunk object, computed from the lines while pages are compressed: field columns and
 * sections. Entries are complete without it.
 */
import type { SplitLines } from '../../base/kernels/split-lines.ts';
import type { ColumnKind } from './format.ts';
import type { ChunkRows } from './rows.ts';

export interface ExtraColumn {
  /** Kind of the column. Default: `field`. */
  readonly kind?: (typeof ColumnKind)['field' | 'residuals' | 'splitFrame' | 'splitField'];
  /** Name of the column in the footer. */
  readonly name: string;
  /**
   * Bytes, stored without compression. For `splitFrame`, the parser mark of each template. Empty for
   * `splitField`.
   */
  readonly bytes: Uint8Array;
  /** Column of the split lines, for `splitField`. */
  readonly splitColumn?: number;
}

export interface ExtraSection {
  /** Kind of the section, one of SectionKind. */
  readonly kind: number;
  /** Bytes, stored without compression. */
  readonly bytes: Uint8Array;
}

/** Structured metadata of a page with too many values to list in the footer. */
export interface LargeMetadata {
  readonly name: string;
  /** Distinct values. */
  readonly values: readonly Uint8Array[];
}

/** Origin of a page's rows: row i is row `from + i` of the input. */
export interface PageOrigin {
  readonly input: ChunkRows;
  readonly from: number;
  /** Split lines whose columns may be fields; only if the page will certainly have split lines. */
  readonly split?: SplitLines | undefined;
}

/** A page that is copied from another object with its field columns. */
export interface PageCopy {
  /** Number of the other object among those whose derived data the indexer has. */
  readonly source: number;
  /** Index of the page in the other object. */
  readonly index: number;
  /** Raw bytes of its lines. */
  readonly lineBytes: number;
}

/** Computes the derived data of one object. */
export interface ChunkIndexer {
  /**
   * Called for each page in the order of the object. Line i is between offsets i and i + 1. The lines are
   * valid only during the call. `metadata` contains all names whose values the footer does not list. The
   * result becomes columns of the page, in its order.
   */
  page(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    metadata: readonly LargeMetadata[],
    origin: PageOrigin,
  ): readonly ExtraColumn[];
  /** Called instead of `page` for a page that is copied. Without it, no page can be copied. */
  copied?(page: PageCopy): void;
  /** Called after the last page. */
  finish(): readonly ExtraSection[];
}
