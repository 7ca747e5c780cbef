/**
 * Sorts rows by time. Most times are spread over their range, so each row goes to a slot by its share of the range, and few rows of a slot
 * are compared. Otherwise, rows that arrive in sorted runs, such as the rows of streams, are merged: neighboring runs until one is left.
 * `Array.sort` with a comparison takes three times as long as merging, because it calls a function for each.
 */

/** Fewer rows are merged. */
const MIN_SPREAD_ROWS = 64;
/** Rows of a slot that are compared. With more, rows are merged. */
const MAX_SLOT_ROWS = 32;

/**
 * Returns the numbers of `count` rows by time.
 * @param compareEqual compares two rows with equal times. Rows that are equal, too, keep their order
 */
export function rowsByTime(
  times: Float64Array,
  count: number,
  compareEqual: (a: number, b: number) => number,
): Uint32Array {
  const spread = count < MIN_SPREAD_ROWS ? undefined : spreadRows(times, count);
  if (spread !== undefined) {
    sortNeighbors(spread);
    return spread;
  }
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

  function sortNeighbors(nearly: Uint32Array): void {
    for (let i = 1; i < count; i++) {
      const row = nearly[i];
      let to = i;
      while (to > 0 && isAfter(nearly[to - 1], row)) {
        nearly[to] = nearly[to - 1];
        to--;
      }
      nearly[to] = row;
    }
  }

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

/** Rows by slots, and in their order within each. Returns undefined if a slot has too many of them. */
function spreadRows(times: Float64Array, count: number): Uint32Array | undefined {
  let first = times[0];
  let last = first;
  for (let row = 1; row < count; row++) {
    const time = times[row];
    if (time < first) first = time;
    else if (time > last) last = time;
  }
  if (first === last) return undefined;
  const slotsPerNs = (count - 1) / (last - first);
  const ends = new Uint32Array(count + 1);
  for (let row = 0; row < count; row++) ends[Math.floor((times[row] - first) * slotsPerNs) + 1]++;
  for (let slot = 1; slot <= count; slot++) {
    if (ends[slot] > MAX_SLOT_ROWS) return undefined;
    ends[slot] += ends[slot - 1];
  }
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[ends[Math.floor((times[row] - first) * slotsPerNs)]++] = row;
  return rows;
}
