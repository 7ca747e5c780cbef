import { lowerBound } from './binary-search.ts';
import type { Run } from './page.ts';

/** Returns the runs that have some of the rows `selection[0..count)`, which are ascending. */
export function runsOfRows(runs: readonly Run[], selection: Uint32Array, count: number): Run[] {
  const found: Run[] = [];
  let run = 0;
  for (let i = 0; i < count; ) {
    while (runs[run].firstRow + runs[run].rows <= selection[i]) run++;
    found.push(runs[run]);
    i = lowerBound(selection, i, count, runs[run].firstRow + runs[run].rows);
  }
  return found;
}
