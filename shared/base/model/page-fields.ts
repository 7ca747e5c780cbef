/**
 * Columns of a page that hold what JSON and logfmt parsers make of its lines, as pipelines look for them. They answer for
 * rows that they know; where they do not, the line is parsed, so a page without them answers the same.
 */

export type ParserName = 'json' | 'logfmt';

/** What a column stands for: one key of the lines, and the label that the parsers make of it. */
export interface PromotedField {
  readonly parser: ParserName;
  /** Label name as `| json` and `| logfmt` give it where it collides with nothing. */
  readonly name: string;
  /** Keys from the top of the object down; of logfmt the key alone. No part holds a zero byte. */
  readonly path: readonly string[];
}

/** Instead of a place: the row's line must be parsed. It is no place of any table, so overlooking it throws. */
export const FALLBACK_ID = 0xffff_ffff;

export interface PromotedColumn {
  /** For each row 0 (the line lacks the field), FALLBACK_ID, or 1 + place of its value. */
  readonly ids: Uint32Array;
  /** How many rows have FALLBACK_ID. */
  readonly fallbackRows: number;
  /** Values of the table. In a column of numbers each row has its own. */
  readonly count: number;
  /** Value i is `bytes[starts[i]..starts[i + 1])`: UTF-8 without U+FFFD, unescaped. */
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  /** For each value the number that its text reads as, NaN where it has a unit or is none. Only of columns of numbers. */
  readonly numbers: Float64Array | undefined;
  /** Text of value number `index`, 0 <= index < count. */
  valueAt(index: number): string;
}

export interface FieldColumn {
  readonly field: PromotedField;
  readonly column: PromotedColumn;
}

/** All that a page's lines say by themselves. */
export interface KnownFields {
  /** Every column of the page. */
  readonly columns: readonly FieldColumn[];
  /** For each row what no column knows of its line (shared/execution/fields/residual-text.ts). */
  readonly rests: PromotedColumn;
}

export interface PromotedPage {
  /** The page's column of a field, decoded; undefined where it has none, and then every line must be parsed. */
  column(parser: ParserName, name: string): FieldColumn | undefined;
  /**
   * Any column of the parser, the cheapest to read: where a query needs no field (`by` names labels of the stream only), it
   * still tells which lines are sound. Undefined where the page has none.
   */
  guard(parser: ParserName): PromotedColumn | undefined;
  /** Undefined where columns do not know all, or not all of them were asked for. */
  readonly known: KnownFields | undefined;
}

/** Columns that a query asks a page for. */
export interface PromotedWants {
  /** `either`: columns of the names alone, of both parsers; nobody asks then which lines are sound for one. */
  readonly parser: ParserName | 'either';
  /** Label names; `all` is for pages that know all fields of all lines, and nothing of any other. */
  readonly names: ReadonlySet<string> | 'all';
  /** The query parses most lines of the runs that it asks for, and does nothing else with them: who keeps the page may remember. */
  readonly parsesMost?: boolean;
}
