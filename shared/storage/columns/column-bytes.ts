/** Estimates the memory use of a decoded column. */
import type { DecodedColumn } from '../../base/model/page-fields.ts';

/** Bytes per value of a number column: number, digits and shape, and its text after it was requested. */
const BYTES_PER_NUMBER = 40;

/** Returns an estimate in bytes. */
export function columnBytes(column: DecodedColumn, rows: number): number {
  const { numbers, count } = column;
  // The texts of numbers are created on first use, so do not access them.
  const values =
    numbers === undefined ? column.bytes.length + column.starts.byteLength : count * BYTES_PER_NUMBER;
  return 4 * rows + values;
}
