/**
 * Cells of one column of a page. A cell is the value of the field, or states that the line lacks it, or that
 * only the parser can decide. The parser decides if the field occurs twice, or together with another key of
 * the same label name. It also decides if the value is an object or array, long, or not UTF-8.
 */
import { jsonStringValue, unquoteLogfmt } from '../../base/text/text.ts';
import { MAX_VALUE_BYTES } from './bounds.ts';
import { type PageFields, type ParserFields, type ParserName, rowMarkOf } from './field-extractor.ts';
import { ESCAPED, NOTHING, STRUCTURE } from './line-members.ts';
import { type Shape, ShapeTable } from './number-text.ts';
import { BROKEN, FULL, ValueTable } from './value-table.ts';

// Codes for both kinds of columns.
export const ABSENT_CODE = 0;
export const FALLBACK_CODE = 1;
/** Dictionary column: FIRST_CODE + number of the value. */
export const FIRST_CODE = 2;
/** Number column: code of a value that is not a number; its mantissa is an index into `texts`. */
export const TEXT_CODE = 2;
/** Number column: SHAPE_CODE + number of the shape. */
export const SHAPE_CODE = 3;

export interface DictionaryCells {
  readonly kind: 'dictionary';
  /** Code of each row. */
  readonly codes: Uint32Array;
  readonly values: readonly Buffer[];
  readonly fallbackRows: number;
}

export interface NumberCells {
  readonly kind: 'number';
  readonly codes: Uint32Array;
  /** Digits of each row with a number, or an index into `texts`; otherwise 0. */
  readonly mantissas: Float64Array;
  readonly shapes: readonly Shape[];
  readonly texts: readonly Buffer[];
  readonly fallbackRows: number;
}

export type ColumnCells = DictionaryCells | NumberCells;

/**
 * Number of distinct values above which numbers are tried first: they are then shorter than a dictionary.
 */
const MANY_VALUES = 256;
/** After this many cells, a field with nearly all different values is abandoned unless they are numbers. */
const TRIAL_CELLS = 256;
const TRIAL_VALUES = 192;
/** Maximum share of texts in a number column: one in this many values. */
const RARE = 16;

/** Value table of the builder, reused for each column. */
const table = new ValueTable();

interface CellOptions {
  /** Entries whose label has the same name. */
  readonly others: readonly number[];
  /** Maximum share of the parser's rows that may fall back to it. */
  readonly maxFallbackShare: number;
}

/**
 * Returns the cells of the field of `entry`. Returns undefined if it has too many values that are not
 * numbers, or too many fallback rows.
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

/** Cells of a column without the codes of its rows. */
type CellValues<T> = Omit<T, 'codes' | 'fallbackRows'>;

/** Fills the codes. Returns undefined if there are too many values; some codes are then set. */
function dictionaryOf(
  { lines }: PageFields,
  { parser, members }: ParserFields,
  entry: number,
  codes: Uint32Array,
): CellValues<DictionaryCells> | undefined {
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
  // Numbers with this many values are shorter in a number column.
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
): CellValues<NumberCells> | undefined {
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

/** Returns the bytes of an escaped value as the parser shows it, or undefined if it is invalid or long. */
function unescaped(parser: ParserName, lines: Buffer, start: number, end: number): Buffer | undefined {
  if (end - start > MAX_VALUE_BYTES || lines.utf8Slice(start, end).includes('\ufffd')) return undefined;
  const text = parser === 'json' ? jsonStringValue(lines, start, end) : unquoteLogfmt(lines, start, end);
  // The parser returns an empty text for an invalid JSON string; a string that is really empty has no
  // escapes.
  if (text === undefined || text === '' || text.includes('\ufffd')) return undefined;
  return Buffer.from(text);
}

function plain(lines: Buffer, start: number, end: number): Buffer | undefined {
  if (end - start > MAX_VALUE_BYTES) return undefined;
  const bytes = Buffer.from(lines.subarray(start, end));
  return bytes.toString('utf8').includes('\ufffd') ? undefined : bytes;
}
