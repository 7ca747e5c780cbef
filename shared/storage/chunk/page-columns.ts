/**
 * Columns of one page: the stored bytes that were read, and their decoded forms. Each column is decoded on
 * first use and then stays decoded. A page in the page cache (query/page-cache.ts) is therefore verified and
 * decoded once. Each reader gets a separate view of it (`decodePage`).
 *
 * Pitfall: lines do not stay decoded. They are in the line space until the lines of the next page are read,
 * or in a slot that the cache may reclaim. Request them at the point of use, and never hold them over an
 * await.
 */

import { lineSpace } from '../../base/kernels/line-memory.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import type { LineValues, MetadataColumn, PageRows, Run } from '../../base/model/page.ts';
import type { CaptureWants, PageCaptures } from '../../base/model/page-captures.ts';
import type { DecodedColumn, FieldColumns, FieldColumnWants } from '../../base/model/page-fields.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import { borrowBlock, loadBlock } from '../codec/compression.ts';
import type { ReadBytes } from '../codec/read-bytes.ts';
import { ZstdDecoder } from '../codec/zstd-decoder.ts';
import type { CaptureTable } from '../columns/capture-table.ts';
import { decodeColumn } from '../columns/column-decoder.ts';
import { fieldOfKey } from '../columns/column-field.ts';
import { FilteredRows, type SoughtFilter } from '../columns/filtered-rows.ts';
import { ParsedColumnCache, type RowRange } from '../columns/parsed-column-cache.ts';
import { capturesOfSplit } from '../columns/split-captures.ts';
import { decodeSplitField } from '../columns/split-field.ts';
import { type FrameBlock, readFrameBlock } from '../columns/split-frame.ts';
import { fieldColumnsOf } from './field-columns.ts';
import { ColumnKind, type ColumnMeta, type Footer, isOfLines, type PageMeta } from './format.ts';
import { decodeFixedOffsets, decodeOffsets } from './length-column.ts';
import { CapturesOfPage } from './page-captures.ts';
import type { PageKeeper } from './page-keeper.ts';
import { joinPage, joinSelected, joinValues, openColumns, type SelectedRows } from './split-page.ts';
import type { SplitParts } from './split-sections.ts';
import { StoredMetadata } from './stored-metadata.ts';
import { withDecodedColumns } from './stored-page.ts';
import { decodeTimes } from './time-column.ts';

const NO_BYTES = Buffer.alloc(0);
/** Separate decoder for lines, so that they remain valid while other columns of the page are decoded. */
let lineDecoder: ZstdDecoder | undefined;
/** Page whose lines are in the line space. */
let borrower: PageColumns | undefined;

/** Separate decoder for the high parts of timestamps, which are read together with the low ones. */
const HIGHS = new ZstdDecoder();

interface FieldsOfWants {
  readonly wants: FieldColumnWants;
  readonly columns: readonly ColumnMeta[];
}

export class PageColumns {
  readonly page: PageMeta;
  readonly baseNs: bigint;
  readonly runs: readonly Run[];
  /** Slot of the lines in the cache. */
  lineSlot: Buffer | undefined;
  readonly #what: string;
  readonly #keeper: PageKeeper<PageColumns> | undefined;
  readonly #stored = new Map<ColumnMeta, Buffer>();
  #storedBytes = 0;
  #times: Float64Array | undefined;
  #offsets: Uint32Array | undefined;
  #lines: Buffer | undefined;
  /** Bytes to release that contain the stored lines. */
  #lent: ReadBytes | undefined;
  #parsedColumns: ParsedColumnCache | undefined;
  #knownFilters: FilteredRows | undefined;
  #captures: CapturesOfPage | undefined;
  #frame: FrameBlock | undefined;
  #fieldsOfSplit: readonly ColumnMeta[] | undefined;
  #fieldsOfWants: FieldsOfWants | undefined;
  /** Number of times that the lines of the page were parsed. */
  #parsed = 0;
  readonly #metadata = new Map<ColumnMeta, StoredMetadata>();
  readonly #fieldColumns = new Map<ColumnMeta, DecodedColumn | undefined>();

  /**
   * @param what Name of the page's chunk in errors
   * @param keeper Cache of pages; the page then keeps its stored bytes
   */
  constructor(
    footer: Pick<Footer, 'day' | 'streams'>,
    page: PageMeta,
    what: string,
    keeper?: PageKeeper<PageColumns>,
  ) {
    this.page = withDecodedColumns(page);
    this.baseNs = BigInt(footer.day) * NS_PER_DAY + BigInt(page.base);
    this.runs = page.runs.map(({ stream, firstRow, rows }) => ({
      stream: footer.streams[stream],
      firstRow,
      rows,
    }));
    this.#what = what;
    this.#keeper = keeper;
  }

  /**
   * Adds the columns that are completely within `stored`, which begins `from` bytes after the start of the
   * page.
   *
   * @param lent Owner of `stored`, if any; call `release` when the page is done
   */
  add(from: number, stored: Buffer, lent?: ReadBytes): void {
    const end = from + stored.length;
    const taken = this.page.columns.filter(
      column => !this.has(column) && column.block.offset >= from && endOf(column) <= end,
    );
    if (this.#keeper !== undefined && lent?.isAll(stored)) {
      lent.hold();
      this.#take(taken, from, stored);
      this.#storedBytes += stored.length;
    } else if (this.#keeper !== undefined) {
      // Do not let one page retain a read of many pages.
      this.#storedBytes += this.#copy(taken, from, stored);
    } else if (lent === undefined) this.#take(taken, from, stored);
    else {
      const lines = taken.filter(({ kind }) => isOfLines(kind));
      this.#copy(
        taken.filter(column => !lines.includes(column)),
        from,
        stored,
      );
      if (lines.length === 0) return;
      this.#take(lines, from, stored);
      this.#lent = lent;
      lent.hold();
    }
  }

  /** Releases the lines of the page. A later reader must have them read again. */
  release(): void {
    const lent = this.#lent;
    if (lent === undefined) return;
    this.#lent = undefined;
    for (const column of this.#stored.keys()) if (isOfLines(column.kind)) this.#stored.delete(column);
    // Lines that are stored uncompressed are in those bytes themselves.
    if (borrower === this) borrower = undefined;
    lent.release();
  }

  #take(columns: readonly ColumnMeta[], from: number, stored: Buffer): void {
    for (const column of columns) {
      this.#stored.set(column, stored.subarray(column.block.offset - from, endOf(column) - from));
    }
  }

  /** Returns the bytes that the copy uses. */
  #copy(columns: readonly ColumnMeta[], from: number, stored: Buffer): number {
    if (columns.length === 0) return 0;
    const start = Math.min(...columns.map(({ block }) => block.offset));
    const bytes = Buffer.allocUnsafeSlow(Math.max(...columns.map(endOf)) - start);
    stored.copy(bytes, 0, start - from, start - from + bytes.length);
    this.#take(columns, start, bytes);
    return bytes.length;
  }

  /** Returns whether the column's stored bytes are available, or it has none. */
  has(column: ColumnMeta): boolean {
    return column.block.storedBytes === 0 || this.#stored.has(column);
  }

  storedOf(column: ColumnMeta): Buffer {
    return this.#stored.get(column) ?? NO_BYTES;
  }

  /** Estimated bytes of the page in memory, without its lines. */
  get heldBytes(): number {
    const { rows, columns } = this.page;
    const further = Math.max(0, columns.length - MEASURED_COLUMNS);
    let bytes = BYTES_PER_PAGE + BYTES_PER_COLUMN * further + this.#storedBytes;
    if (this.#times !== undefined) bytes += 8 * rows;
    if (this.#offsets !== undefined) bytes += 4 * rows;
    for (const { heldBytes } of this.#metadata.values()) bytes += heldBytes;
    bytes += this.#parsedColumns?.heldBytes ?? 0;
    bytes += this.filterBytes;
    bytes += this.#captures?.heldBytes ?? 0;
    if (this.#frame !== undefined) bytes += this.#frame.raw.length;
    for (const column of this.#fieldColumns.values()) bytes += column?.heldBytes ?? 0;
    return bytes;
  }

  /** Decodes times and offsets now. Throws CorruptionError. */
  decodeRows(): void {
    this.#times ??= this.#decodeTimes();
    this.#offsets ??= this.#decodeOffsets();
  }

  get times(): Float64Array {
    this.#times ??= this.#decodeTimes();
    return this.#times;
  }

  get lineOffsets(): Uint32Array {
    this.#offsets ??= this.#decodeOffsets();
    return this.#offsets;
  }

  get lines(): Buffer {
    if (this.lineSlot !== undefined) {
      this.#keeper?.usedLines(this);
      return this.lineSlot;
    }
    if (borrower === this) return this.#lines!;
    const slot = this.#keeper?.slotFor(this);
    if (slot === undefined) {
      borrower = undefined;
      this.#lines = this.#unpackLines(undefined);
      borrower = this;
      return this.#lines;
    }
    this.#fill(slot);
    this.lineSlot = slot;
    return slot;
  }

  /**
   * Unpacks the lines of some rows, in the line space until the lines of the next page are read. Narrows the selection in place
   * to rows that may contain one of the patterns. Returns undefined if all lines are to be unpacked: they are not split, or are
   * cached.
   */
  selectedLines(rows: SelectedRows): { readonly lines: Buffer; readonly count: number } | undefined {
    const column = this.#column(ColumnKind.splitLines);
    if (column === undefined || this.#keeper !== undefined || borrower === this) return undefined;
    borrower = undefined;
    const lines = lineSpace().subarray(0, this.page.lineBytes);
    const { block, toJoin, what } = this.#splitLines(column);
    const count = joinSelected(block, toJoin, lines, what, rows);
    return { lines, count };
  }

  /**
   * Unpacks the values of the lines of some rows, in the line space. Returns undefined if the lines are not split, or are cached.
   * Lines that were read before are no longer valid.
   */
  selectedValues(rows: Pick<SelectedRows, 'selection' | 'count'>): LineValues | undefined {
    const column = this.#column(ColumnKind.splitLines);
    if (column === undefined || this.#keeper !== undefined) return undefined;
    borrower = undefined;
    const { block, toJoin, what } = this.#splitLines(column);
    return joinValues(block, toJoin, lineSpace().subarray(0, this.page.lineBytes), what, rows);
  }

  #fill(slot: Buffer): void {
    try {
      const lines = this.#unpackLines(slot);
      // The lines are stored uncompressed, or were decompressed outside the slot.
      if (lines.buffer !== slot.buffer) lines.copy(slot);
    } catch (error) {
      this.#keeper?.forget(this);
      throw error;
    }
  }

  metadata(column: ColumnMeta): MetadataColumn {
    let known = this.#metadata.get(column);
    if (known === undefined) {
      known = new StoredMetadata(column, this.page.rows, this.storedOf(column), this.#what);
      this.#metadata.set(column, known);
    }
    return known;
  }

  /**
   * Decodes a field column. Returns undefined if it is corrupt: it then counts as missing, because the lines
   * contain the same data.
   */
  field(column: ColumnMeta): DecodedColumn | undefined {
    if (!this.#fieldColumns.has(column)) this.#fieldColumns.set(column, this.#decodeField(column));
    return this.#fieldColumns.get(column);
  }

  /** Returns the field columns that are wanted. A query asks several times with the same object. */
  fieldsOf(wants: FieldColumnWants): readonly ColumnMeta[] {
    if (this.#fieldsOfWants?.wants !== wants)
      this.#fieldsOfWants = { wants, columns: fieldColumnsOf(this.page, wants) };
    return this.#fieldsOfWants.columns;
  }

  /** Whether the page is or was cached, so that it keeps what queries find in its lines. */
  get isCached(): boolean {
    return this.#keeper !== undefined;
  }

  /**
   * Returns captures of rows in ascending runs (see PageRows). A cached page keeps them.
   * @param page Rows of this page, with its lines
   */
  captures(
    wants: CaptureWants,
    runs: readonly Run[],
    rows: number,
    page: PageRows,
  ): PageCaptures | undefined {
    this.#captures ??= new CapturesOfPage(this.isCached, requested => this.#capturesOfSplit(requested));
    return this.#captures.for(wants, { runs, rows, page });
  }

  /** Returns captures of all rows. Undefined if they need many lines, or if the lines are there already. */
  #capturesOfSplit(wants: CaptureWants): CaptureTable | undefined {
    const column = this.#column(ColumnKind.splitLines);
    if (column === undefined || this.lineSlot !== undefined || borrower === this) return undefined;
    borrower = undefined;
    const what = `${this.#what}: column kind ${column.kind}`;
    const block = borrowBlock(this.storedOf(column), column.block, what);
    const { rows } = this.page;
    const { lineOffsets } = this;
    const linesOf = (selection: Uint32Array) => {
      const lines = lineSpace().subarray(0, this.page.lineBytes);
      const { toJoin } = this.#splitLines(column);
      joinSelected(block, toJoin, lines, what, { selection, count: selection.length, patterns: [] });
      return { rows, lines, lineOffsets };
    };
    const columns = openColumns(block, rows, this.#splitParts(what), what);
    return capturesOfSplit(wants, { ...columns, lineOffsets, linesOf });
  }

  /** Results of line filters on a cached page. */
  get knownFilters(): FilteredRows | undefined {
    if (this.#keeper !== undefined) this.#knownFilters ??= new FilteredRows();
    return this.#knownFilters;
  }

  /** Bytes of the results of line filters. */
  get filterBytes(): number {
    return this.#knownFilters?.heldBytes ?? 0;
  }

  /** Whether earlier searches show that a line filter accepts no row of these runs. */
  knowsExcluded({ text }: SoughtFilter, runs: readonly RowRange[]): boolean {
    return this.#knownFilters?.excludes(text, runs) === true;
  }

  /** Whether a search of cached lines shows that. False if the lines are not cached. Throws CorruptionError. */
  searchExcludes(filter: SoughtFilter, runs: readonly RowRange[]): boolean {
    const lines = this.lineSlot;
    if (lines === undefined) return false;
    const known = this.knownFilters;
    if (runs.length === this.page.runs.length) return known?.excludesAll(filter, lines) === true;
    return known?.excludesBySearch(filter, runs, lines, this.lineOffsets) === true;
  }

  /** Returns columns parsed from the lines. */
  cachedColumns(wants: FieldColumnWants): FieldColumns | undefined {
    return this.#parsedColumns?.for(wants);
  }

  /**
   * Records that most lines of the runs were parsed for these names. A cached page then stores the parsed
   * columns.
   */
  parsed(wants: FieldColumnWants, runs: readonly RowRange[]): void {
    if (this.#keeper === undefined || this.#parsed++ === 0) return;
    this.#keeper.noteLearned(textOf(wants));
    this.#learn(wants, runs);
  }

  /**
   * Stores the parsed columns before most lines of the runs are parsed for these names, if that was repeated for other
   * pages. Parsing first and storing at the second time would cost twice as much.
   */
  expectParsing(wants: FieldColumnWants, runs: readonly RowRange[]): void {
    if (this.#keeper?.hasLearned(textOf(wants)) === true) this.#learn(wants, runs);
  }

  #learn(wants: FieldColumnWants, runs: readonly RowRange[]): void {
    this.#parsedColumns ??= new ParsedColumnCache();
    this.#parsedColumns.add(wants, runs, {
      rows: this.page.rows,
      lines: this.lines,
      lineOffsets: this.lineOffsets,
    });
  }

  isFieldDecoded(column: ColumnMeta): boolean {
    return this.#fieldColumns.get(column) !== undefined;
  }

  #decodeTimes(): Float64Array {
    const column = this.#column(ColumnKind.times);
    if (column === undefined) throw this.#lacks('timestamps');
    const what = `${this.#what}: timestamps`;
    const high = borrowBlock(this.storedOf(column), column.block, what, HIGHS);
    const { rows, runs, scale } = this.page;
    const packed = this.#borrow(ColumnKind.packedTimes);
    const low = (packed === undefined ? this.#borrow(ColumnKind.lowTimes) : undefined) ?? NO_BYTES;
    const firstRows = runs.map(run => run.firstRow);
    return decodeTimes({ high, low, packed, scale }, rows, firstRows, this.#what);
  }

  #decodeOffsets(): Uint32Array {
    const { rows, lineBytes } = this.page;
    const fixed = this.#borrow(ColumnKind.fixedLengths);
    if (fixed !== undefined) return decodeFixedOffsets(fixed, rows, lineBytes, this.#what);
    const lengths = this.#borrow(ColumnKind.lengths);
    if (lengths === undefined) throw this.#lacks('line lengths');
    return decodeOffsets(lengths, rows, lineBytes, this.#what);
  }

  #unpackLines(into: Buffer | undefined): Buffer {
    const split = this.#column(ColumnKind.splitLines);
    if (split !== undefined) return this.#joinLines(split, into);
    const column = this.#column(ColumnKind.lines);
    const what = `${this.#what}: column kind ${ColumnKind.lines}`;
    lineDecoder ??= new ZstdDecoder(lineSpace());
    const lines = column && borrowBlock(this.storedOf(column), column.block, what, lineDecoder, into);
    if (lines?.length !== this.page.lineBytes) throw this.#lacks('lines');
    return lines;
  }

  #joinLines(column: ColumnMeta, into: Buffer | undefined): Buffer {
    const { block, toJoin, what } = this.#splitLines(column);
    const lines = into ?? lineSpace().subarray(0, this.page.lineBytes);
    joinPage(block, toJoin, lines, what);
    return lines;
  }

  #splitLines(column: ColumnMeta) {
    const what = `${this.#what}: column kind ${ColumnKind.splitLines}`;
    const { rows, base } = this.page;
    // Do not keep them for later: a page of which only lines are used would take a fifth more of the cache.
    const times = column.isTimed ? { base, offsets: this.#times ?? this.#decodeTimes() } : undefined;
    const toJoin = { offsets: this.lineOffsets, rows, parts: this.#splitParts(what), times };
    return { block: borrowBlock(this.storedOf(column), column.block, what), toJoin, what };
  }

  /** Parts of split lines in separate blocks. */
  #splitParts(what: string): SplitParts | undefined {
    const found = this.#splitFrame();
    if (found === undefined) return undefined;
    const unpack = (column: ColumnMeta, into: Buffer) =>
      borrowBlock(this.storedOf(column), column.block, what, undefined, into);
    return { ...found, fields: this.#splitFields, unpack };
  }

  /** Fields that are columns of the split lines. */
  get #splitFields(): readonly ColumnMeta[] {
    this.#fieldsOfSplit ??= this.page.columns.filter(({ kind }) => kind === ColumnKind.splitField);
    return this.#fieldsOfSplit;
  }

  /** Frame of split lines in a separate block. */
  #splitFrame(): FrameBlock | undefined {
    const column = this.#column(ColumnKind.splitFrame);
    if (column === undefined) return undefined;
    if (this.#frame === undefined) {
      const what = `${this.#what}: column kind ${column.kind}`;
      const raw = loadBlock(this.storedOf(column), column.block, what);
      this.#frame = readFrameBlock(raw, this.page.rows, this.#splitFields.length, what);
    }
    return this.#frame;
  }

  #decodeField(column: ColumnMeta): DecodedColumn | undefined {
    const what = `${this.#what}: field column ${JSON.stringify(column.name)}`;
    try {
      if (column.kind === ColumnKind.splitField) return this.#decodeSplitField(column, what);
      return decodeColumn(loadBlock(this.storedOf(column), column.block, what), this.page.rows, what);
    } catch (error) {
      if (error instanceof CorruptionError) return undefined;
      throw error;
    }
  }

  #decodeSplitField(column: ColumnMeta, what: string): DecodedColumn {
    const found = this.#splitFrame();
    const field = fieldOfKey(column.name);
    if (found === undefined || field === undefined) throw new CorruptionError(`${what} has no frame`);
    const { frame, parsers, columns } = found;
    const bytes = borrowBlock(this.storedOf(column), column.block, what);
    const own = { parser: field.parser, column: columns[this.#splitFields.indexOf(column)], bytes };
    return decodeSplitField(frame, parsers, own, what);
  }

  #column(kind: number): ColumnMeta | undefined {
    return this.page.columns.find(one => one.kind === kind);
  }

  #borrow(kind: number): Buffer | undefined {
    const column = this.#column(kind);
    return column && borrowBlock(this.storedOf(column), column.block, `${this.#what}: column kind ${kind}`);
  }

  #lacks(column: string): CorruptionError {
    return new CorruptionError(`${this.#what}: the page at ${this.page.offset} does not have its ${column}`);
  }
}

function textOf({ parser, names }: FieldColumnWants): string {
  return `${parser} ${names === 'all' ? names : [...names].sort().join(' ')}`;
}

/** Memory of the objects and maps of a page with MEASURED_COLUMNS. */
const BYTES_PER_PAGE = 2048;
const MEASURED_COLUMNS = 6;
/** Memory of each further column, as ColumnMeta. */
const BYTES_PER_COLUMN = 170;
/** Returns the offset after the column's last byte, from the start of the page. */
export function endOf({ block }: ColumnMeta): number {
  return block.offset + block.storedBytes;
}
