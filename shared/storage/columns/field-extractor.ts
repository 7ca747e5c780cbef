/**
 * Reads a page's lines in one pass: the parser of each line, and the members of all lines, ordered by key.
 * field-column-writer.ts and column-cells.ts build the page's field columns from the result.
 *
 *     const extractor = new FieldExtractor();
 *     const fields = extractor.extract(lines, lineOffsets, rows);
 *
 * A line is either strict or left to the parsers. The members of a strict line are exactly those that every
 * parser stage sees. A line that is left to the parsers is a fallback row in every column. The pipeline's
 * parser is as loose as the reference (it accepts `{"a":01,}x`), and its result for loose lines depends on
 * the query.
 *
 * The rules are stricter than JSON if that simplifies the proof: no escapes in keys, no space before the
 * object, limited depth. For logfmt, lines with a fault are left to the parser (`--strict` reports the
 * fault). So are lines that begin with a brace after white space: the JSON parser reads ` {}=1 a=2` as an
 * empty object. Free text is left to the parser too, because every word would be a key. A line is free text
 * if more keys without a value than with one occur up to any position.
 *
 * A line belongs to at most one parser: a JSON object with a member has a quote at a position that logfmt
 * requires for a key.
 */
import { fieldScannerOfThread, type LineMembers } from '../../base/kernels/field-scanner.ts';
import type { ParserName } from '../../base/model/page-fields.ts';
import { FieldTable } from './field-table.ts';

export type { ParserName } from '../../base/model/page-fields.ts';

// Values of `PageFields.parserOf`.
const NO_PARSER = 0;
export const JSON_ROW = 1;
export const LOGFMT_ROW = 2;

export function rowMarkOf(parser: ParserName): number {
  return parser === 'json' ? JSON_ROW : LOGFMT_ROW;
}

/** Fields of one parser in one page. */
export interface ParserFields {
  readonly parser: ParserName;
  /** Number of rows that are valid for this parser. */
  readonly rows: number;
  /** Bytes of these lines. */
  readonly lineBytes: number;
  readonly table: FieldTable;
  readonly members: LineMembers;
}

/** Pitfall: the result is valid until any extractor of the thread reads its next page. */
export interface PageFields {
  readonly lines: Buffer;
  readonly rows: number;
  /** NO_PARSER, JSON_ROW or LOGFMT_ROW of each row. */
  readonly parserOf: Uint8Array;
  readonly json: ParserFields;
  readonly logfmt: ParserFields;
}

/** Fields that an extractor reads. */
interface SoughtFields {
  readonly parser: ParserName;
  /** Label names. */
  readonly names: readonly string[];
}

export class FieldExtractor {
  readonly #parser: ParserName | undefined;
  readonly #tables: Readonly<Record<ParserName, FieldTable>>;
  #parserOf = new Uint8Array(0);

  /** @param only Default: all fields of both parsers. Lines of other parsers then count as lines without one */
  constructor(only?: SoughtFields) {
    this.#parser = only?.parser;
    this.#tables = { json: new FieldTable(only?.names), logfmt: new FieldTable(only?.names) };
  }

  /**
   * @param lineOffsets `rows + 1` offsets into `lines`, bytes
   * @param ranges Row ranges to read, ascending; all other lines get no parser
   */
  extract(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    ranges: readonly { readonly firstRow: number; readonly rows: number }[] = [{ firstRow: 0, rows }],
  ): PageFields {
    const { json, logfmt } = this.#tables;
    json.prepare();
    logfmt.prepare();
    if (this.#parserOf.length < rows) this.#parserOf = new Uint8Array(rows);
    const parserOf = this.#parserOf;
    parserOf.fill(NO_PARSER, 0, rows);
    const scanner = fieldScannerOfThread();
    scanner.begin(lines, this.#tables, this.#parser);
    for (const { firstRow, rows: count } of ranges)
      scanner.read(lineOffsets, firstRow, firstRow + count, parserOf);
    const members = scanner.end();
    const ofJson = { rows: 0, lineBytes: 0 };
    const ofLogfmt = { rows: 0, lineBytes: 0 };
    for (let row = 0; row < rows; row++) {
      if (parserOf[row] === NO_PARSER) continue;
      const side = parserOf[row] === JSON_ROW ? ofJson : ofLogfmt;
      side.rows++;
      side.lineBytes += lineOffsets[row + 1] - lineOffsets[row];
    }
    return {
      lines,
      rows,
      parserOf,
      json: { parser: 'json', ...ofJson, table: json, members: members.json },
      logfmt: { parser: 'logfmt', ...ofLogfmt, table: logfmt, members: members.logfmt },
    };
  }
}
