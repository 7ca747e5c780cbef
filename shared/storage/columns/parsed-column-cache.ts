/**
 * Field columns that are parsed from lines and stay in memory, for pages that were stored without them.
 * Dashboards that parse the same lines every minute thus parse them once. The columns follow the rules of
 * stored columns (plan-pushdown.ts) and cover the runs that queries requested. Rows of other runs are left to
 * the parser, like lines that no column covers.
 *
 * Pitfall: later names and runs rebuild the columns for all runs and names so far. A column that a caller
 * holds remains correct, but may not be the latest.
 */

import { copyBytes } from '../../base/model/copy-bytes.ts';
import type { PageRows } from '../../base/model/page.ts';
import type {
  DecodedColumn,
  FieldColumn,
  FieldColumns,
  FieldColumnWants,
  ParserName,
} from '../../base/model/page-fields.ts';
import { MAX_FIELD_COLUMNS } from './bounds.ts';
import { ABSENT_CODE, type ColumnCells, FALLBACK_CODE } from './column-cells.ts';
import { columnOfCells } from './column-decoder.ts';
import { cellsOfName, entriesByName } from './field-cells.ts';
import { FieldExtractor, type PageFields, type ParserFields, rowMarkOf } from './field-extractor.ts';
import { textListOf } from './text-list.ts';

/** Rows of a page that belong to one stream. */
export interface RowRange {
  readonly firstRow: number;
  readonly rows: number;
}

/**
 * Maximum number of rebuilds. A page of many streams, queried stream by stream and field by field, is not
 * parsed without limit.
 */
const MAX_REBUILDS = 8;
/** Maximum share of valid rows that only the parser can decide. With more, a column saves little. */
const MAX_FALLBACK_SHARE = 1 / 4;
/** Minimum share of valid lines among the requested rows; the others belong to another parser or to none. */
const MIN_SOUND_SHARE = 3 / 4;

/** Extractor of the latest fields. The pages of a query need the same fields one after the other. */
let latest: { readonly text: string; readonly extractor: FieldExtractor } | undefined;

function extractorOf(parser: ParserName, names: readonly string[]): FieldExtractor {
  const text = `${parser} ${names.join(' ')}`;
  if (latest?.text !== text) latest = { text, extractor: new FieldExtractor({ parser, names }) };
  return latest.extractor;
}

type PageLines = Pick<PageRows, 'lines' | 'lineOffsets' | 'rows'>;

/** Maximum size of reused memory, bytes: the lines of a page of a push. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Maximum rows of reused offsets. */
const MAX_KEPT_ROWS = 64 * 1024;

/** Reused by all pages: new memory for each page costs more than the copy, and calls for a garbage collection. */
let keptLines = Buffer.alloc(0);
let keptOffsets = new Uint32Array(0);

function lineMemory(bytes: number): Buffer {
  if (bytes > MAX_KEPT_BYTES) return Buffer.allocUnsafeSlow(bytes);
  if (keptLines.length === 0) keptLines = Buffer.allocUnsafeSlow(MAX_KEPT_BYTES);
  return keptLines;
}

function offsetMemory(rows: number): Uint32Array {
  if (rows > MAX_KEPT_ROWS) return new Uint32Array(rows + 1);
  if (keptOffsets.length === 0) keptOffsets = new Uint32Array(MAX_KEPT_ROWS + 1);
  return keptOffsets;
}

/** Returns the lines of ascending runs, one behind the other. Pitfall: they are valid until the next call. */
function linesOf(runs: readonly RowRange[], { lines, lineOffsets, rows }: PageLines): PageLines {
  const count = runs.reduce((sum, run) => sum + run.rows, 0);
  if (count === rows) return { lines, lineOffsets, rows };
  const offsets = offsetMemory(count);
  offsets[0] = 0;
  let row = 0;
  for (const { firstRow, rows: ofRun } of runs) {
    const shift = offsets[row] - lineOffsets[firstRow];
    for (let i = 1; i <= ofRun; i++) offsets[row + i] = lineOffsets[firstRow + i] + shift;
    row += ofRun;
  }
  const own = lineMemory(offsets[count]);
  row = 0;
  for (const { firstRow, rows: ofRun } of runs) {
    copyBytes(lines.subarray(lineOffsets[firstRow], lineOffsets[firstRow + ofRun]), own, offsets[row]);
    row += ofRun;
  }
  return { lines: own, lineOffsets: offsets, rows: count };
}

export class ParsedColumnCache {
  readonly #byParser = new Map<ParserName, ParsedFields>();

  /** Returns columns for these names, or undefined if some are missing. */
  for({ parser, names }: FieldColumnWants): FieldColumns | undefined {
    if (parser === 'either' || names === 'all') return undefined;
    const parsed = this.#byParser.get(parser);
    return parsed?.answers(names) ? parsed : undefined;
  }

  /**
   * Parses the lines of runs, unless they are known or earlier attempts failed.
   *
   * @param page Whole page, with its lines
   */
  add({ parser, names }: FieldColumnWants, runs: readonly RowRange[], page: PageLines): void {
    if (parser === 'either' || names === 'all') return;
    let parsed = this.#byParser.get(parser);
    if (parsed === undefined) this.#byParser.set(parser, (parsed = new ParsedFields(parser)));
    parsed.add(names, runs, page);
  }

  /** Returns an estimate in bytes. */
  get heldBytes(): number {
    let bytes = 0;
    for (const { heldBytes } of this.#byParser.values()) bytes += heldBytes;
    return bytes;
  }
}

/** Parsed columns of one parser. */
class ParsedFields implements FieldColumns {
  readonly known = undefined;
  readonly #parser: ParserName;
  /** Runs by first row. */
  readonly #runs = new Map<number, RowRange>();
  /** Columns by name; undefined if the name cannot have a column. */
  #columns = new Map<string, FieldColumn | undefined>();
  #guard: DecodedColumn | undefined;
  #rebuilds = 0;
  heldBytes = 0;

  constructor(parser: ParserName) {
    this.#parser = parser;
  }

  answers(names: ReadonlySet<string>): boolean {
    if (this.#guard === undefined) return false;
    for (const name of names) if (this.#columns.get(name) === undefined) return false;
    return true;
  }

  column(parser: ParserName, name: string): FieldColumn | undefined {
    return parser === this.#parser ? this.#columns.get(name) : undefined;
  }

  guard(parser: ParserName): DecodedColumn | undefined {
    return parser === this.#parser ? this.#guard : undefined;
  }

  add(names: ReadonlySet<string>, runs: readonly RowRange[], page: PageLines): void {
    const newNames = [...names].filter(name => !this.#columns.has(name));
    const newRuns = runs.filter(({ firstRow }) => !this.#runs.has(firstRow));
    if (newNames.length === 0 && newRuns.length === 0) return;
    if (this.#rebuilds === MAX_REBUILDS || this.#columns.size + newNames.length > MAX_FIELD_COLUMNS) return;
    this.#rebuilds++;
    for (const { firstRow, rows } of newRuns) this.#runs.set(firstRow, { firstRow, rows });
    const requested = [...this.#runs.values()].sort((a, b) => a.firstRow - b.firstRow);
    const wanted = [...this.#columns.keys(), ...newNames];
    // Other lines of the page would be loaded as well, and most pages of pushes have those of 30 streams.
    const { lines, lineOffsets, rows } = linesOf(requested, page);
    const fields = extractorOf(this.#parser, wanted).extract(lines, lineOffsets, rows);
    this.#take(wanted, fields, { runs: requested, rows: page.rows });
  }

  #take(names: readonly string[], read: PageFields, page: PageRuns): void {
    const { rows, [this.#parser]: fields } = read;
    const isSound = fields.rows >= MIN_SOUND_SHARE * rows;
    const guard = columnOf(guardCells(read, this.#parser), page);
    const entries = entriesByName(fields);
    this.#columns = new Map();
    for (const name of names)
      this.#columns.set(
        name,
        isSound ? fieldColumn(read, fields, name, { entries, guard, page }) : undefined,
      );
    this.#guard = isSound ? guard : undefined;
    this.heldBytes = 0;
    for (const column of new Set([guard, ...[...this.#columns.values()].map(found => found?.column)])) {
      if (column !== undefined) this.heldBytes += column.heldBytes;
    }
  }
}

/** Rows of a page, and the ascending runs whose lines were read. */
interface PageRuns {
  readonly rows: number;
  readonly runs: readonly RowRange[];
}

interface ColumnSources {
  readonly entries: ReadonlyMap<string, readonly number[]>;
  /** Column for a name that no line has. */
  readonly guard: DecodedColumn;
  readonly page: PageRuns;
}

function fieldColumn(
  read: PageFields,
  fields: ParserFields,
  name: string,
  { entries, guard, page }: ColumnSources,
): FieldColumn | undefined {
  const ofName = entries.get(name);
  // A different path is another field; whether expressions would find it is unknown.
  if (ofName === undefined) return { field: { parser: fields.parser, name, path: [name] }, column: guard };
  const found = cellsOfName(read, fields, name, ofName, MAX_FALLBACK_SHARE);
  return found && { field: found.field, column: columnOf(found.cells, page) };
}

/** Returns cells that are absent in every valid line. */
function guardCells({ rows, parserOf }: PageFields, parser: ParserName): ColumnCells {
  const mark = rowMarkOf(parser);
  const codes = new Uint32Array(rows);
  let fallbackRows = 0;
  for (let row = 0; row < rows; row++) {
    codes[row] = parserOf[row] === mark ? ABSENT_CODE : FALLBACK_CODE;
    if (codes[row] === FALLBACK_CODE) fallbackRows++;
  }
  return { kind: 'dictionary', codes, values: textListOf([]), fallbackRows };
}

/** Returns the column of a page; rows of other runs are left to the parser. */
function columnOf(cells: ColumnCells, { rows, runs }: PageRuns): DecodedColumn {
  if (cells.codes.length === rows) return columnOfCells(cells);
  const codes = new Uint32Array(rows).fill(FALLBACK_CODE);
  let row = 0;
  for (const { firstRow, rows: ofRun } of runs) {
    codes.set(cells.codes.subarray(row, row + ofRun), firstRow);
    row += ofRun;
  }
  return columnOfCells(cells, codes);
}
