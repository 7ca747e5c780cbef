/** Aligns the series of a result on one time grid, as charts draw them. */
import type { Labels, MatrixSeries } from '../api/types.ts';

export interface ChartSeries {
  readonly label: string;
  readonly labels: Labels;
  /** Color token: `--error`. */
  readonly color: string;
  /** Dashed line of a comparison. */
  readonly dashed?: boolean;
  /** One value per time of the grid; null if there is no sample. */
  readonly values: readonly (number | null)[];
}

export interface ChartData {
  /** Unix milliseconds. */
  readonly timesMs: readonly number[];
  readonly series: readonly ChartSeries[];
}

const SERIES_COLORS = 10;

export function gridOf(
  { fromMs, toMs }: { fromMs: number; toMs: number },
  stepMs: number,
): readonly number[] {
  const times: number[] = [];
  for (let at = fromMs; at <= toMs; at += stepMs) times.push(at);
  return times;
}

/** Values on the grid; omits samples at other times. */
export function valuesOn(timesMs: readonly number[], series: MatrixSeries): readonly (number | null)[] {
  const stepMs = timesMs.length > 1 ? timesMs[1] - timesMs[0] : 1;
  const values = new Array<number | null>(timesMs.length).fill(null);
  for (const [seconds, text] of series.values) {
    const index = Math.round((seconds * 1000 - timesMs[0]) / stepMs);
    if (index >= 0 && index < values.length) values[index] = Number(text);
  }
  return values;
}

/** Series name: `{app="web", env="prod"}`, or only the value of a single label. */
export function seriesLabel(labels: Labels): string {
  const pairs = Object.entries(labels);
  if (pairs.length === 0) return 'value';
  if (pairs.length === 1) return pairs[0][1] === '' ? `no ${pairs[0][0]}` : pairs[0][1];
  return pairs.map(([name, value]) => `${name}=${value}`).join(', ');
}

/** Legend with `{{label}}` replaced by label values; empty without a legend. */
export function legendText(legend: string, labels: Labels): string {
  return legend.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) => labels[name] ?? '');
}

export function colorOf(index: number): string {
  return `--series-${(index % SERIES_COLORS) + 1}`;
}

/** Cumulative values: each series on top of those after it, drawn as bars from back to front. */
export function stacked(series: readonly ChartSeries[]): readonly (readonly number[])[] {
  const sums: number[][] = [];
  for (let s = series.length - 1; s >= 0; s--) {
    const below = sums[0];
    sums.unshift(series[s].values.map((value, i) => (value ?? 0) + (below?.[i] ?? 0)));
  }
  return sums;
}
