/**
 * Page summary: the few values of a field in a page, or the range of its numbers. If a label filter accepts
 * none of them, it accepts no row of the page, and neither columns nor lines are read. A field needs no
 * column for a summary. Numbers that differ from line to line are expensive as a column, but not as two
 * bounds.
 *
 * Pitfall: only fields that are known for every row of the page have a summary. If one row must be parsed, it
 * could match. A row without the field has no value in the summary: filters that accept such rows do not use
 * summaries.
 */
import {
  type ColumnCells,
  type NumberCells,
  SHAPE_CODE,
  TEXT_CODE,
} from '../../storage/columns/column-cells.ts';
import { fieldKey } from '../../storage/columns/column-field.ts';
import type { FieldCells } from '../../storage/columns/field-cells.ts';
import { MAX_NUMBER_BYTES, type Shape, ShapeTable, writeNumber } from '../../storage/columns/number-text.ts';
import { type TextList, textAt, textCount } from '../../storage/columns/text-list.ts';

/** Maximum values of one field that are listed: levels, methods, statuses. */
const MAX_LISTED_VALUES = 32;
/** Maximum bytes of each listed value. */
const MAX_LISTED_BYTES = 64;

/** Range of numbers with one unit and the same number of decimals. */
export interface NumberRange {
  readonly least: string;
  readonly most: string;
}

export interface FieldSummary {
  /** Name of the field's column in the footer: parser and path. */
  readonly key: string;
  readonly values: readonly string[];
  /** Ranges of different shapes. */
  readonly ranges: readonly NumberRange[];
}

/** Returns the summaries of the fields that have one, in order. */
export function summariesOf(fields: readonly FieldCells[]): FieldSummary[] {
  return fields.flatMap(({ field, cells }): FieldSummary[] => {
    if (cells.fallbackRows > 0) return [];
    const summary = summaryOf(cells);
    return summary === undefined ? [] : [{ key: fieldKey(field), ...summary }];
  });
}

function summaryOf(cells: ColumnCells): Omit<FieldSummary, 'key'> | undefined {
  if (cells.kind === 'number') return withRanges(textsOf(cells.texts), boundsOfNumbers(cells));
  const count = textCount(cells.values);
  if (count <= MAX_LISTED_VALUES) return withRanges(textsOf(cells.values), []);
  // Too many values to list: summarize numbers as ranges, and list a few values that are not numbers.
  const shapes = new ShapeTable();
  const bounds: Bounds[] = [];
  const texts: Buffer[] = [];
  const { bytes, starts } = cells.values;
  for (let i = 0; i < count; i++) {
    const shape = shapes.read(bytes, starts[i], starts[i + 1]);
    if (shape < 0) texts.push(textAt(cells.values, i));
    else widen((bounds[shape] ??= newBounds(shapes.shapes[shape])), shapes.mantissa);
    if (texts.length > MAX_LISTED_VALUES) return undefined;
  }
  return withRanges(texts, bounds);
}

function textsOf(list: TextList): Buffer[] {
  return Array.from({ length: textCount(list) }, (_, i) => textAt(list, i));
}

interface Bounds {
  readonly shape: Shape;
  least: number;
  most: number;
}

function newBounds(shape: Shape): Bounds {
  return { shape, least: Infinity, most: -Infinity };
}

function widen(bounds: Bounds, mantissa: number): void {
  if (mantissa < bounds.least) bounds.least = mantissa;
  if (mantissa > bounds.most) bounds.most = mantissa;
}

function boundsOfNumbers({ codes, mantissas, shapes }: NumberCells): Bounds[] {
  const bounds = shapes.map(newBounds);
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] > TEXT_CODE) widen(bounds[codes[row] - SHAPE_CODE], mantissas[row]);
  }
  return bounds;
}

function withRanges(
  listed: readonly Buffer[],
  bounds: readonly Bounds[],
): Omit<FieldSummary, 'key'> | undefined {
  if (listed.length > MAX_LISTED_VALUES || listed.some(value => value.length > MAX_LISTED_BYTES))
    return undefined;
  const values = [...new Set(listed.map(value => value.toString('utf8')))];
  const ranges = bounds.flatMap(({ shape, least, most }): NumberRange[] =>
    least > most ? [] : [{ least: textOf(least, shape), most: textOf(most, shape) }],
  );
  return { values, ranges };
}

function textOf(mantissa: number, shape: Shape): string {
  const bytes = Buffer.alloc(MAX_NUMBER_BYTES + shape.unit.length);
  return bytes.toString('utf8', 0, writeNumber(bytes, 0, mantissa, shape));
}
