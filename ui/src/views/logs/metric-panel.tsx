/** The answer of a query that computes values: lines, stacked bars, or a table of the series. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { Asked } from '../../api/use-ask.ts';
import { type ChartSeries, colourOf, gridOf, seriesLabel, valuesOn } from '../../components/chart-model.ts';
import { Choice } from '../../components/choice.tsx';
import { Empty } from '../../components/message.tsx';
import { TimeChart } from '../../components/time-chart.tsx';
import type { Unit } from '../../logql/unit.ts';
import { bytesText, countText, secondsText, valueText } from '../../time/quantities.ts';
import { stepName } from '../../time/steps.ts';
import type { ChartKind, Comparison } from './logs-state.ts';
import { SingleValues, TopList } from './metric-values.tsx';
import { SeriesTable } from './series-table.tsx';
import type { MetricAnswer } from './use-metric.ts';

export interface MetricPanelProps {
  readonly asked: Asked<MetricAnswer | undefined>;
  readonly kind: ChartKind;
  readonly onKind: (kind: ChartKind) => void;
  readonly compare: Comparison;
  readonly onCompare: (compare: Comparison) => void;
  readonly unit: Unit;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

const HEIGHT_PX = 340;
/** More lines in one chart cannot be told apart, and take the browser seconds. */
const MAX_DRAWN_SERIES = 100;

const EARLIER: Readonly<Record<Comparison, string>> = {
  '': '',
  '1d': 'the day before',
  '7d': 'the week before',
};
const UNIT_TEXTS: Readonly<Record<Unit, (value: number) => string>> = {
  bytes: bytesText,
  seconds: secondsText,
  number: valueText,
};

export function MetricPanel({ asked, kind, onKind, compare, onCompare, unit, onZoom }: MetricPanelProps) {
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
  // In the color of the series that it is compared with.
  const earlier = useMemo<readonly ChartSeries[]>(
    () =>
      (answer?.earlier ?? []).map(one => {
        const label = seriesLabel(one.metric);
        const now = series.find(known => known.label === label);
        return {
          label: `${label}, ${EARLIER[compare]}`,
          labels: one.metric,
          colour: now?.colour ?? '--text-muted',
          dashed: true,
          values: valuesOn(timesMs, one),
        };
      }),
    [answer, series, timesMs],
  );
  const drawn = useMemo(() => {
    const wanted = series.filter(({ label }) => only === undefined || label === only);
    const shown = (wanted.length > 0 ? wanted : series).slice(0, MAX_DRAWN_SERIES);
    const names = new Set(shown.map(({ label }) => label));
    // What is stacked has no place for a comparison.
    const before = kind === 'lines' ? earlier.filter(({ labels }) => names.has(seriesLabel(labels))) : [];
    return { timesMs, series: [...shown, ...before] };
  }, [series, earlier, timesMs, only, kind]);
  const text = UNIT_TEXTS[unit];
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
        {kind === 'lines' && (
          <label class="metric-compare">
            Compare with{' '}
            <select
              class="input"
              value={compare}
              onChange={event => onCompare(event.currentTarget.value as Comparison)}
            >
              <option value="">nothing</option>
              <option value="1d">the day before</option>
              <option value="7d">the week before</option>
            </select>
          </label>
        )}
        <Choice
          name="Shown as"
          value={kind}
          onChange={onKind}
          options={[
            { value: 'lines', label: 'Lines', icon: 'lines' },
            { value: 'area', label: 'Area', icon: 'area' },
            { value: 'bars', label: 'Bars', icon: 'bars' },
            { value: 'top', label: 'Top list', icon: 'top' },
            { value: 'value', label: 'Values', icon: 'value' },
            { value: 'table', label: 'Table', icon: 'table' },
          ]}
        />
      </header>
      {answer.warnings.map(warning => (
        <p key={warning} class="metric-warning">
          {warning}
        </p>
      ))}
      {kind === 'top' && <TopList series={series} valueText={text} />}
      {kind === 'value' && <SingleValues series={series} valueText={text} />}
      {(kind === 'lines' || kind === 'area' || kind === 'bars') && (
        <TimeChart
          data={drawn}
          kind={kind}
          fromMs={answer.range.fromMs}
          toMs={answer.range.toMs + (kind === 'bars' ? answer.stepMs : 0)}
          stepMs={answer.stepMs}
          heightPx={HEIGHT_PX}
          valueText={text}
          onZoom={zoom}
          name={`Values of ${series.length} series over time${earlier.length > 0 ? `, compared with ${EARLIER[compare]}` : ''}; the table below has their figures`}
        />
      )}
      <SeriesTable
        series={series}
        only={only}
        onOnly={setOnly}
        inColumns={kind === 'table'}
        valueText={text}
      />
    </section>
  );
}
