/** Patterns of a query's selector, and its number of lines. */
import { fetchStreamFigures } from '../../api/labels.ts';
import { fetchPatterns } from '../../api/patterns.ts';
import { type RequestState, useRequest } from '../../api/use-request.ts';
import { selectorOf } from '../../logql/edit.ts';
import { stepFor } from '../../time/steps.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import { type PatternGrid, type PatternRow, patternGrid, patternRows } from './patterns-model.ts';

export interface FoundPatterns {
  readonly rows: readonly PatternRow[];
  readonly grid: PatternGrid;
  /** Number of lines in all patterns. */
  readonly counted: number;
  /** Number of lines of the selector; at least `counted`. */
  readonly lines: number;
}

/** Maximum bars of a sparkline. */
const MAX_STEPS = 48;

/** @param query undefined if there is nothing to load */
export function usePatterns(
  query: string | undefined,
  range: ResolvedRange | undefined,
): RequestState<FoundPatterns | undefined> {
  return useRequest(
    async signal => {
      if (query === undefined || range === undefined) return undefined;
      const grid = patternGrid(range, stepFor(range, MAX_STEPS));
      // The store refuses an invalid query with the reason.
      const selector = selectorOf(query) ?? query;
      const [patterns, lines] = await Promise.all([
        fetchPatterns({ query: selector, ...range, stepMs: grid.stepMs }, signal),
        // Only for shares: without it, shares refer to the lines that patterns count.
        fetchStreamFigures(selector, range, signal).then(
          ({ entries }) => entries,
          () => 0,
        ),
      ]);
      const rows = patternRows(patterns, grid, lines);
      const counted = rows.reduce((sum, { count }) => sum + count, 0);
      return { rows, grid, counted, lines: Math.max(lines, counted) };
    },
    [query, range],
  );
}
