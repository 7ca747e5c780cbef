/** What a decoded column takes in memory. */
import type { PromotedColumn } from '../../base/model/page-fields.ts';

/** Of a column of numbers for each value: number, digits and shape, and its text once somebody asked for it. */
const BYTES_PER_NUMBER = 40;

/** About. */
export function columnBytes(column: PromotedColumn, rows: number): number {
  const { numbers, count } = column;
  // The texts of numbers are made when they are first looked at, so nothing here does.
  const values =
    numbers === undefined ? column.bytes.length + column.starts.byteLength : count * BYTES_PER_NUMBER;
  return 4 * rows + values;
}
