/**
 * Pages of a footer. In a footer that was read, columns stay in stored form and are decoded on demand. A page of a
 * merged chunk has about 50 columns, mostly of fields. As objects, a column takes 170 bytes, five times its stored
 * size. A process caches footers of many pages, and queries read few of them. Columns of metadata stay decoded,
 * because plans look at those of every page.
 *
 * Pitfall: each use of `columns` decodes them and returns new objects. `withDecodedColumns` decodes them once.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import { NS_OF_DAY } from '../../base/model/time-units.ts';
import { ByteReader, type ByteWriter } from '../codec/byte-io.ts';
import { fieldOfKey } from '../columns/column-field.ts';
import { readHandle, readList, writeHandle } from './footer-parts.ts';
import { ColumnKind, type ColumnMeta, type PageMeta, type RunMeta } from './format.ts';

const HAS_DICTIONARY = 1;
const CONSTANT = 2;
const TIMED = 4;

/** Minimum stored sizes of a page, a run and a column, bytes. */
const MIN_PAGE_BYTES = 8;
const MIN_RUN_BYTES = 6;
const MIN_COLUMN_BYTES = 10;

interface ReadPage extends PageMeta {
  readonly fieldMarks: number;
  /** Position of the columns in the footer. */
  readonly columnsAt: number;
  readonly columnsEnd: number;
}

export class StoredPage implements PageMeta {
  readonly offset: number;
  readonly storedBytes: number;
  readonly rows: number;
  readonly lineBytes: number;
  readonly base: number;
  readonly scale: number;
  readonly runs: readonly RunMeta[];
  readonly #fieldMarks: number;
  readonly #metadata: readonly ColumnMeta[];
  readonly #bytes: Buffer;
  readonly #at: number;
  readonly #end: number;

  /** @param bytes Part of the footer from `bytesAt` on, with the columns of the page */
  constructor(page: ReadPage, bytes: Buffer, bytesAt: number) {
    this.offset = page.offset;
    this.storedBytes = page.storedBytes;
    this.rows = page.rows;
    this.lineBytes = page.lineBytes;
    this.base = page.base;
    this.scale = page.scale;
    this.runs = page.runs;
    this.#fieldMarks = page.fieldMarks;
    this.#metadata = page.columns;
    this.#bytes = bytes;
    this.#at = page.columnsAt - bytesAt;
    this.#end = page.columnsEnd - bytesAt;
  }

  get columns(): readonly ColumnMeta[] {
    const reader = new ByteReader(this.#bytes, this.#at, this.#end);
    return readList(reader, MIN_COLUMN_BYTES, () => readColumn(reader));
  }

  /** Columns of metadata, decoded once. */
  get metadata(): readonly ColumnMeta[] {
    return this.#metadata;
  }

  /** See `fieldMarksOf`. */
  get fieldMarks(): number {
    return this.#fieldMarks;
  }

  /** Stored size of the columns. */
  get columnBytes(): number {
    return this.#end - this.#at;
  }
}

/** Returns the columns of metadata of a page. */
export function metadataOf(page: Pick<PageMeta, 'columns'>): readonly ColumnMeta[] {
  return page instanceof StoredPage ? page.metadata : page.columns.filter(isMetadata);
}

/** Marks of pages with columns of a parser's fields. */
export const PARSER_MARKS = { json: 1, logfmt: 2 } as const;
/** Mark of pages with residual fields. */
export const RESIDUALS = 4;

/** Returns the marks of a page: which columns of fields it has, at least one of each. */
export function fieldMarksOf(page: PageMeta): number {
  return page instanceof StoredPage
    ? page.fieldMarks
    : page.columns.reduce((marks, column) => marks | markOf(column), 0);
}

function markOf({ kind, name }: ColumnMeta): number {
  if (kind === ColumnKind.residuals) return RESIDUALS;
  if (kind !== ColumnKind.field && kind !== ColumnKind.splitField) return 0;
  const field = fieldOfKey(name);
  return field === undefined ? 0 : PARSER_MARKS[field.parser];
}

/** Returns a page whose columns are decoded once. */
export function withDecodedColumns(page: PageMeta): PageMeta {
  return page instanceof StoredPage ? { ...page, columns: page.columns } : page;
}

export function writePage(out: ByteWriter, page: PageMeta): void {
  out.varint(page.offset);
  out.varint(page.storedBytes);
  out.varint(page.rows);
  out.varint(page.lineBytes);
  out.varint(page.base);
  out.byte(page.scale);
  out.varint(page.runs.length);
  let stream = 0;
  for (const run of page.runs) {
    out.varint(run.stream - stream);
    stream = run.stream;
    out.varint(run.rows);
    out.varint(run.first - page.base);
    out.varint(run.last - run.first);
    out.varint(run.lineBytes);
    out.varint(run.metadataBytes);
  }
  const { columns } = page;
  out.varint(columns.length);
  for (const column of columns) {
    out.varint(column.kind);
    out.text(column.name);
    out.byte(flagsOf(column));
    writeHandle(out, column.block);
    if (column.dictionary === undefined) continue;
    out.varint(column.dictionary.length);
    for (const value of column.dictionary) out.text(value);
  }
}

function flagsOf({ dictionary, constant, isTimed }: ColumnMeta): number {
  return (dictionary ? HAS_DICTIONARY : 0) | (constant ? CONSTANT : 0) | (isTimed ? TIMED : 0);
}

/**
 * Reads and verifies the pages of a footer, and copies their columns. Throws CorruptionError.
 *
 * @param streams Number of streams of the footer
 */
export function readPages(reader: ByteReader, streams: number, what: string): StoredPage[] {
  const start = reader.position;
  const pages = readList(reader, MIN_PAGE_BYTES, () => readPage(reader, streams, what));
  const stored = reader.since(start);
  // Do not allocate from Node.js's pool: a small part would retain a whole slab.
  const bytes = Buffer.allocUnsafeSlow(stored.length);
  bytes.set(stored);
  return pages.map(page => new StoredPage(page, bytes, start));
}

/** Reads one page, with only its columns of metadata. */
function readPage(reader: ByteReader, streams: number, what: string): ReadPage {
  const offset = reader.varint();
  const storedBytes = reader.varint();
  const rows = reader.varint();
  const lineBytes = reader.varint();
  const base = reader.varint();
  const scale = reader.byte();
  let stream = 0;
  let firstRow = 0;
  const runs = readList(reader, MIN_RUN_BYTES, (): RunMeta => {
    stream += reader.varint();
    const runRows = reader.varint();
    const first = base + reader.varint();
    const last = first + reader.varint();
    if (last >= NS_OF_DAY)
      throw new CorruptionError(`${what}: a run of the page at ${offset} ends after its day`);
    const runLineBytes = reader.varint();
    const metadataBytes = reader.varint();
    const run = { stream, firstRow, rows: runRows, first, last, lineBytes: runLineBytes, metadataBytes };
    firstRow += runRows;
    return run;
  });
  if (firstRow !== rows || stream >= Math.max(streams, 1)) {
    throw new CorruptionError(`${what}: runs of the page at ${offset} do not cover its ${rows} rows`);
  }
  const columnsAt = reader.position;
  let fieldMarks = 0;
  const metadata = readList(reader, MIN_COLUMN_BYTES, () => {
    const column = readColumn(reader);
    const { name, block, dictionary, constant } = column;
    if (block.offset + block.storedBytes > storedBytes) {
      throw new CorruptionError(`${what}: column ${name} lies outside the page at ${offset}`);
    }
    if (constant && dictionary?.length !== 1) {
      throw new CorruptionError(`${what}: constant column ${name} without its value`);
    }
    fieldMarks |= markOf(column);
    return column;
  }).filter(isMetadata);
  const columnsEnd = reader.position;
  return {
    offset,
    storedBytes,
    rows,
    lineBytes,
    base,
    scale,
    runs,
    columns: metadata.slice(),
    fieldMarks,
    columnsAt,
    columnsEnd,
  };
}

function readColumn(reader: ByteReader): ColumnMeta {
  const kind = reader.varint();
  const name = reader.text();
  const flags = reader.byte();
  const block = readHandle(reader);
  const dictionary = flags & HAS_DICTIONARY ? readList(reader, 1, () => reader.text()) : undefined;
  const column = { kind, name, block, dictionary, constant: (flags & CONSTANT) !== 0 };
  return flags & TIMED ? { ...column, isTimed: true } : column;
}

function isMetadata({ kind }: ColumnMeta): boolean {
  return kind === ColumnKind.metadata;
}
