/**
 * Binary searches. `lowerBound` and `lowerRow` are for hot loops: each sees one kind of array, so that its loop stays one machine code.
 */

/** First place in `low`..`high` for which `holds`, or `high`. If it holds for a place, it must hold for all that follow. */
export function firstPlace(low: number, high: number, holds: (place: number) => boolean): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** First place in `low`..`high` whose time is at or after `time`. Times ascend. */
export function lowerBound(times: Float64Array, low: number, high: number, time: number): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (times[middle] < time) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** First place in `low`..`high` that is not below `row`. Rows ascend. */
export function lowerRow(rows: Uint32Array, low: number, high: number, row: number): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (rows[middle] < row) from = middle + 1;
    else to = middle;
  }
  return from;
}
