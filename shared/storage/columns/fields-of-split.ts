/**
 * Finds fields whose values are one column of the split lines of their page. Such a field needs no column of field values: the values
 * would be stored twice. A field is one if its members are exactly the values of the column, byte for byte, and each row of a template
 * belongs to the same parser.
 */
import type { SplitLines } from '../../base/kernels/split-lines.ts';
import type { ColumnCells } from './column-cells.ts';
import type { PageFields, ParserFields } from './field-extractor.ts';
import { VALUE } from './line-members.ts';
import {
  SPLIT_NUMBER,
  SPLIT_NUMBERED,
  SPLIT_TEXT,
  SPLIT_WORDS,
  SplitFrame,
  type SplitRecord,
} from './split-frame.ts';
import { MAX_NUMBER_WIDTH } from './split-numbers.ts';
import { textCount } from './text-list.ts';

interface SplitFieldOptions {
  /** Rows of the page. */
  readonly rows: number;
  /** Minimum values of a field of texts that is read from a column of texts. */
  readonly minTexts: number;
}

export class FieldsOfSplit {
  /** Parser mark of each template, template 0 first. */
  readonly parsers: Uint8Array;
  readonly #split: SplitLines;
  readonly #frame: SplitFrame;
  /** Columns by the start of their first value. */
  readonly #columns = new Map<number, number>();

  private constructor(split: SplitLines, frame: SplitFrame, parsers: Uint8Array) {
    this.#split = split;
    this.#frame = frame;
    this.parsers = parsers;
    for (let column = 1; column < frame.columns; column++)
      if (frame.recordOf(column).count > 0) this.#columns.set(split.spansOf(column)[0], column);
  }

  /** Returns undefined if the rows of a template belong to different parsers. */
  static of(split: SplitLines, { rows, parserOf }: PageFields): FieldsOfSplit | undefined {
    const frame = new SplitFrame(split.frame, rows, 'a page');
    const { templates, templateOf } = frame;
    const marks = new Uint8Array(templates + 1).fill(UNKNOWN);
    for (let row = 0; row < rows; row++) {
      const template = templateOf[row];
      if (marks[template] === UNKNOWN) marks[template] = parserOf[row];
      else if (marks[template] !== parserOf[row]) return undefined;
    }
    return new FieldsOfSplit(
      split,
      frame,
      marks.map(mark => (mark === UNKNOWN ? 0 : mark)),
    );
  }

  /**
   * Returns the column whose values are those of a field, or undefined.
   * @param cells Cells of the field
   */
  columnOf(
    fields: ParserFields,
    entry: number,
    cells: ColumnCells,
    { rows, minTexts }: SplitFieldOptions,
  ): number | undefined {
    // A value that only the parser can decide is not in a column.
    if (cells.fallbackRows !== rows - fields.rows) return undefined;
    const { first, order, starts, ends, kinds } = fields.members;
    const from = first[entry];
    const count = first[entry + 1] - from;
    const column = count === 0 ? undefined : this.#columns.get(starts[order[from]]);
    if (column === undefined) return undefined;
    const record = this.#frame.recordOf(column);
    if (record.count !== count || !isReadAs(record, cells, minTexts)) return undefined;
    const spans = this.#split.spansOf(column);
    for (let i = 0; i < count; i++) {
      const member = order[from + i];
      const start = spans[2 * i];
      if (starts[member] !== start || ends[member] - start !== spans[2 * i + 1]) return undefined;
      if (kinds[member] !== VALUE) return undefined;
    }
    // Doubled keys are left to the parser, so a column has at most one value in a row.
    return column;
  }
}

/** No row of the template was seen. */
const UNKNOWN = 255;

/**
 * Whether reading the column costs about as much as reading a column of field values. Words have few values, which queries test once.
 * Texts have one for each row.
 */
function isReadAs({ type, width }: SplitRecord, cells: ColumnCells, minTexts: number): boolean {
  const isTexts = type === SPLIT_TEXT || (type === SPLIT_NUMBERED && width <= MAX_NUMBER_WIDTH);
  if (cells.kind === 'dictionary')
    return type === SPLIT_WORDS || (isTexts && textCount(cells.values) >= minTexts);
  return (type === SPLIT_NUMBER && width <= MAX_NUMBER_WIDTH) || isTexts;
}
