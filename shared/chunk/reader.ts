/** Footers and pages from their bytes. Where the bytes come from is the caller's: an object, a record, a cache. */

import { NS_PER_DAY } from '../model/duration.ts';
import { CorruptionError } from '../model/errors.ts';
import type { MetadataColumn, PageRows, Run } from '../model/page.ts';
import type { PromotedPage, PromotedWants } from '../model/promoted.ts';
import { borrowBlock, loadBlock } from './compression.ts';
import { decodeFooter, footerLength } from './footer-codec.ts';
import { ColumnKind, type ColumnMeta, type Footer, type PageMeta, TRAILER_BYTES } from './format.ts';
import { decodeOffsets } from './length-column.ts';
import { LINE_SPACE } from './line-memory.ts';
import { decodeMetadata } from './metadata-column.ts';
import { promotedColumns, promotedPageOf } from './promoted-columns.ts';
import { decodeTimes } from './time-column.ts';
import { ZstdDecoder } from './zstd-decoder.ts';

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

/** Bytes from the start of the page that hold everything wanted. */
export function wantedBytes(page: PageMeta, wants: PageWants): number {
  let end = 0;
  for (const column of page.columns) if (isWanted(column, wants)) end = Math.max(end, endOf(column));
  for (const column of wants.promoted ? promotedColumns(page, wants.promoted) : []) {
    end = Math.max(end, endOf(column));
  }
  return end;
}

function endOf({ place }: ColumnMeta): number {
  return place.offset + place.storedBytes;
}

/** Where the lines of a page lie in its object, to be read later and given to `withLines`; empty where there are none. */
export function linesRange({ offset, columns }: PageMeta): { readonly start: number; readonly end: number } {
  const column = columns.find(({ kind }) => kind === ColumnKind.lines);
  if (column === undefined) return { start: offset, end: offset };
  return { start: offset + column.place.offset, end: offset + endOf(column) };
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
      return wants.lines === 'bytes';
    default:
      return false;
  }
}

const NO_BYTES = Buffer.alloc(0);
/** Of its own: lines stay while the same page's other columns are unpacked. */
const LINES = new ZstdDecoder(LINE_SPACE);

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
  return new StoredPage(footer, page, stored, wants, what);
}

class StoredPage implements PageRows {
  readonly rows: number;
  readonly baseNs: bigint;
  readonly runs: readonly Run[];
  readonly metadata: readonly MetadataColumn[];
  private readonly page: PageMeta;
  private readonly stored: Buffer;
  private readonly wants: PageWants;
  private readonly what: string;
  private decodedTimes: Float64Array | undefined;
  private decodedOffsets: Uint32Array | undefined;
  private decodedLines: Buffer | undefined;
  readonly promoted: PromotedPage | undefined;

  constructor(
    footer: Pick<Footer, 'day' | 'streams'>,
    page: PageMeta,
    stored: Buffer,
    wants: PageWants,
    what: string,
  ) {
    this.page = page;
    this.stored = stored;
    this.wants = wants;
    this.what = what;
    this.rows = page.rows;
    this.baseNs = BigInt(footer.day) * NS_PER_DAY + BigInt(page.base);
    this.runs = page.runs.map(({ stream, firstRow, rows }) => ({
      stream: footer.streams[stream],
      firstRow,
      rows,
    }));
    this.metadata = page.columns
      .filter(column => column.kind === ColumnKind.metadata && isWanted(column, wants))
      .map(
        column =>
          new StoredMetadata(column, page.rows, column.constant ? NO_BYTES : this.bytesOf(column), what),
      );
    const promoted = wants.promoted ? promotedColumns(page, wants.promoted) : [];
    this.promoted =
      promoted.length === 0
        ? undefined
        : promotedPageOf(
            promoted.map(meta => ({ meta, stored: this.bytesOf(meta) })),
            page.rows,
            what,
          );
  }

  get times(): Float64Array {
    this.decodedTimes ??= this.decodeTimes();
    return this.decodedTimes;
  }

  get lineOffsets(): Uint32Array {
    this.decodedOffsets ??= this.decodeOffsets();
    return this.decodedOffsets;
  }

  get lines(): Buffer {
    this.decodedLines ??= this.decodeLines();
    return this.decodedLines;
  }

  private decodeTimes(): Float64Array {
    const column = this.column(ColumnKind.times);
    if (column === undefined) throw this.lacks('timestamps');
    const high = loadBlock(this.bytesOf(column), column.place, `${this.what}: timestamps`);
    const low = this.borrow(ColumnKind.lowTimes) ?? NO_BYTES;
    const firstRows = this.page.runs.map(run => run.firstRow);
    return decodeTimes({ high, low, scale: this.page.scale }, this.page.rows, firstRows, this.what);
  }

  private decodeOffsets(): Uint32Array {
    const { rows, lineBytes } = this.page;
    if (this.wants.lines === 'none') return new Uint32Array(rows + 1);
    const lengths = this.borrow(ColumnKind.lengths);
    if (lengths === undefined) throw this.lacks('line lengths');
    return decodeOffsets(lengths, rows, lineBytes, this.what);
  }

  private decodeLines(): Buffer {
    if (this.wants.lines !== 'bytes') return NO_BYTES;
    const column = this.column(ColumnKind.lines);
    return unpackLines(this.page, column === undefined ? NO_BYTES : this.bytesOf(column), this.what);
  }

  private column(kind: number): ColumnMeta | undefined {
    return this.page.columns.find(one => one.kind === kind);
  }

  private borrow(kind: number): Buffer | undefined {
    const column = this.column(kind);
    return column && borrowBlock(this.bytesOf(column), column.place, `${this.what}: column kind ${kind}`);
  }

  private bytesOf({ place }: ColumnMeta): Buffer {
    return this.stored.subarray(place.offset, place.offset + place.storedBytes);
  }

  private lacks(column: string): CorruptionError {
    return lacks(this.page, column, this.what);
  }
}

/**
 * The page with its lines, where it was read with `lengths` alone. `stored` is what lies in `linesRange`. They are unpacked
 * when they are first looked at.
 */
export function withLines(rows: PageRows, page: PageMeta, stored: Buffer, what: string): PageRows {
  let lines: Buffer | undefined;
  const get = () => (lines ??= unpackLines(page, stored, what));
  return Object.create(rows, { lines: { get } }) as PageRows;
}

function unpackLines(page: PageMeta, stored: Buffer, what: string): Buffer {
  const column = page.columns.find(({ kind }) => kind === ColumnKind.lines);
  const lines =
    column && borrowBlock(stored, column.place, `${what}: column kind ${ColumnKind.lines}`, LINES);
  if (lines?.length !== page.lineBytes) throw lacks(page, 'lines', what);
  return lines;
}

function lacks({ offset }: PageMeta, column: string, what: string): CorruptionError {
  return new CorruptionError(`${what}: the page at ${offset} lacks its ${column}`);
}

class StoredMetadata implements MetadataColumn {
  readonly name: string;
  private readonly column: ColumnMeta;
  private readonly rows: number;
  private readonly stored: Buffer;
  private readonly what: string;
  private decoded: MetadataColumn | undefined;

  constructor(column: ColumnMeta, rows: number, stored: Buffer, what: string) {
    this.name = column.name;
    this.column = column;
    this.rows = rows;
    this.stored = stored;
    this.what = what;
  }

  get ids(): Uint32Array {
    return this.values.ids;
  }

  get count(): number {
    return this.column.dictionary?.length ?? this.values.count;
  }

  valueAt(index: number): string {
    return this.column.dictionary?.[index] ?? this.values.valueAt(index);
  }

  private get values(): MetadataColumn {
    this.decoded ??= this.decode();
    return this.decoded;
  }

  private decode(): MetadataColumn {
    const { name, dictionary, constant, place } = this.column;
    const what = `${this.what}: column ${name}`;
    const payload = constant ? NO_BYTES : loadBlock(this.stored, place, what);
    return decodeMetadata(name, payload, this.rows, dictionary, constant, what);
  }
}
