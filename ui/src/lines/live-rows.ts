/** Lines of a live tail on top of lines that a query has loaded: each once, the newest first. */
import { compareNs, type LogRow } from './rows.ts';

/**
 * @param tailed in the order in which they came; a tail begins with lines that the query has loaded too
 * @param loaded the newest first
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
  // Of one time, what came last is first.
  live.reverse().sort((a, b) => compareNs(b.ns, a.ns));
  return [...live, ...loaded];
}

/** A tail has metadata and parsed labels among the labels of the stream. */
function labelsAndLine({ stream, metadata, parsed, line }: LogRow): string {
  const labels = Object.entries({ ...stream, ...metadata, ...parsed });
  return JSON.stringify([line, labels.sort(([a], [b]) => (a < b ? -1 : 1))]);
}
