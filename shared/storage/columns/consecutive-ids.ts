/**
 * Value IDs of columns in which each row has a value that no other row shares, as times taken and sizes do. All such columns of a
 * thread share them: they are a third of the memory of a column of numbers.
 */

let ids = new Uint32Array(0);

/** Returns the IDs 1 to `rows`. Read-only. */
export function consecutiveIds(rows: number): Uint32Array {
  // Columns keep a smaller array that they have.
  if (ids.length < rows)
    ids = Uint32Array.from({ length: Math.max(rows, 2 * ids.length) }, (_, row) => row + 1);
  return ids.subarray(0, rows);
}

/** Returns the memory of a column's IDs, bytes; 0 if they are shared. */
export function bytesOfIds(ofColumn: Uint32Array): number {
  return ofColumn.buffer === ids.buffer ? 0 : ofColumn.byteLength;
}
