/** Footers and pages from their bytes. Where the bytes come from is the caller's: an object, a record, a cache. */

import { invariant } from '../../base/model/errors.ts';
import type { MetadataColumn, PageRows, Run } from '../../base/model/page.ts';
import type { PromotedPage, PromotedWants } from '../../base/model/page-fields.ts';
import type { RowRange } from '../columns/parsed-column-cache.ts';
import { promotedColumns, promotedPageOf } from './field-columns.ts';
import { decodeFooter, footerLength } from './footer-codec.ts';
import { ColumnKind, type ColumnMeta, type Footer, type PageMeta, TRAILER_BYTES } from './format.ts';
import { endOf, PageColumns } from './page-columns.ts';

/** What of a page is wanted; the rest is neither read nor unpacked. */
export interface PageWants {
  /** `lengths` gives offsets without bytes (bytes_over_time needs no more). */
  readonly lines: 'none' | 'lengths' | 'bytes';
  readonly metadata: 'all' | ReadonlySet<string>;
  /** Columns of fields of lines; left out, none are read. */
  readonly promoted?: PromotedWants | undefined;
}

/** The footer of an object held whole. */
export function footerOf(object: Buffer, what: string): Footer {
  const length = footerLength(object, object.length, what);
  const end = object.length - TRAILER_BYTES;
  return decodeFooter(object.subarray(end - length, end), what);
}

/** A stretch of a page, in bytes from its start; empty where `start` is `end`. */
export interface PageByteRange {
  readonly start: number;
  readonly end: number;
}

/** Bytes from the start of the page that hold everything wanted. */
export function wantedBytes(page: PageMeta, wants: PageWants): number {
  return wantedStretch(page, wants, () => false).end;
}

/** What must still be read for the columns wanted, where some are known. */
export function missingStretch(columns: PageColumns, wants: PageWants): PageByteRange {
  return wantedStretch(columns.page, wants, column => columns.has(column));
}

function wantedStretch(
  page: PageMeta,
  wants: PageWants,
  isKnown: (column: ColumnMeta) => boolean,
): PageByteRange {
  let start = Infinity;
  let end = 0;
  const add = (column: ColumnMeta) => {
    if (column.place.storedBytes === 0 || isKnown(column)) return;
    start = Math.min(start, column.place.offset);
    end = Math.max(end, endOf(column));
  };
  for (const column of page.columns) if (isWanted(column, wants)) add(column);
  if (wants.promoted !== undefined) promotedColumns(page, wants.promoted).forEach(add);
  return { start: Math.min(start, end), end };
}

function isWanted(column: ColumnMeta, wants: PageWants): boolean {
  switch (column.kind) {
    case ColumnKind.times:
    case ColumnKind.lowTimes:
      return true;
    case ColumnKind.metadata:
      return wants.metadata === 'all' || wants.metadata.has(column.name);
    case ColumnKind.lengths:
      return wants.lines !== 'none';
    case ColumnKind.lines:
    case ColumnKind.splitLines:
      return wants.lines === 'bytes';
    default:
      return false;
  }
}

const NO_BYTES = Buffer.alloc(0);

/**
 * The rows of a page. `stored` starts at the page's offset and holds at least `wantedBytes`. Columns are unpacked when
 * they are first looked at: a line filter that no line passes costs no timestamps and no metadata. Without lines,
 * `lines` is empty; without lengths too, all line offsets are 0. Any column may throw CorruptionError.
 */
export function decodePage(
  footer: Pick<Footer, 'day' | 'streams'>,
  page: PageMeta,
  stored: Buffer,
  wants: PageWants,
  what: string,
): PageRows {
  const columns = new PageColumns(footer, page, what);
  columns.add(0, stored);
  return rowsOf(columns, wants);
}

/** The same of columns that hold what is wanted (`missingStretch` is empty). */
export function rowsOf(columns: PageColumns, wants: PageWants): PageRows {
  return new StoredPage(columns, wants);
}

/** The columns behind rows that this file made. */
export function columnsOf(rows: PageRows): PageColumns {
  invariant(rows instanceof StoredPage, 'rows of a stored page');
  return rows.columns;
}

/** Lines of the page are not looked at any more: what was read for them is given back (see PageColumns). */
export function giveBack(rows: PageRows): void {
  columnsOf(rows).giveBack();
}

/** Most lines of the runs were parsed, as the wants say (see PageColumns). */
export function noteParsed(rows: PageRows, { promoted }: PageWants, runs: readonly RowRange[]): void {
  if (promoted !== undefined) columnsOf(rows).parsed(promoted, runs);
}

/** Of rows without lines, which all have no length. Only read. */
let noOffsets = new Uint32Array(8192);

function noOffsetsOf(rows: number): Uint32Array {
  if (noOffsets.length <= rows) noOffsets = new Uint32Array(2 * rows);
  return noOffsets.subarray(0, rows + 1);
}

/** A query's view of a page: the columns that it wants. */
class StoredPage implements PageRows {
  readonly columns: PageColumns;
  readonly rows: number;
  readonly metadata: readonly MetadataColumn[];
  readonly #stored: PromotedPage | undefined;
  readonly #wants: PageWants;

  constructor(columns: PageColumns, wants: PageWants) {
    const { page } = columns;
    this.columns = columns;
    this.rows = page.rows;
    this.#wants = wants;
    this.metadata = page.columns
      .filter(column => column.kind === ColumnKind.metadata && isWanted(column, wants))
      .map(column => columns.metadata(column));
    const promoted = wants.promoted ? promotedColumns(page, wants.promoted) : [];
    this.#stored = promoted.length === 0 ? undefined : promotedPageOf(columns, promoted);
  }

  get promoted(): PromotedPage | undefined {
    const { promoted } = this.#wants;
    return (promoted && this.columns.learned(promoted)) ?? this.#stored;
  }

  get baseNs(): bigint {
    return this.columns.baseNs;
  }

  get runs(): readonly Run[] {
    return this.columns.runs;
  }

  get times(): Float64Array {
    return this.columns.times;
  }

  get lineOffsets(): Uint32Array {
    return this.#wants.lines === 'none' ? noOffsetsOf(this.rows) : this.columns.lineOffsets;
  }

  get lines(): Buffer {
    return this.#wants.lines === 'bytes' ? this.columns.lines : NO_BYTES;
  }
}
