/**
 * The cells of one column of a page: for each row the value of the field, or that the line lacks it, or that only the
 * parser knows. A row is left to the parser where the field stands twice, where another key of the same label name
 * stands beside it, where it holds an object or an array, or a value that is long or not UTF-8.
 */
import { jsonStringValue, unquoteLogfmt } from '../../base/text/text.ts';
import { MAX_VALUE_BYTES } from './bounds.ts';
import { type PageFields, type ParserFields, type ParserName, rowMarkOf } from './field-extractor.ts';
import { ESCAPED, NOTHING, STRUCTURE } from './line-members.ts';
import { type Shape, ShapeTable } from './number-text.ts';
import { BROKEN, FULL, ValueTable } from './value-table.ts';

// Codes of both kinds of cells.
export const ABSENT_CODE = 0;
export const FALLBACK_CODE = 1;
/** Dictionary: FIRST_CODE + number of the value. */
export const FIRST_CODE = 2;
/** Numbers: a value that is no number; its mantissa is a place in `texts`. */
export const TEXT_CODE = 2;
/** Numbers: SHAPE_CODE + number of the shape. */
export const SHAPE_CODE = 3;

export interface DictionaryCells {
  readonly kind: 'dictionary';
  /** One code for each row. */
  readonly codes: Uint32Array;
  readonly values: readonly Buffer[];
  readonly fallbackRows: number;
}

export interface NumberCells {
  readonly kind: 'number';
  readonly codes: Uint32Array;
  /** For each row with a number its digits, with a text its place in `texts`; else 0. */
  readonly mantissas: Float64Array;
  readonly shapes: readonly Shape[];
  readonly texts: readonly Buffer[];
  readonly fallbackRows: number;
}

export type ColumnCells = DictionaryCells | NumberCells;

/** More distinct values than this are tried as numbers first: beyond, numbers are shorter than a dictionary. */
const MANY_VALUES = 256;
/** After so many cells a field whose values are nearly all different is given up, if they are no numbers. */
const TRIAL_CELLS = 256;
const TRIAL_VALUES = 192;
/** Of a column of numbers one in so many may be a text. */
const RARE = 16;

/** Memory of the builder, used again for each column. */
const table = new ValueTable();

export interface CellOptions {
  /** Entries whose label has the same name. */
  readonly others: readonly number[];
  /** Of the rows of the parser, how many may be left to it. */
  readonly maxFallbackShare: number;
}

/**
 * Cells of the field of `entry`; undefined where its values are too many and no numbers, or too often left to the parser.
 */
export function cellsOf(
  page: PageFields,
  fields: ParserFields,
  entry: number,
  { others, maxFallbackShare }: CellOptions,
): ColumnCells | undefined {
  const codes = new Uint32Array(page.rows);
  const mark = rowMarkOf(fields.parser);
  for (let row = 0; row < page.rows; row++)
    codes[row] = page.parserOf[row] === mark ? ABSENT_CODE : FALLBACK_CODE;
  const cells = dictionaryOf(page, fields, entry, codes) ?? numbersOf(page, fields, entry, codes);
  if (cells === undefined) return undefined;
  const { rows, first, order } = fields.members;
  for (const other of others) {
    for (let i = first[other]; i < first[other + 1]; i++) codes[rows[order[i]]] = FALLBACK_CODE;
  }
  let fallbackRows = 0;
  for (let row = 0; row < page.rows; row++) if (codes[row] === FALLBACK_CODE) fallbackRows++;
  if (fallbackRows - (page.rows - fields.rows) > maxFallbackShare * fields.rows) return undefined;
  return { ...cells, codes, fallbackRows };
}

type Without<T> = Omit<T, 'codes' | 'fallbackRows'>;

/** Fills the codes; undefined where there are too many values, and then some codes are filled. */
function dictionaryOf(
  { lines }: PageFields,
  { parser, members }: ParserFields,
  entry: number,
  codes: Uint32Array,
): Without<DictionaryCells> | undefined {
  const { first, order } = members;
  table.clear();
  let lastRow = -1;
  let cells = 0;
  for (let i = first[entry]; i < first[entry + 1]; i++) {
    const member = order[i];
    const row = members.rows[member];
    const kind = members.kinds[member];
    if (row === lastRow || kind === STRUCTURE) {
      codes[row] = FALLBACK_CODE;
      lastRow = row;
      continue;
    }
    lastRow = row;
    if (kind === NOTHING) continue;
    const start = members.starts[member];
    const end = members.ends[member];
    let value = BROKEN;
    if (kind === ESCAPED) {
      const text = unescaped(parser, lines, start, end);
      if (text !== undefined) value = table.find(text, 0, text.length);
    } else if (end - start <= MAX_VALUE_BYTES) value = table.find(lines, start, end);
    if (value === FULL) return undefined;
    codes[row] = value === BROKEN ? FALLBACK_CODE : FIRST_CODE + value;
    cells++;
    if (cells === TRIAL_CELLS && table.count > TRIAL_VALUES) return undefined;
  }
  // Numbers with so many values are shorter as numbers.
  if (table.count > MANY_VALUES && areNumbers()) return undefined;
  const values: Buffer[] = [];
  for (let i = 0; i < table.count; i++) {
    values.push(Buffer.from(table.bytes.subarray(table.starts[i], table.starts[i + 1])));
  }
  return { kind: 'dictionary', values };
}

function areNumbers(): boolean {
  const shapes = new ShapeTable();
  let texts = 0;
  for (let i = 0; i < table.count; i++) {
    if (shapes.read(table.bytes, table.starts[i], table.starts[i + 1]) < 0) texts++;
  }
  return texts * RARE <= table.count;
}

function numbersOf(
  { lines, rows }: PageFields,
  { parser, members }: ParserFields,
  entry: number,
  codes: Uint32Array,
): Without<NumberCells> | undefined {
  const { first, order } = members;
  const shapes = new ShapeTable();
  const mantissas = new Float64Array(rows);
  const texts: Buffer[] = [];
  let lastRow = -1;
  let cells = 0;
  for (let i = first[entry]; i < first[entry + 1]; i++) {
    const member = order[i];
    const row = members.rows[member];
    const kind = members.kinds[member];
    if (row === lastRow || kind === STRUCTURE) {
      codes[row] = FALLBACK_CODE;
      lastRow = row;
      continue;
    }
    lastRow = row;
    if (kind === NOTHING) continue;
    const start = members.starts[member];
    const end = members.ends[member];
    const shape = kind === ESCAPED ? -1 : shapes.read(lines, start, end);
    cells++;
    if (shape >= 0) {
      codes[row] = SHAPE_CODE + shape;
      mantissas[row] = shapes.mantissa;
      continue;
    }
    const text = kind === ESCAPED ? unescaped(parser, lines, start, end) : plain(lines, start, end);
    codes[row] = text === undefined ? FALLBACK_CODE : TEXT_CODE;
    if (text !== undefined) mantissas[row] = texts.push(text) - 1;
    if (texts.length * RARE > cells + TRIAL_CELLS) return undefined;
  }
  if (texts.length * RARE > cells) return undefined;
  return { kind: 'number', mantissas, shapes: shapes.shapes, texts };
}

/** Bytes of a value with escapes as the parser shows it; undefined where it is broken or long. */
function unescaped(parser: ParserName, lines: Buffer, start: number, end: number): Buffer | undefined {
  if (end - start > MAX_VALUE_BYTES || lines.utf8Slice(start, end).includes('\ufffd')) return undefined;
  const text = parser === 'json' ? jsonStringValue(lines, start, end) : unquoteLogfmt(lines, start, end);
  // The parser's text of a broken JSON string is empty; one that is really empty has no escapes.
  if (text === undefined || text === '' || text.includes('\ufffd')) return undefined;
  return Buffer.from(text);
}

function plain(lines: Buffer, start: number, end: number): Buffer | undefined {
  if (end - start > MAX_VALUE_BYTES) return undefined;
  const bytes = Buffer.from(lines.subarray(start, end));
  return bytes.toString('utf8').includes('\ufffd') ? undefined : bytes;
}
