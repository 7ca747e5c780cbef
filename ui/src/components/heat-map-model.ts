/** Heat map model: a row per series, a cell per step, and the color strength of each cell. */
import type { ChartSeries } from './chart-model.ts';
import { MAX_HEAT_ROWS } from './heat-map-size.ts';

interface HeatRow {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface HeatModel {
  readonly rows: readonly HeatRow[];
  /** Number of series without a row, because they are the smallest. */
  readonly left: number;
  readonly min: number;
  readonly max: number;
}

/** Minimum share of the color that is visible on the background. */
const LEAST_SHARE = 0.12;

/**
 * Model of the series with the largest totals. Numeric labels (buckets) are sorted in ascending order, other
 * labels by total.
 */
export function heatModel(series: readonly ChartSeries[]): HeatModel {
  const totals = series.map(({ label, values }) => ({
    label,
    values,
    total: values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0),
  }));
  totals.sort((a, b) => b.total - a.total);
  const kept = totals.slice(0, MAX_HEAT_ROWS);
  if (kept.length > 1 && kept.every(({ label }) => label.trim() !== '' && !Number.isNaN(Number(label))))
    kept.sort((a, b) => Number(b.label) - Number(a.label));
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const { values } of kept) {
    for (const value of values) {
      if (value === null || !Number.isFinite(value)) continue;
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  }
  if (min > max) [min, max] = [0, 0];
  return {
    rows: kept.map(({ label, values }) => ({ label, values })),
    left: totals.length - kept.length,
    // A scale from zero shows which values are large.
    min: Math.min(0, min),
    max,
  };
}

/** Color share of a value, 0 to 1. Square roots, because few values are large and many are small. */
export function heatShare(value: number, { min, max }: Pick<HeatModel, 'min' | 'max'>): number {
  if (value === min || max <= min) return 0;
  return LEAST_SHARE + (1 - LEAST_SHARE) * Math.sqrt(Math.min(1, (value - min) / (max - min)));
}
