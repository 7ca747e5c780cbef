/**
 * Field columns that are parsed from lines and stay in memory, for pages that were stored without them.
 * Dashboards that parse the same lines every minute thus parse them once. The columns follow the rules of
 * stored columns (plan-pushdown.ts) and cover the runs that queries requested. Rows of other runs are left to
 * the parser, like lines that no column covers.
 *
 * Pitfall: later names and runs rebuild the columns for all runs and names so far. A column that a caller
 * holds remains correct, but may not be the latest.
 */

import type { PageRows } from '../../base/model/page.ts';
import type {
  DecodedColumn,
  FieldColumn,
  FieldColumns,
  FieldColumnWants,
  ParserName,
} from '../../base/model/page-fields.ts';
import { QUICK_COMPRESSION } from '../codec/compression.ts';
import { MAX_FIELD_COLUMNS } from './bounds.ts';
import { columnBytes } from './column-bytes.ts';
import { ABSENT_CODE, type ColumnCells, FALLBACK_CODE } from './column-cells.ts';
import { decodeColumn } from './column-decoder.ts';
import { encodeColumn } from './column-encoder.ts';
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

/** Shared extractor, used for one page at a time. */
const EXTRACTOR = new FieldExtractor();

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
  add(
    { parser, names }: FieldColumnWants,
    runs: readonly RowRange[],
    page: Pick<PageRows, 'lines' | 'lineOffsets' | 'rows'>,
  ): void {
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

  add(
    names: ReadonlySet<string>,
    runs: readonly RowRange[],
    page: Pick<PageRows, 'lines' | 'lineOffsets' | 'rows'>,
  ): void {
    const newNames = [...names].filter(name => !this.#columns.has(name));
    const newRuns = runs.filter(({ firstRow }) => !this.#runs.has(firstRow));
    if (newNames.length === 0 && newRuns.length === 0) return;
    if (this.#rebuilds === MAX_REBUILDS || this.#columns.size + newNames.length > MAX_FIELD_COLUMNS) return;
    this.#rebuilds++;
    for (const { firstRow, rows } of newRuns) this.#runs.set(firstRow, { firstRow, rows });
    const requested = [...this.#runs.values()];
    const fields = EXTRACTOR.extract(page.lines, page.lineOffsets, page.rows, requested);
    this.#take(new Set([...this.#columns.keys(), ...newNames]), fields, requested);
  }

  #take(names: ReadonlySet<string>, page: PageFields, requested: readonly RowRange[]): void {
    const { rows, [this.#parser]: fields } = page;
    const wanted = requested.reduce((sum, run) => sum + run.rows, 0);
    const isSound = fields.rows >= MIN_SOUND_SHARE * wanted;
    const guard = columnOf(guardCells(page, this.#parser), rows);
    const entries = entriesByName(fields);
    this.#columns = new Map();
    for (const name of names)
      this.#columns.set(name, isSound ? fieldColumn(page, fields, name, entries, guard) : undefined);
    this.#guard = isSound ? guard : undefined;
    this.heldBytes = 0;
    for (const column of new Set([guard, ...[...this.#columns.values()].map(found => found?.column)])) {
      if (column !== undefined) this.heldBytes += columnBytes(column, rows);
    }
  }
}

/** @param guard Column for a name that no line has */
function fieldColumn(
  page: PageFields,
  fields: ParserFields,
  name: string,
  entries: ReadonlyMap<string, readonly number[]>,
  guard: DecodedColumn,
): FieldColumn | undefined {
  const ofName = entries.get(name);
  // A different path is another field; whether expressions would find it is unknown.
  if (ofName === undefined) return { field: { parser: fields.parser, name, path: [name] }, column: guard };
  const found = cellsOfName(page, fields, name, ofName, MAX_FALLBACK_SHARE);
  return found && { field: found.field, column: columnOf(found.cells, page.rows) };
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

/** Encodes and decodes the cells, so that parsed and stored columns have exactly the same meaning. */
function columnOf(cells: ColumnCells, rows: number): DecodedColumn {
  return decodeColumn(encodeColumn(cells, QUICK_COMPRESSION), rows, 'a parsed column');
}
