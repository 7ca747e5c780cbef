/** uPlot with the page's style: thin grid, quiet axes, brush selection. */
import uPlot from 'uplot';
import { SECONDS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { formatTime } from '../time/time-range.ts';
import { type ChartData, stacked } from './chart-model.ts';

/** `area` and `bars` are stacked. */
export type PlotKind = 'lines' | 'area' | 'bars';

interface PlotOptions {
  readonly data: ChartData;
  readonly kind: PlotKind;
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly heightPx: number;
  readonly utc: boolean;
  readonly valueText: (value: number) => string;
  /**
   * Called with the time index under the pointer, or undefined when it leaves. `leftPx` counts from the left
   * edge of the chart.
   */
  readonly onPoint: (index: number | undefined, leftPx: number, widthPx: number) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

export interface Plot {
  destroy(): void;
}

/** Minimum drag width; shorter drags are clicks. */
const MIN_BRUSH_PX = 6;
const MIN_ZOOM_MS = 1000;
const DASHES = [5, 4];
const AXIS_FONT = '11px Inter, system-ui, sans-serif';

export function createPlot(container: HTMLElement, options: PlotOptions): Plot {
  const { data, kind, fromMs, toMs, heightPx, utc } = options;
  const colors = resolveColors(container, [
    '--text-muted',
    '--line',
    ...data.series.map(({ color }) => color),
  ]);
  const color = (token: string) => colors.get(token)!;
  const barSize = ((options.stepMs / (toMs - fromMs)) * container.clientWidth * 0.86) | 0;
  const bars = uPlot.paths.bars!({ size: [0.86, Math.max(barSize, 2) + 40], align: 1, radius: 0.12 });
  const values = kind !== 'lines' ? stacked(data.series) : data.series.map(series => series.values);
  const axis = {
    stroke: color('--text-muted'),
    font: AXIS_FONT,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  const chart: uPlot = new uPlot(
    {
      width: container.clientWidth,
      height: heightPx,
      padding: [8, 16, 0, 0],
      legend: { show: false },
      ...(utc ? { tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), 'UTC') } : {}),
      scales: {
        x: { time: true, min: fromMs / 1000, max: toMs / 1000 },
        y: { range: (_, low, high) => rangeOf(low, high, kind) },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 26,
          gap: 6,
          space: 90,
          values: (_self, splits, _axis, _space, increment) => timeLabels(utc, splits, increment),
        },
        {
          ...axis,
          size: (_, texts) => 14 + Math.max(18, ...(texts ?? []).map(text => text.length * 6.4)),
          gap: 6,
          space: 34,
          values: (_, splits) => splits.map(value => options.valueText(value)),
        },
      ],
      series: [
        {},
        ...data.series.map(({ color: token, dashed = false }) =>
          kind === 'bars'
            ? { fill: color(token), width: 0, paths: bars, points: { show: false } }
            : {
                stroke: color(token),
                ...(kind === 'area' ? { fill: color(token) } : {}),
                ...(dashed ? { dash: DASHES } : {}),
                width: 1.5,
                points: { show: data.timesMs.length < 3 },
                spanGaps: false,
              },
        ),
      ],
      cursor: {
        points: { show: kind === 'lines' },
        y: false,
        drag: { x: true, y: false, setScale: false, dist: MIN_BRUSH_PX },
      },
      hooks: {
        setCursor: [
          ({ cursor, over }) => {
            const { idx, left = -1 } = cursor;
            if (idx === null || idx === undefined || left < 0) options.onPoint(undefined, 0, 0);
            else options.onPoint(idx, left + over.offsetLeft, container.clientWidth);
          },
        ],
        setSelect: [
          self => {
            const { left, width } = self.select;
            if (width < MIN_BRUSH_PX) return;
            const first = self.posToVal(left, 'x') * 1000;
            const last = Math.max(self.posToVal(left + width, 'x') * 1000, first + MIN_ZOOM_MS);
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            options.onZoom(Math.round(first), Math.round(last));
          },
        ],
      },
    },
    [data.timesMs.map(ms => ms / 1000), ...values] as uPlot.AlignedData,
    container,
  );
  const resized = new ResizeObserver(() => {
    if (container.clientWidth > 0) chart.setSize({ width: container.clientWidth, height: heightPx });
  });
  resized.observe(container);
  return {
    destroy() {
      resized.disconnect();
      chart.destroy();
    },
  };
}

function rangeOf(low: number | null, high: number | null, kind: PlotKind): [number, number] {
  if (low === null || high === null) return [0, 1];
  const bottom = kind !== 'lines' || low >= 0 ? 0 : low * 1.05;
  const top = high <= bottom ? bottom + 1 : high + (high - bottom) * 0.05;
  return [bottom, top];
}

/** Axis labels: 24-hour times, or dates if ticks are days. */
function timeLabels(utc: boolean, splits: readonly number[], increment: number): string[] {
  return splits.map(seconds => {
    const [day, time] = formatTime(seconds * 1000, utc).split(' ');
    if (increment >= SECONDS_PER_DAY || time.startsWith('00:00:00')) return day.slice(5);
    return increment < 60 ? time : time.slice(0, 5);
  });
}

/** Resolves color tokens for a canvas. */
function resolveColors(container: HTMLElement, tokens: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    tokens.map(token => {
      // One probe per color, because a changed color may animate to the next one.
      const probe = document.createElement('i');
      probe.style.color = `var(${token})`;
      container.append(probe);
      const { color } = getComputedStyle(probe);
      probe.remove();
      return [token, color];
    }),
  );
}
