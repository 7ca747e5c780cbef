/**
 * One pass over a page's lines: which parser each line is for, and the members of all of them, ordered by key. What is
 * made of it (promotion.ts, column-cells.ts) is the page's promoted columns.
 *
 *     const extractor = new FieldExtractor();
 *     const fields = extractor.extract(lines, lineOffsets, rows);
 *
 * A line is either strict, and then its members are what every parser stage sees, or it is left to the parsers: in every column
 * its row is a fallback row. The pipeline's own parser is as loose as the reference (it accepts `{"a":01,}x`), and what it makes
 * of loose lines depends on what the query wants. Stricter than JSON where that keeps the proof short: no escapes in keys, no
 * space before the object, few levels. Of logfmt, lines with a fault are left (`--strict` reports it), and those that begin with
 * a brace behind white space: to JSON's parser ` {}=1 a=2` is an empty object. So is free text, in which every word would be a key:
 * a line in which at any place more keys stand without a value than with one.
 *
 * A line belongs to one parser at most: a JSON object with a member has a quote where logfmt wants a key.
 */
import { fieldScannerOfThread, type LineMembers } from '../../base/kernels/field-scanner.ts';
import type { ParserName } from '../../base/model/page-fields.ts';
import { FieldTable } from './field-table.ts';

export type { ParserName } from '../../base/model/page-fields.ts';

// What `PageFields.parserOf` holds for a row.
export const NO_PARSER = 0;
export const JSON_ROW = 1;
export const LOGFMT_ROW = 2;

export function rowMarkOf(parser: ParserName): number {
  return parser === 'json' ? JSON_ROW : LOGFMT_ROW;
}

/** Fields of one parser in one page. */
export interface ParserFields {
  readonly parser: ParserName;
  /** Rows whose lines are sound for this parser. */
  readonly rows: number;
  /** Bytes of those lines. */
  readonly lineBytes: number;
  readonly table: FieldTable;
  readonly members: LineMembers;
}

/** Pitfall: valid until any extractor of the thread reads its next page. */
export interface PageFields {
  readonly lines: Buffer;
  readonly rows: number;
  /** For each row NO_PARSER, JSON_ROW or LOGFMT_ROW. */
  readonly parserOf: Uint8Array;
  readonly json: ParserFields;
  readonly logfmt: ParserFields;
}

export class FieldExtractor {
  readonly #tables = { json: new FieldTable(), logfmt: new FieldTable() };
  #parserOf = new Uint8Array(0);

  /**
   * @param lineOffsets `rows + 1` offsets into `lines`, bytes
   * @param stretches of rows that are looked at, ascending; the others count as lines of no parser
   */
  extract(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    stretches: readonly { readonly firstRow: number; readonly rows: number }[] = [{ firstRow: 0, rows }],
  ): PageFields {
    const { json, logfmt } = this.#tables;
    json.prepare();
    logfmt.prepare();
    if (this.#parserOf.length < rows) this.#parserOf = new Uint8Array(rows);
    const parserOf = this.#parserOf;
    parserOf.fill(NO_PARSER, 0, rows);
    const scanner = fieldScannerOfThread();
    scanner.begin(lines, this.#tables);
    for (const { firstRow, rows: count } of stretches)
      scanner.read(lineOffsets, firstRow, firstRow + count, parserOf);
    const members = scanner.end();
    const sound = [NO_PARSER, JSON_ROW, LOGFMT_ROW].map(() => ({ rows: 0, lineBytes: 0 }));
    for (let row = 0; row < rows; row++) {
      const side = sound[parserOf[row]];
      side.rows++;
      side.lineBytes += lineOffsets[row + 1] - lineOffsets[row];
    }
    return {
      lines,
      rows,
      parserOf,
      json: { parser: 'json', ...sound[JSON_ROW], table: json, members: members.json },
      logfmt: { parser: 'logfmt', ...sound[LOGFMT_ROW], table: logfmt, members: members.logfmt },
    };
  }
}
