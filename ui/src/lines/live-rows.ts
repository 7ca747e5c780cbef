/** Puts the lines of a live tail on top of loaded lines: each once, newest first. */
import { compareNs, type LogRow } from './rows.ts';

/**
 * @param tailed rows in order of arrival; a tail begins with lines that may also be loaded @param loaded
 * rows, newest first
 */
export function liveRows(tailed: readonly LogRow[], loaded: readonly LogRow[]): readonly LogRow[] {
  const newest = loaded[0]?.ns;
  const sameTime = new Set<string>();
  for (const row of loaded) {
    if (row.ns !== newest) break;
    sameTime.add(labelsAndLine(row));
  }
  const fresh = tailed.filter(row => {
    if (newest === undefined) return true;
    const order = compareNs(row.ns, newest);
    return order > 0 || (order === 0 && !sameTime.has(labelsAndLine(row)));
  });
  if (fresh.length === 0) return loaded;
  const live = fresh.map(row => ({ ...row, key: `live/${row.key}` }));
  // Rows with equal times: the latest arrival first.
  live.reverse().sort((a, b) => compareNs(b.ns, a.ns));
  return [...live, ...loaded];
}

/** Key of a row. A tail includes metadata and parsed labels in the labels of the stream. */
function labelsAndLine({ stream, metadata, parsed, line }: LogRow): string {
  const labels = Object.entries({ ...stream, ...metadata, ...parsed });
  return JSON.stringify([line, labels.sort(([a], [b]) => (a < b ? -1 : 1))]);
}
