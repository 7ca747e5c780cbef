/**
 * One pass over a page's lines: which parser each line is for, and the members of all of them, ordered by key. What is
 * made of it (promotion.ts, column-cells.ts) is the page's promoted columns.
 *
 *     const extractor = new FieldExtractor();
 *     const fields = extractor.extract(lines, lineOffsets, rows);
 *
 * A line belongs to one parser at most: a JSON object with a member has a quote where logfmt wants a key. Lines of
 * neither are left to the parsers: in every column their rows are fallback rows.
 */
import type { ParserName } from '../model/promoted.ts';
import { OPEN_BRACE } from '../pipeline/json-scan.ts';
import { FieldTable } from './field-table.ts';
import { readJsonFields } from './json-fields.ts';
import { LineMembers } from './line-members.ts';
import { readLogfmtFields } from './logfmt-fields.ts';

export type { ParserName } from '../model/promoted.ts';

// What `PageFields.parserOf` holds for a row.
export const NO_PARSER = 0;
export const JSON_ROW = 1;
export const LOGFMT_ROW = 2;

export function rowMarkOf(parser: ParserName): number {
  return parser === 'json' ? JSON_ROW : LOGFMT_ROW;
}

/** Fields of one parser in one page. Valid until the extractor's next page. */
export interface ParserFields {
  readonly parser: ParserName;
  /** Rows whose lines are sound for this parser. */
  readonly rows: number;
  /** Bytes of those lines. */
  readonly lineBytes: number;
  readonly table: FieldTable;
  readonly members: LineMembers;
  /** Members by entry: those of entry e are `order[first[e]]` to `order[first[e + 1] - 1]`, in row order. */
  readonly first: Uint32Array;
  readonly order: Uint32Array;
}

export interface PageFields {
  readonly lines: Buffer;
  readonly rows: number;
  /** For each row NO_PARSER, JSON_ROW or LOGFMT_ROW. */
  readonly parserOf: Uint8Array;
  readonly json: ParserFields;
  readonly logfmt: ParserFields;
}

export class FieldExtractor {
  readonly #json = new Side('json');
  readonly #logfmt = new Side('logfmt');
  #parserOf = new Uint8Array(0);

  /**
   * @param lineOffsets `rows + 1` offsets into `lines`, bytes
   * @param stretches of rows that are looked at; the others count as lines of no parser
   */
  extract(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    stretches: readonly { readonly firstRow: number; readonly rows: number }[] = [{ firstRow: 0, rows }],
  ): PageFields {
    const json = this.#json;
    const logfmt = this.#logfmt;
    json.begin();
    logfmt.begin();
    if (this.#parserOf.length < rows) this.#parserOf = new Uint8Array(rows);
    this.#parserOf.fill(NO_PARSER, 0, rows);
    for (const { firstRow, rows: count } of stretches)
      this.#read(lines, lineOffsets, firstRow, firstRow + count);
    json.sort();
    logfmt.sort();
    return { lines, rows, parserOf: this.#parserOf, json, logfmt };
  }

  #read(lines: Buffer, lineOffsets: Uint32Array, from: number, to: number): void {
    const json = this.#json;
    const logfmt = this.#logfmt;
    const parserOf = this.#parserOf;
    for (let row = from; row < to; row++) {
      const start = lineOffsets[row];
      const end = lineOffsets[row + 1];
      const isJson = start < end && lines[start] === OPEN_BRACE;
      const side = isJson ? json : logfmt;
      const mark = side.members.count;
      const isSound = isJson
        ? readJsonFields(side.table, side.members, row, lines, start, end)
        : readLogfmtFields(side.table, side.members, row, lines, start, end);
      if (isSound) {
        side.rows++;
        side.lineBytes += end - start;
        parserOf[row] = isJson ? JSON_ROW : LOGFMT_ROW;
      } else side.members.count = mark;
    }
  }
}

const FIRST_ORDER = 16 * 1024;

class Side implements ParserFields {
  readonly parser: ParserName;
  readonly table = new FieldTable();
  readonly members = new LineMembers();
  rows = 0;
  lineBytes = 0;
  first = new Uint32Array(1);
  order = new Uint32Array(FIRST_ORDER);

  constructor(parser: ParserName) {
    this.parser = parser;
  }

  begin(): void {
    this.table.prepare();
    this.members.clear();
    this.rows = 0;
    this.lineBytes = 0;
  }

  /** Counting sort of the members by entry; it keeps the order of rows. */
  sort(): void {
    const { count, entries } = this.members;
    const keys = this.table.count;
    const first = new Uint32Array(keys + 1);
    for (let i = 0; i < count; i++) first[entries[i] + 1]++;
    for (let e = 0; e < keys; e++) first[e + 1] += first[e];
    if (this.order.length < count) this.order = new Uint32Array(2 * count);
    const next = first.slice(0, keys);
    const { order } = this;
    for (let i = 0; i < count; i++) order[next[entries[i]]++] = i;
    this.first = first;
  }
}
