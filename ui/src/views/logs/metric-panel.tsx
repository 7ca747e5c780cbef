/** Result of metric queries: a chart of the chosen kind, and the statistics of its series. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { type ChartKind, UNITS, type UnitChoice } from '../../../../shared/base/model/board.ts';
import type { RequestState } from '../../api/use-request.ts';
import { type ChartSeries, colorOf, gridOf, valuesOn } from '../../components/chart-model.ts';
import { Choice } from '../../components/choice.tsx';
import { Empty } from '../../components/message.tsx';
import { MetricChart } from '../../components/metric-chart.tsx';
import { SeriesTable } from '../../components/series-table.tsx';
import type { Unit } from '../../logql/unit.ts';
import type { MetricAnswer } from '../../query/use-metric.ts';
import { countText, UNIT_TEXTS } from '../../time/quantities.ts';
import { stepName } from '../../time/steps.ts';
import type { Comparison } from './logs-state.ts';

interface MetricPanelProps {
  readonly asked: RequestState<MetricAnswer | undefined>;
  readonly kind: ChartKind;
  readonly onKind: (kind: ChartKind) => void;
  readonly compare: Comparison;
  readonly onCompare: (compare: Comparison) => void;
  /** Chosen unit, and the resulting unit of these queries. */
  readonly unitChoice: UnitChoice;
  readonly unit: Unit;
  readonly onUnit: (unit: UnitChoice) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

const HEIGHT_PX = 340;
/** Maximum series drawn. More lines cannot be distinguished, and take the browser seconds. */
const MAX_DRAWN_SERIES = 100;

const EARLIER: Readonly<Record<Comparison, string>> = {
  '': '',
  '1d': 'the previous day',
  '7d': 'the previous week',
};
const UNIT_NAMES: Readonly<Record<UnitChoice, string>> = {
  auto: 'automatic',
  number: 'number',
  bytes: 'bytes',
  seconds: 'seconds',
  percent: 'percent (0 to 1)',
};

export function MetricPanel(props: MetricPanelProps) {
  const { asked, kind, onKind, compare, onCompare, unitChoice, unit, onUnit, onZoom } = props;
  const { value: answer, loading } = asked;
  const [only, setOnly] = useState<string>();
  const zoom = useCallback((fromMs: number, toMs: number) => onZoom(fromMs, toMs), [onZoom]);
  const timesMs = useMemo(() => (answer === undefined ? [] : gridOf(answer.range, answer.stepMs)), [answer]);
  const series = useMemo<readonly ChartSeries[]>(
    () =>
      (answer?.series ?? []).map((one, i) => ({
        label: one.label,
        labels: one.metric,
        color: colorOf(i),
        values: valuesOn(timesMs, one),
      })),
    [answer, timesMs],
  );
  // Uses the color of the compared series.
  const earlier = useMemo(
    () =>
      (answer?.earlier ?? []).map(one => ({
        of: one.label,
        label: `${one.label}, ${EARLIER[compare]}`,
        labels: one.metric,
        color: series.find(known => known.label === one.label)?.color ?? '--text-muted',
        dashed: true,
        values: valuesOn(timesMs, one),
      })),
    [answer, series, timesMs],
  );
  const drawn = useMemo(() => {
    const wanted = series.filter(({ label }) => only === undefined || label === only);
    const shown = (wanted.length > 0 ? wanted : series).slice(0, MAX_DRAWN_SERIES);
    const names = new Set(shown.map(({ label }) => label));
    // Stacked charts cannot show a comparison.
    const before = kind === 'lines' ? earlier.filter(({ of }) => names.has(of)) : [];
    return { timesMs, series: [...shown, ...before] };
  }, [series, earlier, timesMs, only, kind]);
  const text = UNIT_TEXTS[unit];
  // Older values may follow.
  if (answer === undefined || (series.length === 0 && answer.computed !== undefined)) return null;
  if (series.length === 0) {
    return (
      <Empty icon="lines" title="No values in this time range">
        <p>No line matches, or the pipeline drops all lines. Widen the range or remove a filter.</p>
      </Empty>
    );
  }
  return (
    <section
      class={`card metric ${loading && answer.computed === undefined ? 'stale' : ''}`}
      aria-label="Query values"
      aria-busy={loading}
    >
      <header class="metric-head">
        <p class="numeric soft">
          {countText(series.length)} series · every {stepName(answer.stepMs)}
          {drawn.series.length < series.length &&
            only === undefined &&
            ` · the first ${MAX_DRAWN_SERIES} are shown`}
        </p>
        <label class="metric-compare">
          Unit{' '}
          <select
            class="input"
            value={unitChoice}
            onChange={event => onUnit(event.currentTarget.value as UnitChoice)}
          >
            {UNITS.map(known => (
              <option key={known} value={known}>
                {UNIT_NAMES[known]}
              </option>
            ))}
          </select>
        </label>
        {kind === 'lines' && (
          <label class="metric-compare">
            Compare with{' '}
            <select
              class="input"
              value={compare}
              onChange={event => onCompare(event.currentTarget.value as Comparison)}
            >
              <option value="">none</option>
              <option value="1d">previous day</option>
              <option value="7d">previous week</option>
            </select>
          </label>
        )}
        <Choice
          name="Chart type"
          value={kind}
          onChange={onKind}
          options={[
            { value: 'lines', label: 'Lines', icon: 'lines' },
            { value: 'area', label: 'Area', icon: 'area' },
            { value: 'bars', label: 'Bars', icon: 'bars' },
            { value: 'heat', label: 'Heat map', icon: 'heat' },
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
      <MetricChart
        timesMs={timesMs}
        series={series}
        data={drawn}
        kind={kind}
        range={answer.range}
        stepMs={answer.stepMs}
        heightPx={HEIGHT_PX}
        valueText={text}
        onZoom={zoom}
        name={`Values of ${series.length} series over time${earlier.length > 0 ? `, compared with ${EARLIER[compare]}` : ''}; statistics are in the table below`}
      />
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
