/** Spans of rows: start and end of each, ascending and with a gap between two, in one list. */
import type { RowRange } from './parsed-column-cache.ts';

/** Returns the spans of ascending ranges, of which adjacent ones are one span. */
export function spansOfRanges(ranges: readonly RowRange[]): number[] {
  const spans: number[] = [];
  for (const { firstRow, rows } of ranges) {
    if (spans.length > 0 && spans[spans.length - 1] === firstRow) spans[spans.length - 1] += rows;
    else spans.push(firstRow, firstRow + rows);
  }
  return spans;
}

/** Whether each of the ascending ranges is within one span. */
export function areWithin(ranges: readonly RowRange[], spans: ArrayLike<number>): boolean {
  let span = 0;
  for (const { firstRow, rows } of ranges) {
    while (span < spans.length && spans[span + 1] <= firstRow) span += 2;
    if (span === spans.length || firstRow < spans[span] || firstRow + rows > spans[span + 1]) return false;
  }
  return true;
}
