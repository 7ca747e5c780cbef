/**
 * Decodes footers and pages from their bytes. The caller supplies the bytes from an object, a record or a
 * cache.
 */

import type { BytePattern } from '../../base/model/byte-pattern.ts';
import { invariant } from '../../base/model/errors.ts';
import type {
  KnownFilters,
  LineValues,
  MetadataColumn,
  NarrowedPage,
  PageRows,
  Run,
} from '../../base/model/page.ts';
import type { CaptureWants, PageCaptures } from '../../base/model/page-captures.ts';
import type { FieldColumns, FieldColumnWants } from '../../base/model/page-fields.ts';
import { PageView } from '../../base/model/page-view.ts';
import type { RowRange } from '../columns/parsed-column-cache.ts';
import { fieldColumnsOf } from './field-columns.ts';
import { decodeFooter, footerLength } from './footer-codec.ts';
import { ColumnKind, type ColumnMeta, type Footer, type PageMeta, TRAILER_BYTES } from './format.ts';
import { endOf, PageColumns } from './page-columns.ts';
import { storedFieldColumns } from './stored-fields.ts';

/** Parts of a page that a query needs; other parts are neither read nor decoded. */
export interface PageWants {
  /** Needed form of lines. `lengths` provides offsets without bytes, which is enough for bytes_over_time. */
  readonly lines: 'none' | 'lengths' | 'bytes';
  readonly metadata: 'all' | ReadonlySet<string>;
  /** Needed field columns; absent means none. */
  readonly fieldColumns?: FieldColumnWants | undefined;
}

/** Decodes the footer of an object in memory. */
export function footerOf(object: Buffer, what: string): Footer {
  const length = footerLength(object, object.length, what);
  const end = object.length - TRAILER_BYTES;
  return decodeFooter(object.subarray(end - length, end), what);
}

/** Byte range of a page, from its start; empty if `start` equals `end`. */
interface PageByteRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the number of bytes from the start of the page that contain everything needed. */
export function wantedBytes(page: PageMeta, wants: PageWants): number {
  const fields = wants.fieldColumns === undefined ? NO_FIELDS : fieldColumnsOf(page, wants.fieldColumns);
  return wantedRange(page, wants, fields, () => false).end;
}

/** Returns the range that must still be read for the needed columns, if some are known. */
export function missingRange(columns: PageColumns, wants: PageWants): PageByteRange {
  return wantedRange(columns.page, wants, fieldsOf(columns, wants), column => columns.has(column));
}

function fieldsOf(columns: PageColumns, { fieldColumns }: PageWants): readonly ColumnMeta[] {
  return fieldColumns === undefined ? NO_FIELDS : columns.fieldsOf(fieldColumns);
}

function wantedRange(
  page: PageMeta,
  wants: PageWants,
  fields: readonly ColumnMeta[],
  isKnown: (column: ColumnMeta) => boolean,
): PageByteRange {
  let start = Infinity;
  let end = 0;
  const add = (column: ColumnMeta) => {
    if (column.block.storedBytes === 0 || isKnown(column)) return;
    start = Math.min(start, column.block.offset);
    end = Math.max(end, endOf(column));
  };
  for (const column of page.columns) if (isWanted(column, wants)) add(column);
  fields.forEach(add);
  return { start: Math.min(start, end), end };
}

function isWanted(column: ColumnMeta, wants: PageWants): boolean {
  switch (column.kind) {
    case ColumnKind.times:
    case ColumnKind.lowTimes:
    case ColumnKind.packedTimes:
      return true;
    case ColumnKind.metadata:
      return wants.metadata === 'all' || wants.metadata.has(column.name);
    case ColumnKind.lengths:
    case ColumnKind.fixedLengths:
      return wants.lines !== 'none';
    case ColumnKind.lines:
    case ColumnKind.splitLines:
    case ColumnKind.splitFrame:
    case ColumnKind.splitField:
      return wants.lines === 'bytes';
    default:
      return false;
  }
}

const NO_BYTES = Buffer.alloc(0);
const NO_FIELDS: readonly ColumnMeta[] = [];
/** Maximum share of a page's rows whose lines are unpacked alone. Skipping a row costs about a fifth of joining it. */
const MAX_SELECTED_SHARE = 1 / 2;

/**
 * Returns the rows of a page. `stored` starts at the page's offset and contains at least `wantedBytes`.
 * Columns are decoded on first use: a line filter that rejects every line costs no timestamps and no
 * metadata. If lines are not needed, `lines` is empty. If lengths are not needed either, all line offsets are
 * 0. Any column may throw CorruptionError.
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

/** Returns the rows from columns that contain everything needed (`missingRange` is empty). */
export function rowsOf(columns: PageColumns, wants: PageWants): PageRows {
  return new QueryPageRows(columns, wants);
}

/** Returns the columns behind rows that this file created. */
export function columnsOf(rows: PageRows): PageColumns {
  invariant(rows instanceof QueryPageRows, 'rows of a stored page');
  return rows.columns;
}

/** Releases the bytes of the page's lines after their last use (see PageColumns). */
export function releaseRows(rows: PageRows): void {
  columnsOf(rows).release();
}

/** Records that most lines of the runs were parsed, as the wants describe (see PageColumns). */
export function noteParsed(rows: PageRows, { fieldColumns }: PageWants, runs: readonly RowRange[]): void {
  if (fieldColumns !== undefined) columnsOf(rows).parsed(fieldColumns, runs);
}

/** See PageColumns. Call it before the lines of a page without field columns are parsed. */
export function expectParsing(rows: PageRows, { fieldColumns }: PageWants, runs: readonly RowRange[]): void {
  if (fieldColumns !== undefined) columnsOf(rows).expectParsing(fieldColumns, runs);
}

/** Shared offsets for rows without lines, which all have length 0. Read-only. */
let noOffsets = new Uint32Array(8192);

function noOffsetsOf(rows: number): Uint32Array {
  if (noOffsets.length <= rows) noOffsets = new Uint32Array(2 * rows);
  return noOffsets.subarray(0, rows + 1);
}

/** A query's view of a page, with the columns that it needs. */
class QueryPageRows implements PageRows {
  readonly columns: PageColumns;
  readonly rows: number;
  readonly metadata: readonly MetadataColumn[];
  readonly #stored: FieldColumns | undefined;
  readonly #wants: PageWants;

  constructor(columns: PageColumns, wants: PageWants) {
    const { page } = columns;
    this.columns = columns;
    this.rows = page.rows;
    this.#wants = wants;
    this.metadata = page.columns
      .filter(column => column.kind === ColumnKind.metadata && isWanted(column, wants))
      .map(column => columns.metadata(column));
    const fields = fieldsOf(columns, wants);
    this.#stored = fields.length === 0 ? undefined : storedFieldColumns(columns, fields);
  }

  get fieldColumns(): FieldColumns | undefined {
    const { fieldColumns } = this.#wants;
    return (fieldColumns && this.columns.cachedColumns(fieldColumns)) ?? this.#stored;
  }

  get knownFilters(): KnownFilters | undefined {
    return this.columns.knownFilters;
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

  captures(wants: CaptureWants, runs: readonly Run[], rows: number): PageCaptures | undefined {
    if (this.#wants.lines !== 'bytes') return undefined;
    return this.columns.captures(wants, runs, rows, this);
  }

  narrow(selection: Uint32Array, count: number, patterns: readonly BytePattern[]): NarrowedPage | undefined {
    if (this.#wants.lines !== 'bytes') return undefined;
    const { columns } = this;
    if (patterns.length > 0) {
      const narrowed = columns.selectedLines({ selection, count, patterns });
      return narrowed && { count: narrowed.count, page: new PageView(this, { lines: narrowed.lines }) };
    }
    if (columns.isCached || count > this.rows * MAX_SELECTED_SHARE) return undefined;
    const rows = { selection: selection.slice(0, count), count, patterns };
    let lines: Buffer | undefined;
    const page = new PageView(this, {
      get lines() {
        lines ??= columns.selectedLines(rows)?.lines ?? columns.lines;
        return lines;
      },
    });
    return { count, page };
  }

  values(selection: Uint32Array, count: number): LineValues | undefined {
    if (this.#wants.lines !== 'bytes') return undefined;
    return this.columns.selectedValues({ selection, count });
  }
}
