/**
 * Columns of fields that a page was stored without, made of its lines in memory: of pages that queries come back to, so that a
 * dashboard which parses the same lines every minute parses them once. They say what stored columns say (provable.ts), of the
 * runs that queries asked for; rows of other runs are left to the parser, as a line is that no column knows.
 *
 * What a reader would get wrong: names and runs that come later make the columns anew, for all runs and names so far. So who
 * holds a column holds one that stays right, but may not be the newest.
 */

import type { PageRows } from '../../base/model/page.ts';
import type {
  FieldColumn,
  ParserName,
  PromotedColumn,
  PromotedPage,
  PromotedWants,
} from '../../base/model/page-fields.ts';
import { QUICK_COMPRESSION } from '../codec/compression.ts';
import { MAX_COLUMNS } from './bounds.ts';
import { columnBytes } from './column-bytes.ts';
import { ABSENT_CODE, type ColumnCells, FALLBACK_CODE } from './column-cells.ts';
import { decodeColumn } from './column-decoder.ts';
import { encodeColumn } from './column-encoder.ts';
import { cellsOfName, entriesByName } from './field-cells.ts';
import { FieldExtractor, type PageFields, type ParserFields, rowMarkOf } from './field-extractor.ts';

/** Rows of a page that one stream has. */
export interface RowRange {
  readonly firstRow: number;
  readonly rows: number;
}

/** A page of many streams, asked for one after the other with one field after the other, is not parsed for ever. */
const MAX_CACHED_COLUMNS = 8;
/** Of the rows that are sound: with more that only the parser knows a column saves little. */
const MAX_FALLBACK_SHARE = 1 / 4;
/** Of the rows asked for: lines of another parser, or of none. */
const MIN_SOUND_SHARE = 3 / 4;

/** One page after the other. */
const EXTRACTOR = new FieldExtractor();

export class ParsedColumnCache {
  readonly #byParser = new Map<ParserName, LearnedFields>();

  /** Columns for these names; undefined where not all of them are there. */
  for({ parser, names }: PromotedWants): PromotedPage | undefined {
    if (parser === 'either' || names === 'all') return undefined;
    const learned = this.#byParser.get(parser);
    return learned?.answers(names) ? learned : undefined;
  }

  /**
   * Looks at the lines of runs, unless that is known or was in vain.
   *
   * @param page the whole, with its lines
   */
  learn(
    { parser, names }: PromotedWants,
    runs: readonly RowRange[],
    page: Pick<PageRows, 'lines' | 'lineOffsets' | 'rows'>,
  ): void {
    if (parser === 'either' || names === 'all') return;
    let learned = this.#byParser.get(parser);
    if (learned === undefined) this.#byParser.set(parser, (learned = new LearnedFields(parser)));
    learned.learn(names, runs, page);
  }

  /** About. */
  get heldBytes(): number {
    let bytes = 0;
    for (const { heldBytes } of this.#byParser.values()) bytes += heldBytes;
    return bytes;
  }
}

/** Of one parser. */
class LearnedFields implements PromotedPage {
  readonly known = undefined;
  readonly #parser: ParserName;
  /** By place of the first row. */
  readonly #runs = new Map<number, RowRange>();
  /** Undefined where no column can be made of the name. */
  #columns = new Map<string, FieldColumn | undefined>();
  #guard: PromotedColumn | undefined;
  #lessons = 0;
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

  guard(parser: ParserName): PromotedColumn | undefined {
    return parser === this.#parser ? this.#guard : undefined;
  }

  learn(
    names: ReadonlySet<string>,
    runs: readonly RowRange[],
    page: Pick<PageRows, 'lines' | 'lineOffsets' | 'rows'>,
  ): void {
    const newNames = [...names].filter(name => !this.#columns.has(name));
    const newRuns = runs.filter(({ firstRow }) => !this.#runs.has(firstRow));
    if (newNames.length === 0 && newRuns.length === 0) return;
    if (this.#lessons === MAX_CACHED_COLUMNS || this.#columns.size + newNames.length > MAX_COLUMNS) return;
    this.#lessons++;
    for (const { firstRow, rows } of newRuns) this.#runs.set(firstRow, { firstRow, rows });
    const asked = [...this.#runs.values()];
    const fields = EXTRACTOR.extract(page.lines, page.lineOffsets, page.rows, asked);
    this.#take(new Set([...this.#columns.keys(), ...newNames]), fields, asked);
  }

  #take(names: ReadonlySet<string>, page: PageFields, asked: readonly RowRange[]): void {
    const { rows, [this.#parser]: fields } = page;
    const wanted = asked.reduce((sum, run) => sum + run.rows, 0);
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

/** @param guard stands for a name that no line has */
function fieldColumn(
  page: PageFields,
  fields: ParserFields,
  name: string,
  entries: ReadonlyMap<string, readonly number[]>,
  guard: PromotedColumn,
): FieldColumn | undefined {
  const ofName = entries.get(name);
  // A path that differs is another field's: nothing is known of what expressions ask for.
  if (ofName === undefined) return { field: { parser: fields.parser, name, path: [name] }, column: guard };
  const found = cellsOfName(page, fields, name, ofName, MAX_FALLBACK_SHARE);
  return found && { field: found.field, column: columnOf(found.cells, page.rows) };
}

/** Absent in every line that is sound. */
function guardCells({ rows, parserOf }: PageFields, parser: ParserName): ColumnCells {
  const mark = rowMarkOf(parser);
  const codes = new Uint32Array(rows);
  let fallbackRows = 0;
  for (let row = 0; row < rows; row++) {
    codes[row] = parserOf[row] === mark ? ABSENT_CODE : FALLBACK_CODE;
    if (codes[row] === FALLBACK_CODE) fallbackRows++;
  }
  return { kind: 'dictionary', codes, values: [], fallbackRows };
}

/** By way of what is stored, so that there is one meaning of cells. */
function columnOf(cells: ColumnCells, rows: number): PromotedColumn {
  return decodeColumn(encodeColumn(cells, QUICK_COMPRESSION), rows, 'a learned column');
}
