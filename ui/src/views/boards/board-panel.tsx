/**
 * One panel: its queries over the time of the board, as a chart or as lines. It loads when it is first
 * visible.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { BoardVariable, BoardPanel as PanelContent } from '../../../../shared/base/model/board.ts';
import { fetchLogs, nsOf } from '../../api/queries.ts';
import { useRequest } from '../../api/use-request.ts';
import { type Chosen, fillBoardVariables } from '../../boards/board-variables.ts';
import { type ChartSeries, colorOf, gridOf, valuesOn } from '../../components/chart-model.ts';
import { ErrorMessage } from '../../components/message.tsx';
import { MetricChart } from '../../components/metric-chart.tsx';
import { ReadText } from '../../components/read-text.tsx';
import { SeriesTable } from '../../components/series-table.tsx';
import { ValueDot } from '../../components/value-dot.tsx';
import { cellOf, columnsFor } from '../../lines/columns.ts';
import { logRowsOf } from '../../lines/rows.ts';
import { timeText } from '../../lines/time-text.ts';
import { chosenUnit } from '../../logql/unit.ts';
import { fillVariables } from '../../logql/variables.ts';
import { type MetricQuery, metricStep, useMetric } from '../../query/use-metric.ts';
import { hrefOf } from '../../state/navigation.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { UNIT_TEXTS } from '../../time/quantities.ts';
import type { RangeText, ResolvedRange } from '../../time/time-range.ts';

interface BoardPanelProps {
  readonly panel: PanelContent;
  readonly variables: readonly BoardVariable[];
  readonly chosen: Chosen;
  readonly range: ResolvedRange;
  readonly rangeText: RangeText;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  readonly tools: ComponentChildren;
}

const ROW_PX = 64;
const HEAD_PX = 52;
/** Number of points; a panel is narrower than the log view. */
const POINTS = 150;
const MAX_LINES = 100;
const MAX_DRAWN_SERIES = 50;

export function BoardPanel(props: BoardPanelProps) {
  const { panel, variables, chosen, range, rangeText, tools } = props;
  const { title, kind, width, rows } = panel;
  const container = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (seen) return;
    const observer = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(container.current!);
    return () => observer.disconnect();
  }, [seen]);
  const values = { rangeMs: range.toMs - range.fromMs, stepMs: metricStep(range, POINTS) };
  const queries = panel.queries
    .map(({ query, legend }) => ({ query: fillBoardVariables(query, variables, chosen), legend }))
    .filter(({ query }) => query.trim() !== '');
  const [first, ...more] = queries.map(({ query }) => query);
  const href =
    first === undefined
      ? undefined
      : hrefOf('logs', {
          ...{ q: first, from: rangeText.from, to: rangeText.to },
          more: more.length === 0 ? '' : JSON.stringify(more),
          chart: kind === 'logs' || kind === 'lines' ? '' : kind,
        });
  const filled = queries.map(({ query, legend }) => ({ query: fillVariables(query, values), legend }));
  const name = title === '' ? (first ?? 'Panel without a query') : title;
  return (
    <section
      ref={container}
      class={`card board-panel board-width-${width}`}
      style={{ '--rows': String(rows) }}
      aria-label={name}
    >
      <header class="board-panel-head">
        <h2>
          {href === undefined ? (
            name
          ) : (
            <a class="board-panel-link" href={href} title="Open in Logs">
              {name}
            </a>
          )}
        </h2>
        {tools}
      </header>
      {seen &&
        filled.length > 0 &&
        (kind === 'logs' ? (
          <Lines query={filled[0].query} range={range} />
        ) : (
          <Values {...props} queries={filled} name={name} heightPx={rows * ROW_PX - HEAD_PX} />
        ))}
    </section>
  );
}

interface ValuesProps extends BoardPanelProps {
  readonly queries: readonly MetricQuery[];
  readonly name: string;
  readonly heightPx: number;
}

function Values({ panel, queries, range, onZoom, name, heightPx }: ValuesProps) {
  const { unit } = panel;
  // Another component shows lines.
  const kind = panel.kind === 'logs' ? 'table' : panel.kind;
  const { value: answer, error } = useMetric(queries, range, { points: POINTS });
  const timesMs = useMemo(() => (answer === undefined ? [] : gridOf(answer.range, answer.stepMs)), [answer]);
  const series = useMemo<readonly ChartSeries[]>(
    () =>
      (answer?.series ?? []).slice(0, MAX_DRAWN_SERIES).map((one, i) => ({
        label: one.label,
        labels: one.metric,
        color: colorOf(i),
        values: valuesOn(timesMs, one),
      })),
    [answer, timesMs],
  );
  const data = useMemo(() => ({ timesMs, series }), [timesMs, series]);
  const [only, setOnly] = useState<string>();
  if (error !== undefined) return <ErrorMessage error={error} />;
  if (answer === undefined) return null;
  if (series.length === 0) return <p class="board-empty soft">No values in this time range</p>;
  const text =
    UNIT_TEXTS[
      chosenUnit(
        unit,
        queries.map(({ query }) => query),
      )
    ];
  const isDrawn = kind === 'lines' || kind === 'area' || kind === 'bars';
  const hidden = answer.series.length - series.length;
  return (
    // Values that do not fit are scrolled with the arrow keys.
    <div class="board-panel-body" tabIndex={isDrawn ? undefined : 0}>
      <MetricChart
        timesMs={timesMs}
        series={series}
        data={only === undefined ? data : { timesMs, series: series.filter(({ label }) => label === only) }}
        kind={kind}
        range={answer.range}
        stepMs={answer.stepMs}
        heightPx={isDrawn ? Math.max(80, heightPx - 28) : Math.max(80, heightPx - 44)}
        valueText={text}
        onZoom={onZoom}
        name={`${name}: values of ${series.length} series over time`}
      />
      {isDrawn && (
        <ul class="board-legend">
          {series.map(({ label, color }) => (
            <li key={label}>
              <button
                type="button"
                class="legend"
                aria-pressed={only === label}
                onClick={() => setOnly(only === label ? undefined : label)}
              >
                <i style={{ background: `var(${color})` }} />
                {label}
              </button>
            </li>
          ))}
        </ul>
      )}
      {kind === 'table' && (
        <SeriesTable series={series} only={only} onOnly={setOnly} inColumns valueText={text} />
      )}
      {hidden > 0 && <p class="soft board-empty">{hidden} more series are not shown</p>}
    </div>
  );
}

function Lines({ query, range }: { readonly query: string; readonly range: ResolvedRange }) {
  const utc = useStore(settings).zone === 'utc';
  const { value, error } = useRequest(
    async signal => {
      const asked = { startNs: nsOf(range.fromMs), endNs: nsOf(range.toMs), limit: MAX_LINES };
      const { data } = await fetchLogs({ query, ...asked, direction: 'backward' }, signal);
      return data.resultType === 'streams' ? logRowsOf(data.result, true) : undefined;
    },
    [query, range],
  );
  const column = useMemo(() => columnsFor(value ?? [])[0]?.name, [value]);
  if (error !== undefined) return <ErrorMessage error={error} />;
  if (value === undefined) return null;
  if (value.length === 0) return <p class="board-empty soft">No lines in this time range</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: users without a pointer scroll it with the arrow keys
    <section class="board-lines mono" tabIndex={0} aria-label="Lines">
      <ul>
        {value.map(row => (
          <li key={row.key}>
            <span class="log-level" style={{ background: `var(--${row.level})` }} title={row.level} />
            <time class="numeric">{timeText(row, utc).slice(5, 19)}</time>
            {column !== undefined && (
              <span class="board-line-stream" title={`${column}: ${cellOf(row, column)}`}>
                <ValueDot value={cellOf(row, column)} />
                {cellOf(row, column)}
              </span>
            )}
            <span class="board-line">
              <ReadText line={row.line} highlights={[]} flat />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
