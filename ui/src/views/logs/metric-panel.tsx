/** The answer of a query that computes values: lines, stacked bars, or a table of the series. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { Asked } from '../../api/use-ask.ts';
import { type ChartSeries, colourOf, gridOf, seriesLabel, valuesOn } from '../../components/chart-model.ts';
import { Choice } from '../../components/choice.tsx';
import { Empty } from '../../components/message.tsx';
import { TimeChart } from '../../components/time-chart.tsx';
import { countText, valueText } from '../../time/quantities.ts';
import { stepName } from '../../time/steps.ts';
import type { ChartKind } from './logs-state.ts';
import { SeriesTable } from './series-table.tsx';
import type { MetricAnswer } from './use-metric.ts';

export interface MetricPanelProps {
  readonly asked: Asked<MetricAnswer | undefined>;
  readonly kind: ChartKind;
  readonly onKind: (kind: ChartKind) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

const HEIGHT_PX = 340;
/** More lines in one chart cannot be told apart, and take the browser seconds. */
const MAX_DRAWN_SERIES = 100;

export function MetricPanel({ asked, kind, onKind, onZoom }: MetricPanelProps) {
  const { value: answer, loading } = asked;
  const [only, setOnly] = useState<string>();
  const zoom = useCallback((fromMs: number, toMs: number) => onZoom(fromMs, toMs), [onZoom]);
  const timesMs = useMemo(() => (answer === undefined ? [] : gridOf(answer.range, answer.stepMs)), [answer]);
  const series = useMemo<readonly ChartSeries[]>(
    () =>
      (answer?.series ?? []).map((one, i) => ({
        label: seriesLabel(one.metric),
        labels: one.metric,
        colour: colourOf(i),
        values: valuesOn(timesMs, one),
      })),
    [answer, timesMs],
  );
  const drawn = useMemo(() => {
    const wanted = series.filter(({ label }) => only === undefined || label === only);
    return { timesMs, series: (wanted.length > 0 ? wanted : series).slice(0, MAX_DRAWN_SERIES) };
  }, [series, timesMs, only]);
  if (answer === undefined) return null;
  if (series.length === 0) {
    return (
      <Empty icon="lines" title="The query has no value in this time">
        <p>No line that it selects lies in the range, or its pipeline drops them all.</p>
      </Empty>
    );
  }
  return (
    <section
      class={`card metric ${loading ? 'stale' : ''}`}
      aria-label="Values of the query"
      aria-busy={loading}
    >
      <header class="metric-head">
        <p class="numeric soft">
          {countText(series.length)} series · every {stepName(answer.stepMs)}
          {drawn.series.length < series.length &&
            only === undefined &&
            ` · the first ${MAX_DRAWN_SERIES} are drawn`}
        </p>
        <Choice
          name="Shown as"
          value={kind}
          onChange={onKind}
          options={[
            { value: 'lines', label: 'Lines', icon: 'lines' },
            { value: 'bars', label: 'Bars', icon: 'bars' },
            { value: 'table', label: 'Table', icon: 'table' },
          ]}
        />
      </header>
      {answer.warnings.map(warning => (
        <p key={warning} class="metric-warning">
          {warning}
        </p>
      ))}
      {kind !== 'table' && (
        <TimeChart
          data={drawn}
          kind={kind}
          fromMs={answer.range.fromMs}
          toMs={answer.range.toMs + (kind === 'bars' ? answer.stepMs : 0)}
          stepMs={answer.stepMs}
          heightPx={HEIGHT_PX}
          valueText={valueText}
          onZoom={zoom}
          name={`Values of ${series.length} series over time; the table below has their figures`}
        />
      )}
      <SeriesTable series={series} only={only} onOnly={setOnly} inColumns={kind === 'table'} />
    </section>
  );
}
