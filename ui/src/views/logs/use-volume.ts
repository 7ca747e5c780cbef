/** Number of lines by level over the range, in windows. */
import { fetchInstant, fetchMetric } from '../../api/queries.ts';
import type { Labels } from '../../api/types.ts';
import { type RequestState, useRequest } from '../../api/use-request.ts';
import { type ChartData, gridOf, valuesOn } from '../../components/chart-model.ts';
import { LEVELS, type Level, levelOf } from '../../lines/level.ts';
import { countedWindows, stepFor, stepText, windowEnds } from '../../time/steps.ts';
import type { ResolvedRange } from '../../time/time-range.ts';

export interface LogVolume {
  /** Times are starts of windows; levels without lines are omitted. */
  readonly data: ChartData;
  readonly stepMs: number;
  readonly totals: readonly { readonly level: Level; readonly count: number }[];
  readonly total: number;
}

const MAX_WINDOWS = 100;

/** @param query undefined if there is nothing to count */
export function useVolume(
  query: string | undefined,
  range: ResolvedRange | undefined,
): RequestState<LogVolume | undefined> {
  return useRequest(
    async signal => {
      if (query === undefined || range === undefined) return undefined;
      const stepMs = stepFor(range, MAX_WINDOWS);
      const counting = (window: string) =>
        // A comment at the end of the query ends at the line break.
        `sum by (detected_level) (count_over_time(${query}\n[${window}]))`;
      const { cut, whole } = countedWindows(range, stepMs);
      const [answer, ...ofCut] = await Promise.all([
        whole === undefined
          ? undefined
          : fetchMetric({ query: counting(stepText(stepMs)), ...whole, stepMs }, signal),
        ...cut.map(({ widthMs, endMs }) => fetchInstant(counting(stepText(widthMs)), endMs, signal)),
      ]);
      const timesMs = gridOf(windowEnds(range, stepMs), stepMs);
      const counts = new Map<Level, number[]>();
      const countsOf = ({ detected_level }: Labels) => {
        const level = levelOf(detected_level);
        const known = counts.get(level) ?? new Array<number>(timesMs.length).fill(0);
        counts.set(level, known);
        return known;
      };
      if (answer?.data.resultType === 'matrix') {
        for (const series of answer.data.result) {
          const sums = countsOf(series.metric);
          valuesOn(timesMs, series).forEach((value, i) => {
            sums[i] += value ?? 0;
          });
        }
      }
      ofCut.forEach((samples, i) => {
        for (const { metric, value } of samples) countsOf(metric)[cut[i].index] += Number(value[1]);
      });
      const totals = LEVELS.filter(level => counts.has(level)).map(level => ({
        level,
        count: counts.get(level)!.reduce((sum, count) => sum + count, 0),
      }));
      return {
        // The worst level is at the bottom, where even a low bar is visible.
        data: {
          timesMs: timesMs.map(ms => ms - stepMs),
          series: totals
            .map(({ level }) => ({
              label: level,
              labels: { detected_level: level },
              color: `--${level}`,
              values: counts.get(level)!,
            }))
            .reverse(),
        },
        stepMs,
        totals,
        total: totals.reduce((sum, { count }) => sum + count, 0),
      };
    },
    [query, range],
  );
}
