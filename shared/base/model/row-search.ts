/** Searches the rows of a run, which ascend by time. */

/** Returns the first row in `low`..`high` whose time is at or after `time`. */
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
