/** The answer of a query that computes values. */
import { askMetric } from '../../api/queries.ts';
import type { MatrixSeries, Statistics } from '../../api/types.ts';
import { type Asked, useAsk } from '../../api/use-ask.ts';
import { stepFor } from '../../time/steps.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import type { Comparison } from './logs-state.ts';

export interface MetricAnswer {
  readonly series: readonly MatrixSeries[];
  /** The same query earlier, with the times of the range. */
  readonly earlier: readonly MatrixSeries[];
  readonly stepMs: number;
  /** Of the instants: whole steps. */
  readonly range: ResolvedRange;
  readonly warnings: readonly string[];
  readonly statistics: Statistics['summary'];
}

/** Instants of a chart. */
const MAX_POINTS = 300;
const DAY_MS = 86_400_000;
const SHIFTS_MS: Readonly<Record<Comparison, number>> = { '': 0, '1d': DAY_MS, '7d': 7 * DAY_MS };

export function metricStep(range: ResolvedRange): number {
  return stepFor(range, MAX_POINTS);
}

/** @param query undefined where there is nothing to ask */
export function useMetric(
  query: string | undefined,
  range: ResolvedRange | undefined,
  compare: Comparison,
): Asked<MetricAnswer | undefined> {
  return useAsk(
    async signal => {
      if (query === undefined || range === undefined) return undefined;
      const stepMs = metricStep(range);
      const fromMs = Math.ceil(range.fromMs / stepMs) * stepMs;
      const toMs = Math.floor(range.toMs / stepMs) * stepMs;
      const shiftMs = SHIFTS_MS[compare];
      const [{ data, warnings = [] }, before] = await Promise.all([
        askMetric({ query, fromMs, toMs, stepMs }, signal),
        shiftMs === 0
          ? undefined
          : askMetric({ query, fromMs: fromMs - shiftMs, toMs: toMs - shiftMs, stepMs }, signal),
      ]);
      const series = data.resultType === 'matrix' ? data.result : [];
      const earlier = before?.data.resultType === 'matrix' ? before.data.result : [];
      return {
        series,
        earlier: shifted(earlier, shiftMs / 1000),
        stepMs,
        range: { fromMs, toMs },
        warnings,
        statistics: data.stats.summary,
      };
    },
    [query, range, compare],
  );
}

/** Steps of up to a day are divisors of it, so shifted samples are on the same grid. */
function shifted(series: readonly MatrixSeries[], seconds: number): readonly MatrixSeries[] {
  return series.map(({ metric, values }) => ({
    metric,
    values: values.map(([at, value]) => [at + seconds, value] as const),
  }));
}
