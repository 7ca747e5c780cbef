/**
 * Sorts rows that arrive in sorted runs, such as the rows of streams: merges neighboring runs until one is left. `Array.sort` with a
 * comparison takes three times as long, because it calls a function for each.
 */

/**
 * Returns the numbers of `count` rows by time.
 * @param compareEqual compares two rows with equal times. Rows that are equal, too, keep their order
 */
export function rowsByTime(
  times: Float64Array,
  count: number,
  compareEqual: (a: number, b: number) => number,
): Uint32Array {
  let rows = new Uint32Array(count);
  let merged = new Uint32Array(count);
  let starts: number[] = [];
  for (let row = 0; row < count; row++) {
    rows[row] = row;
    if (row === 0 || isAfter(row - 1, row)) starts.push(row);
  }
  while (starts.length > 1) {
    for (let i = 0; i < starts.length; i += 2)
      merge(starts[i], starts[i + 1] ?? count, starts[i + 2] ?? count);
    starts = starts.filter((_, i) => i % 2 === 0);
    [rows, merged] = [merged, rows];
  }
  return rows;

  function isAfter(a: number, b: number): boolean {
    return times[a] > times[b] || (times[a] === times[b] && compareEqual(a, b) > 0);
  }

  function merge(from: number, middle: number, end: number): void {
    let left = from;
    let right = middle;
    let to = from;
    while (left < middle && right < end)
      merged[to++] = isAfter(rows[left], rows[right]) ? rows[right++] : rows[left++];
    while (left < middle) merged[to++] = rows[left++];
    while (right < end) merged[to++] = rows[right++];
  }
}
