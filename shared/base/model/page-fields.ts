/**
 * Field columns of a page: results of the JSON and logfmt parsers for its lines, in the form that pipelines
 * use. The columns cover only some rows. Lines of other rows are parsed, so a page without columns yields the
 * same result.
 */

export type ParserName = 'json' | 'logfmt';

/** Field of a column: a key of the lines, and the label that the parsers derive from it. */
export interface ColumnField {
  readonly parser: ParserName;
  /** Label name that `| json` and `| logfmt` assign if it collides with no other label. */
  readonly name: string;
  /** Keys from the top of the object down; for logfmt, only the key. No part contains a zero byte. */
  readonly path: readonly string[];
}

/** ID of rows whose line must be parsed. It is outside every table, so code that overlooks it throws. */
export const FALLBACK_ID = 0xffff_ffff;

/** Bytes of a value: `source[start..end)`. */
export interface ValueBytes {
  source: Buffer;
  start: number;
  end: number;
}

export interface DecodedColumn {
  /** Value ID of each row: 0 (the line lacks the field), FALLBACK_ID, or 1 + index of its value. */
  readonly ids: Uint32Array;
  /** Number of rows with FALLBACK_ID. */
  readonly fallbackRows: number;
  /** Number of values in the table. In a column of numbers, each row has a separate value. */
  readonly count: number;
  /** Memory of the column, bytes. Memory that all columns share does not count. */
  readonly heldBytes: number;
  /**
   * Number that each value's text parses to, NaN if it has a unit or is not a number. Only in columns of
   * numbers.
   */
  readonly numbers: Float64Array | undefined;
  /**
   * Returns the bytes of value number `index`, 0 <= index < count: UTF-8 without U+FFFD, unescaped. The result and its bytes are
   * valid until the column's next value is requested.
   */
  bytesAt(index: number): ValueBytes;
  /** Returns the text of value number `index`, 0 <= index < count. */
  valueAt(index: number): string;
}

export interface FieldColumn {
  readonly field: ColumnField;
  readonly column: DecodedColumn;
}

/** All fields of a page's lines. */
export interface KnownFields {
  /** All columns of the page. */
  readonly columns: readonly FieldColumn[];
  /** Residual fields of each row (shared/execution/fields/residual-text.ts). */
  readonly residuals: DecodedColumn;
}

export interface FieldColumns {
  /** Returns the page's decoded column of a field. If it is undefined, every line must be parsed. */
  column(parser: ParserName, name: string): FieldColumn | undefined;
  /**
   * Returns the cheapest column of the parser, or undefined if the page has none. A query that needs no field
   * (`by` names only stream labels) uses it to find valid lines.
   */
  guard(parser: ParserName): DecodedColumn | undefined;
  /** Undefined if the columns do not store all fields, or if the query did not request all of them. */
  readonly known: KnownFields | undefined;
}

/** Columns that a query requests from a page. */
export interface FieldColumnWants {
  /**
   * `either`: columns of these names from both parsers. The query does not check then which lines are valid
   * for one parser.
   */
  readonly parser: ParserName | 'either';
  /**
   * Label names. `all` requests every field from pages that store all fields of all lines, and nothing from
   * other pages.
   */
  readonly names: ReadonlySet<string> | 'all';
  /**
   * Whether the query parses most lines of its runs and does nothing else with them. The owner of the page
   * may then cache the parsed columns.
   */
  readonly parsesMost?: boolean;
}
