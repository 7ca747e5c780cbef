/** Binary searches. Hot loops use `lowerBound`, which calls no function; `binaryFirst` takes any condition. */

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
