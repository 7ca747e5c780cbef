/**
 * Cells of one column of a page. A cell is the value of the field, or states that the line lacks it, or that
 * only the parser can decide. The parser decides if the field occurs twice, or together with another key of
 * the same label name. It also decides if the value is an object or array, long, or not UTF-8.
 */
import type { TextList } from '../../base/kernels/field-cells.ts';
import { fieldScannerOfThread } from '../../base/kernels/field-scanner.ts';
import { jsonStringValue, unquoteLogfmt } from '../../base/text/text.ts';
import type { PageFields, ParserFields, ParserName } from './field-extractor.ts';
import type { Shape } from './number-text.ts';

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
  readonly values: TextList;
  readonly fallbackRows: number;
}

export interface NumberCells {
  readonly kind: 'number';
  readonly codes: Uint32Array;
  /** Digits of each row with a number, or an index into `texts`; otherwise 0. */
  readonly mantissas: Float64Array;
  readonly shapes: readonly Shape[];
  readonly texts: TextList;
  readonly fallbackRows: number;
}

export type ColumnCells = DictionaryCells | NumberCells;

interface CellOptions {
  /** Entries whose label has the same name. */
  readonly others: readonly number[];
  /** Maximum share of the parser's rows that may fall back to it. */
  readonly maxFallbackShare: number;
}

/**
 * Returns the cells of the field of `entry`. Returns undefined if it has too many values that are not
 * numbers, or too many fallback rows.
 *
 * Pitfall: the page must be the latest one of the thread's field scanner.
 */
export function cellsOf(
  { rows, parserOf }: PageFields,
  fields: ParserFields,
  entry: number,
  { others, maxFallbackShare }: CellOptions,
): ColumnCells | undefined {
  const maxFallbackRows = rows - fields.rows + maxFallbackShare * fields.rows;
  const limits = { parserOf, rows, maxFallbackRows };
  return fieldScannerOfThread().cells(fields.parser, entry, others, limits, readEscaped);
}

/** Returns an escaped value as the parser shows it, or undefined if it is invalid. */
function readEscaped(parser: ParserName, lines: Buffer, start: number, end: number): string | undefined {
  if (lines.utf8Slice(start, end).includes('\ufffd')) return undefined;
  const text = parser === 'json' ? jsonStringValue(lines, start, end) : unquoteLogfmt(lines, start, end);
  // The parser returns an empty text for an invalid JSON string; a string that is really empty has no
  // escapes.
  return text === '' || text?.includes('\ufffd') ? undefined : text;
}
