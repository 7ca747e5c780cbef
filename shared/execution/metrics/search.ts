/** Binary search. */

/** The first of `0 .. length - 1` for which `holds`, or `length`; once it holds it must hold for all that follow. */
export function binaryFirst(length: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
