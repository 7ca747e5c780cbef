/** Result of one or several metric queries as the series of one chart. */
import { useRef } from 'preact/hooks';
import { MS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { fetchMetric } from '../api/queries.ts';
import type { MatrixSeries, QueryAnswer, Statistics } from '../api/types.ts';
import { type RequestState, useRequest } from '../api/use-request.ts';
import { legendText, seriesLabel } from '../components/chart-model.ts';
import { stepFor } from '../time/steps.ts';
import type { ResolvedRange } from '../time/time-range.ts';
import { computedShare, joinedSeries, metricParts } from './metric-parts.ts';

interface NamedSeries extends MatrixSeries {
  /** Unique label in the result, unless the legend says otherwise. */
  readonly label: string;
}

/** Progress of a query that is computed in parts. */
interface ComputedParts {
  /** Share of the instants, 0 to 1. */
  readonly share: number;
  readonly done: number;
  readonly parts: number;
}

export interface MetricAnswer {
  readonly series: readonly NamedSeries[];
  /** Same queries at an earlier time, shifted to the times of the range. */
  readonly earlier: readonly NamedSeries[];
  readonly stepMs: number;
  /** Range of the instants, in whole steps. */
  readonly range: ResolvedRange;
  readonly warnings: readonly string[];
  readonly statistics: Statistics['summary'];
  /** Parts of the instants that are computed; undefined if all of them are. */
  readonly computed: ComputedParts | undefined;
  /** Queries and range, to recognize values of an earlier query. */
  readonly asked: string;
}

export interface MetricQuery {
  readonly query: string;
  /** Legend; `{{label}}` is replaced by the label's value. Empty uses the labels. */
  readonly legend: string;
}

/** Distance of the earlier values that are compared with those of the range. */
type Comparison = '' | '1d' | '7d';

/** Maximum number of instants of a chart. */
const MAX_POINTS = 300;
const SHIFTS_MS: Readonly<Record<Comparison, number>> = { '': 0, '1d': MS_PER_DAY, '7d': 7 * MS_PER_DAY };
const LETTERS = 'ABCDE';

export function metricStep(range: ResolvedRange, points: number = MAX_POINTS): number {
  return stepFor(range, points);
}

interface UseMetricOptions {
  readonly compare?: Comparison;
  /** Maximum number of instants. */
  readonly points?: number;
  /** Shows the newest values of a long range while older ones are computed. */
  readonly inParts?: boolean;
}

/**
 * @param queries undefined if there is nothing to load; passed as text in `key`, so that equal queries load
 * once
 */
export function useMetric(
  queries: readonly MetricQuery[] | undefined,
  range: ResolvedRange | undefined,
  { compare = '', points = MAX_POINTS, inParts = false }: UseMetricOptions = {},
): RequestState<MetricAnswer | undefined> {
  const key = JSON.stringify(queries);
  const asked = JSON.stringify([queries, range]);
  /** Queries whose values are complete: a refresh keeps them until all new ones are there. */
  const complete = useRef('');
  const found = useRequest<MetricAnswer | undefined>(
    async (signal, show) => {
      if (queries === undefined || queries.length === 0 || range === undefined) return undefined;
      const showPart = (answer: MetricAnswer) => {
        if (inParts && key !== complete.current) show(answer);
      };
      const stepMs = metricStep(range, points);
      const answer = await fetchMetrics(
        queries,
        range,
        { compare, stepMs, asked, inParts },
        signal,
        showPart,
      );
      complete.current = key;
      return answer;
    },
    [key, range, compare, points],
  );
  // A canceled query leaves some of its values, which say nothing about the next query.
  const isLeftOver = found.value?.computed !== undefined && found.value.asked !== asked;
  return isLeftOver ? { ...found, value: undefined } : found;
}

interface MetricRequestOptions {
  readonly compare: Comparison;
  readonly stepMs: number;
  readonly asked: string;
  readonly inParts: boolean;
}

async function fetchMetrics(
  queries: readonly MetricQuery[],
  range: ResolvedRange,
  { compare, stepMs, asked, inParts }: MetricRequestOptions,
  signal: AbortSignal,
  show: (answer: MetricAnswer) => void,
): Promise<MetricAnswer> {
  const fromMs = Math.ceil(range.fromMs / stepMs) * stepMs;
  const toMs = Math.floor(range.toMs / stepMs) * stepMs;
  const instants = { fromMs, toMs };
  const shiftMs = SHIFTS_MS[compare];
  const fetchAll = (part: ResolvedRange, byMs: number) =>
    Promise.all(
      queries.map(({ query }) =>
        fetchMetric({ query, fromMs: part.fromMs - byMs, toMs: part.toMs - byMs, stepMs }, signal),
      ),
    );
  const parts = inParts
    ? metricParts(
        queries.map(({ query }) => query),
        instants,
        stepMs,
      )
    : [instants];
  const loaded: QueryAnswer[][] = [];
  const answerOf = (before: readonly QueryAnswer[], computed: ComputedParts | undefined): MetricAnswer => {
    const all = loaded.flat();
    const summaries = all.map(({ data }) => data.stats.summary);
    const sum = (of: (summary: Statistics['summary']) => number) =>
      summaries.reduce((total, summary) => total + of(summary), 0);
    return {
      series: named(queries, i => joinedSeries(loaded.map(answers => seriesOf(answers[i])))),
      earlier:
        before.length === 0
          ? []
          : shifted(
              named(queries, i => seriesOf(before[i])),
              shiftMs / 1000,
            ),
      stepMs,
      range: instants,
      warnings: [...new Set([...all, ...before].flatMap(({ warnings = [] }) => warnings))],
      statistics: {
        execTime: sum(summary => summary.execTime),
        totalBytesProcessed: sum(summary => summary.totalBytesProcessed),
        totalLinesProcessed: sum(summary => summary.totalLinesProcessed),
        totalEntriesReturned: sum(summary => summary.totalEntriesReturned),
      },
      computed,
      asked,
    };
  };
  for (const [i, part] of parts.slice(0, -1).entries()) {
    loaded.push(await fetchAll(part, 0));
    show(answerOf([], { share: computedShare(instants, part), done: i + 1, parts: parts.length }));
  }
  const [last, before] = await Promise.all([
    fetchAll(parts[parts.length - 1], 0),
    shiftMs === 0 ? [] : fetchAll(instants, shiftMs),
  ]);
  loaded.push(last);
  return answerOf(before, undefined);
}

function seriesOf({ data }: QueryAnswer): readonly MatrixSeries[] {
  return data.resultType === 'matrix' ? data.result : [];
}

/** Series of all queries with their labels; a letter distinguishes several queries. */
function named(
  queries: readonly MetricQuery[],
  seriesAt: (index: number) => readonly MatrixSeries[],
): readonly NamedSeries[] {
  return queries.flatMap(({ legend }, i) => {
    const letter = queries.length > 1 && legend === '' ? `${LETTERS[i]}: ` : '';
    return seriesAt(i).map(one => ({
      ...one,
      label: letter + (legendText(legend, one.metric) || seriesLabel(one.metric)),
    }));
  });
}

/** Steps of up to a day divide it evenly, so shifted samples are on the same grid. */
function shifted(series: readonly NamedSeries[], seconds: number): readonly NamedSeries[] {
  return series.map(({ metric, label, values }) => ({
    metric,
    label,
    values: values.map(([at, value]) => [at + seconds, value] as const),
  }));
}
