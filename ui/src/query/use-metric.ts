/** The answer of one or several queries that compute values, as series of one chart. */
import { MS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { askMetric } from '../api/queries.ts';
import type { MatrixSeries, Statistics } from '../api/types.ts';
import { type Asked, useAsk } from '../api/use-ask.ts';
import { legendText, seriesLabel } from '../components/chart-model.ts';
import { stepFor } from '../time/steps.ts';
import type { ResolvedRange } from '../time/time-range.ts';

export interface NamedSeries extends MatrixSeries {
  /** Unlike that of every other series of the answer, unless the legend says otherwise. */
  readonly label: string;
}

export interface MetricAnswer {
  readonly series: readonly NamedSeries[];
  /** The same queries earlier, with the times of the range. */
  readonly earlier: readonly NamedSeries[];
  readonly stepMs: number;
  /** Of the instants: whole steps. */
  readonly range: ResolvedRange;
  readonly warnings: readonly string[];
  readonly statistics: Statistics['summary'];
}

export interface MetricQuery {
  readonly query: string;
  /** `{{label}}` stands for the value of a label; empty for the labels. */
  readonly legend: string;
}

/** How much earlier the values are that are drawn beside those of the range. */
export type Comparison = '' | '1d' | '7d';

/** Instants of a chart. */
const MAX_POINTS = 300;
const SHIFTS_MS: Readonly<Record<Comparison, number>> = { '': 0, '1d': MS_PER_DAY, '7d': 7 * MS_PER_DAY };
const LETTERS = 'ABCDE';

export function metricStep(range: ResolvedRange, points: number = MAX_POINTS): number {
  return stepFor(range, points);
}

/** @param queries undefined if there is nothing to ask; as text in `key`, so that equal ones are asked once */
export function useMetric(
  queries: readonly MetricQuery[] | undefined,
  range: ResolvedRange | undefined,
  compare: Comparison = '',
  points: number = MAX_POINTS,
): Asked<MetricAnswer | undefined> {
  return useAsk(
    async signal => {
      if (queries === undefined || queries.length === 0 || range === undefined) return undefined;
      return askMetrics(queries, range, { compare, stepMs: metricStep(range, points) }, signal);
    },
    [JSON.stringify(queries), range, compare, points],
  );
}

export async function askMetrics(
  queries: readonly MetricQuery[],
  range: ResolvedRange,
  { compare, stepMs }: { readonly compare: Comparison; readonly stepMs: number },
  signal: AbortSignal,
): Promise<MetricAnswer> {
  const fromMs = Math.ceil(range.fromMs / stepMs) * stepMs;
  const toMs = Math.floor(range.toMs / stepMs) * stepMs;
  const shiftMs = SHIFTS_MS[compare];
  const askAll = (byMs: number) =>
    Promise.all(
      queries.map(({ query }) =>
        askMetric({ query, fromMs: fromMs - byMs, toMs: toMs - byMs, stepMs }, signal),
      ),
    );
  const [now, before] = await Promise.all([askAll(0), shiftMs === 0 ? [] : askAll(shiftMs)]);
  const named = (answers: typeof now) =>
    answers.flatMap(({ data }, i) => {
      const series = data.resultType === 'matrix' ? data.result : [];
      const letter = queries.length > 1 && queries[i].legend === '' ? `${LETTERS[i]}: ` : '';
      return series.map(one => ({
        ...one,
        label: letter + (legendText(queries[i].legend, one.metric) || seriesLabel(one.metric)),
      }));
    });
  const summaries = now.map(({ data }) => data.stats.summary);
  const sum = (of: (summary: Statistics['summary']) => number) =>
    summaries.reduce((total, summary) => total + of(summary), 0);
  return {
    series: named(now),
    earlier: shifted(named(before), shiftMs / 1000),
    stepMs,
    range: { fromMs, toMs },
    warnings: [...new Set([...now, ...before].flatMap(({ warnings = [] }) => warnings))],
    statistics: {
      execTime: sum(summary => summary.execTime),
      totalBytesProcessed: sum(summary => summary.totalBytesProcessed),
      totalLinesProcessed: sum(summary => summary.totalLinesProcessed),
      totalEntriesReturned: sum(summary => summary.totalEntriesReturned),
    },
  };
}

/** Steps of up to a day are divisors of it, so shifted samples are on the same grid. */
function shifted(series: readonly NamedSeries[], seconds: number): readonly NamedSeries[] {
  return series.map(({ metric, label, values }) => ({
    metric,
    label,
    values: values.map(([at, value]) => [at + seconds, value] as const),
  }));
}
