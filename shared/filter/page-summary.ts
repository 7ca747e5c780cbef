/**
 * What the fields of a page's lines hold, in short: the few values of a field, or from which number to which its values go. A
 * label filter that keeps none of them keeps no row of the page, so that neither columns nor lines are read. Fields need no
 * promoted column for that: numbers that differ from line to line are dear as a column, and two bounds are not.
 *
 * What a reader would get wrong: only fields that are known of every row of the page have a summary; where one row is left to
 * its line, all of them may be wanted. A row without the field has no value here: filters that keep such rows are not asked.
 */
import { type ColumnCells, type NumberCells, SHAPE_CODE, TEXT_CODE } from '../promoted/column-cells.ts';
import { type Shape, writeNumber, MAX_NUMBER_BYTES } from '../promoted/number-text.ts';
import type { FieldCells } from '../promoted/promotion.ts';
import { fieldKey } from '../promoted/promoted-field.ts';

/** Values of one column that are listed: levels, methods, statuses. */
export const maxListedValues = 32;
/** Of each, bytes. */
export const maxListedBytes = 64;

/** Numbers of one unit and the same digits behind the dot. */
export interface NumberRange {
  readonly least: string;
  readonly most: string;
}

export interface FieldSummary {
  /** The name that a column of the field has in the footer: parser and path. */
  readonly key: string;
  readonly values: readonly string[];
  /** None has the shape of another. */
  readonly ranges: readonly NumberRange[];
}

/** Of the fields that can be told in short; in their order. */
export function summariesOf(fields: readonly FieldCells[]): FieldSummary[] {
  return fields.flatMap(({ field, cells }): FieldSummary[] => {
    if (cells.fallbackRows > 0) return [];
    const summary = summaryOf(cells);
    return summary === undefined ? [] : [{ key: fieldKey(field), ...summary }];
  });
}

function summaryOf(cells: ColumnCells): Omit<FieldSummary, 'key'> | undefined {
  const listed = cells.kind === 'dictionary' ? cells.values : cells.texts;
  if (listed.length > maxListedValues || listed.some(value => value.length > maxListedBytes)) return undefined;
  const values = [...new Set(listed.map(value => value.toString('utf8')))];
  return { values, ranges: cells.kind === 'dictionary' ? [] : rangesOf(cells) };
}

function rangesOf({ codes, mantissas, shapes }: NumberCells): NumberRange[] {
  const least = new Float64Array(shapes.length).fill(Infinity);
  const most = new Float64Array(shapes.length).fill(-Infinity);
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] <= TEXT_CODE) continue;
    const shape = codes[row] - SHAPE_CODE;
    const mantissa = mantissas[row];
    if (mantissa < least[shape]) least[shape] = mantissa;
    if (mantissa > most[shape]) most[shape] = mantissa;
  }
  return shapes.flatMap((shape, i): NumberRange[] =>
    least[i] > most[i] ? [] : [{ least: textOf(least[i], shape), most: textOf(most[i], shape) }],
  );
}

function textOf(mantissa: number, shape: Shape): string {
  const bytes = Buffer.alloc(MAX_NUMBER_BYTES + shape.unit.length);
  return bytes.toString('utf8', 0, writeNumber(bytes, 0, mantissa, shape));
}
