/** Binary searches. Hot loops use the first two, which call no function; `binaryFirst` takes any condition. */

/** Returns the first index in `low`..`high` of ascending values whose value is at least `value`, or `high`. */
export function lowerBound(values: ArrayLike<number>, low: number, high: number, value: number): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Returns the first index in `low`..`high` of a selection whose row ends after `position`, or `high`. Row i ends at
 * `offsets[i + 1]`.
 */
export function firstRowAfter(
  offsets: ArrayLike<number>,
  selection: ArrayLike<number>,
  low: number,
  high: number,
  position: number,
): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (offsets[selection[middle] + 1] <= position) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Returns the first of `0 .. length - 1` for which `holds` returns true, or `length`. If it holds for an index,
 * it must hold for all later ones.
 */
export function binaryFirst(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
