/**
 * Time series as lines or stacked bars. Dragging selects a time range. Drawn by uPlot, which loads with the
 * first chart.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { onThemeChange } from '../app/theme.ts';
import { settings } from '../state/settings.ts';
import { useStore } from '../state/use-store.ts';
import { formatTime } from '../time/time-range.ts';
import type { ChartData } from './chart-model.ts';
import type { Plot, PlotKind } from './time-chart-plot.ts';

interface TimeChartProps {
  readonly data: ChartData;
  readonly kind: PlotKind;
  /** Start of the axis, Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Width of a bar, ms. */
  readonly stepMs: number;
  readonly heightPx: number;
  readonly valueText: (value: number) => string;
  readonly onZoom?: (fromMs: number, toMs: number) => void;
  /** Accessible name of the chart. */
  readonly name: string;
}

interface Pointed {
  readonly index: number;
  readonly leftPx: number;
  readonly widthPx: number;
}

/** Maximum rows of the tooltip; more would cover the chart. */
const MAX_TIP_ROWS = 12;

export function TimeChart(props: TimeChartProps) {
  const { data, kind, fromMs, toMs, stepMs, heightPx, valueText, name } = props;
  const { zone } = useStore(settings);
  const container = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [pointed, setPointed] = useState<Pointed>();
  const [themes, setThemes] = useState(0);
  useEffect(() => onThemeChange(() => setThemes(count => count + 1)), []);

  // A canvas reads its colors only when it is created.
  useEffect(() => {
    let plot: Plot | undefined;
    let ended = false;
    setPointed(undefined);
    import('./time-chart-plot.ts').then(
      ({ createPlot }) => {
        if (ended || container.current === null) return;
        plot = createPlot(container.current, {
          data,
          kind,
          fromMs,
          toMs,
          stepMs,
          heightPx,
          utc: zone === 'utc',
          valueText,
          onPoint: (index, leftPx, widthPx) =>
            setPointed(index === undefined ? undefined : { index, leftPx, widthPx }),
          onZoom: (first, last) => latest.current.onZoom?.(first, last),
        });
      },
      () => undefined,
    );
    return () => {
      ended = true;
      plot?.destroy();
    };
  }, [data, kind, fromMs, toMs, stepMs, heightPx, zone, themes, valueText]);

  return (
    <div class="chart" style={{ height: `${heightPx}px` }}>
      <div ref={container} class={`chart-plot ${kind}`} role="img" aria-label={name} />
      {pointed !== undefined && <Tip {...props} pointed={pointed} utc={zone === 'utc'} />}
    </div>
  );
}

function Tip({
  data,
  kind,
  stepMs,
  valueText,
  pointed,
  utc,
}: TimeChartProps & { pointed: Pointed; utc: boolean }) {
  const { index, leftPx, widthPx } = pointed;
  const rows = data.series
    .map(({ label, color, values }) => ({ label, color, value: values[index] }))
    .filter((row): row is typeof row & { value: number } => row.value !== null && row.value !== undefined)
    .filter(({ value }) => kind === 'lines' || value !== 0);
  if (rows.length === 0) return null;
  if (kind === 'lines') rows.sort((a, b) => b.value - a.value);
  const at = formatTime(data.timesMs[index], utc);
  const until = kind === 'bars' ? ` to ${formatTime(data.timesMs[index] + stepMs, utc).slice(11)}` : '';
  const side = leftPx > widthPx / 2 ? { right: `${widthPx - leftPx + 14}px` } : { left: `${leftPx + 14}px` };
  return (
    <div class="chart-tip" style={side} aria-hidden="true">
      <p class="numeric">
        {at}
        {until}
      </p>
      <dl>
        {rows.slice(0, MAX_TIP_ROWS).map(({ label, color, value }) => (
          <div key={label}>
            <dt>
              <i style={{ background: `var(${color})` }} />
              <span>{label}</span>
            </dt>
            <dd class="numeric">{valueText(value)}</dd>
          </div>
        ))}
      </dl>
      {rows.length > MAX_TIP_ROWS && <small>and {rows.length - MAX_TIP_ROWS} more</small>}
    </div>
  );
}
