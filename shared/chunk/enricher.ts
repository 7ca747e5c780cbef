/** What an object may hold beside its entries, made of their lines while pages are packed; entries are whole without it. */

export interface ExtraColumn {
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

/** Of one object. */
export interface ChunkEnricher {
  /**
   * Called for each page in the order of the object; line i lies between offsets i and i + 1. The lines are valid during
   * the call. The result becomes promoted columns of the page.
   */
  page(lines: Buffer, lineOffsets: Uint32Array, rows: number): readonly ExtraColumn[];
  /** Called behind the last page. */
  finish(): readonly ExtraSection[];
}
