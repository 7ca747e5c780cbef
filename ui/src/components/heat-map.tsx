/**
 * Heat map: a row for each series, a column for each step. Dragging selects a time range, as in other charts.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { MS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { onThemeChange } from '../app/theme.ts';
import { settings } from '../state/settings.ts';
import { useStore } from '../state/use-store.ts';
import { formatTime } from '../time/time-range.ts';
import type { ChartSeries } from './chart-model.ts';
import { type HeatModel, heatModel, heatShare } from './heat-map-model.ts';
import { HEAT_AXIS_PX, heatPlotPx } from './heat-map-size.ts';

interface HeatMapProps {
  readonly timesMs: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly stepMs: number;
  readonly heightPx: number;
  readonly valueText: (value: number) => string;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  readonly name: string;
}

interface HeatMapCell {
  readonly row: number;
  readonly column: number;
}

const MIN_DRAG_CELLS = 1;
const LABELS = 4;

export function HeatMap({ timesMs, series, stepMs, heightPx, valueText, onZoom, name }: HeatMapProps) {
  const utc = useStore(settings).zone === 'utc';
  const canvas = useRef<HTMLCanvasElement>(null);
  const model = useMemo(() => heatModel(series), [series]);
  const [pointed, setPointed] = useState<HeatMapCell>();
  const [dragged, setDragged] = useState<HeatMapCell>();
  const [redraws, setRedraws] = useState(0);
  useEffect(() => onThemeChange(() => setRedraws(count => count + 1)), []);
  useEffect(() => {
    const resized = new ResizeObserver(() => setRedraws(count => count + 1));
    resized.observe(canvas.current!);
    return () => resized.disconnect();
  }, []);
  const plotPx = heatPlotPx(model.rows.length, heightPx);
  const columns = timesMs.length;
  useEffect(() => draw(canvas.current!, model, columns), [model, columns, plotPx, redraws]);

  const cellAt = (event: PointerEvent): HeatMapCell | undefined => {
    const box = canvas.current!.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const row = Math.floor(((event.clientY - box.top) / box.height) * model.rows.length);
    const isInside = column >= 0 && column < columns && row >= 0 && row < model.rows.length;
    return isInside ? { row, column } : undefined;
  };
  const release = (event: PointerEvent) => {
    const end = cellAt(event);
    if (dragged !== undefined && end !== undefined) {
      const [first, last] = [dragged.column, end.column].sort((a, b) => a - b);
      if (last - first >= MIN_DRAG_CELLS) onZoom(timesMs[first], timesMs[last] + stepMs);
    }
    setDragged(undefined);
  };
  const isDay = (timesMs.at(-1) ?? 0) - (timesMs[0] ?? 0) < MS_PER_DAY;
  const value = pointed === undefined ? undefined : model.rows[pointed.row]?.values[pointed.column];
  return (
    <div class="heat-map">
      <div class="heat-plot" style={{ height: `${plotPx + HEAT_AXIS_PX}px` }}>
        <ol class="heat-labels" aria-hidden="true">
          {model.rows.map(({ label }) => (
            <li key={label} title={label}>
              {label}
            </li>
          ))}
        </ol>
        <canvas
          ref={canvas}
          role="img"
          aria-label={name}
          onPointerMove={event => setPointed(cellAt(event))}
          onPointerLeave={() => setPointed(undefined)}
          onPointerDown={event => setDragged(cellAt(event))}
          onPointerUp={release}
        />
        <div class="heat-foot numeric" aria-hidden="true">
          {pointed !== undefined && value !== null && value !== undefined ? (
            <span class="heat-pointed">
              {formatTime(timesMs[pointed.column], utc)} · {model.rows[pointed.row].label}:{' '}
              <strong>{valueText(value)}</strong>
            </span>
          ) : (
            Array.from(
              { length: LABELS },
              (_, i) => timesMs[Math.round((i / (LABELS - 1)) * (columns - 1))],
            ).map((ms, i) => (
              <span key={i}>{ms === undefined ? '' : formatTime(ms, utc).slice(isDay ? 11 : 5, 16)}</span>
            ))
          )}
        </div>
      </div>
      <p class="heat-scale numeric">
        {valueText(model.min)}
        <i />
        {valueText(model.max)}
        {model.left > 0 && <span class="soft"> · {model.left} smaller series are not shown</span>}
      </p>
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, model: HeatModel, columns: number): void {
  const { clientWidth, clientHeight } = canvas;
  const scale = window.devicePixelRatio;
  canvas.width = Math.max(1, Math.round(clientWidth * scale));
  canvas.height = Math.max(1, Math.round(clientHeight * scale));
  const context = canvas.getContext('2d');
  if (context === null) return;
  const style = getComputedStyle(canvas);
  context.fillStyle = style.color;
  const width = canvas.width / columns;
  const height = canvas.height / model.rows.length;
  const gap = Math.min(1, width / 4) * scale;
  for (const [y, { values }] of model.rows.entries()) {
    for (const [x, value] of values.entries()) {
      if (value === null || !Number.isFinite(value)) continue;
      context.globalAlpha = heatShare(value, model);
      context.fillRect(x * width, y * height, Math.max(width - gap, 1), Math.max(height - scale, 1));
    }
  }
}
