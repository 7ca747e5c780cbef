/** The answer of a query that computes values. */
import { askMetric } from '../../api/queries.ts';
import type { MatrixSeries, Statistics } from '../../api/types.ts';
import { type Asked, useAsk } from '../../api/use-ask.ts';
import { stepFor } from '../../time/steps.ts';
import type { ResolvedRange } from '../../time/time-range.ts';

export interface MetricAnswer {
  readonly series: readonly MatrixSeries[];
  readonly stepMs: number;
  /** Of the instants: whole steps. */
  readonly range: ResolvedRange;
  readonly warnings: readonly string[];
  readonly statistics: Statistics['summary'];
}

/** Instants of a chart. */
const MAX_POINTS = 300;

export function metricStep(range: ResolvedRange): number {
  return stepFor(range, MAX_POINTS);
}

/** @param query undefined where there is nothing to ask */
export function useMetric(
  query: string | undefined,
  range: ResolvedRange | undefined,
): Asked<MetricAnswer | undefined> {
  return useAsk(
    async signal => {
      if (query === undefined || range === undefined) return undefined;
      const stepMs = metricStep(range);
      const fromMs = Math.ceil(range.fromMs / stepMs) * stepMs;
      const toMs = Math.floor(range.toMs / stepMs) * stepMs;
      const { data, warnings = [] } = await askMetric({ query, fromMs, toMs, stepMs }, signal);
      const series = data.resultType === 'matrix' ? data.result : [];
      return { series, stepMs, range: { fromMs, toMs }, warnings, statistics: data.stats.summary };
    },
    [query, range],
  );
}
