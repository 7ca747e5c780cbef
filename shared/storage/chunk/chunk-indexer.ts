/** What an object may hold beside its entries, made of their lines while pages are packed; entries are whole without it. */
import type { ColumnKind } from './format.ts';
import type { ChunkRows } from './rows.ts';

export interface ExtraColumn {
  /** Left out: `promoted`. */
  readonly kind?: typeof ColumnKind.promoted | typeof ColumnKind.rests;
  /** The column's name in the footer. */
  readonly name: string;
  /** Stored as they are. */
  readonly bytes: Uint8Array;
}

export interface ExtraSection {
  /** One of SectionKind. */
  readonly kind: number;
  /** Stored as they are. */
  readonly bytes: Uint8Array;
}

/** Structured metadata of a page that has too many values for the footer to list them. */
export interface LargeMetadata {
  readonly name: string;
  /** Each value once. */
  readonly values: readonly Uint8Array[];
}

/** Where the rows of a page come from: its row i is row `from + i`. */
export interface PageOrigin {
  readonly input: ChunkRows;
  readonly from: number;
}

/** Of one object. */
export interface ChunkIndexer {
  /**
   * Called for each page in the order of the object; line i lies between offsets i and i + 1. The lines are valid during
   * the call. `metadata` are all names whose values the footer does not list. The result becomes columns of the page, in its order.
   */
  page(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    metadata: readonly LargeMetadata[],
    origin: PageOrigin,
  ): readonly ExtraColumn[];
  /** Called behind the last page. */
  finish(): readonly ExtraSection[];
}

/** Of an object that is made from another one and has most pages of it as they are. */
export interface PatchEnricher extends ChunkIndexer {
  /**
   * Called instead of `page` for a page that is copied, promoted columns and all.
   *
   * @param place of the page in the other object
   * @param lineBytes raw bytes of its lines
   */
  copied(place: number, lineBytes: number): void;
}
