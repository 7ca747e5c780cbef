/** A naive evaluation of range aggregations, written from the definitions: no panes, no merging, no typed arrays. */

import type { SampleBatch } from '../../shared/base/model/samples.ts';
import type { SeriesMatrix } from '../../shared/execution/metrics/matrix.ts';
import type { RangeSpec } from '../../shared/execution/metrics/range-spec.ts';
import type { RangeOp } from '../../shared/language/logql/ast.ts';

export interface Sample {
  readonly series: number;
  readonly ns: bigint;
  readonly value: number;
}

export function specOf(over: Partial<RangeSpec>): RangeSpec {
  return {
    op: 'count_over_time',
    startNs: 0n,
    endNs: 0n,
    stepNs: 0n,
    rangeNs: 10n,
    offsetNs: 0n,
    unwrapped: false,
    ...over,
  };
}

/** A batch with the rows in reverse of the page, to distinguish rows from places in the batch. */
export function batchOf(samples: readonly Sample[], baseNs: bigint, withValues = true): SampleBatch {
  const count = samples.length;
  return {
    baseNs,
    count,
    times: Float64Array.from(samples, ({ ns }) => Number(ns - baseNs)).reverse(),
    rows: Uint32Array.from(samples, (_, i) => count - 1 - i),
    series: Uint32Array.from(samples, ({ series }) => series),
    values: withValues ? Float64Array.from(samples, ({ value }) => value) : undefined,
  };
}

/** `[series, instant, value]` of every point, in order. */
export function pointsOf(
  matrix: SeriesMatrix,
  seriesOf: (one: number) => number,
): [number, number, number][] {
  const points: [number, number, number][] = [];
  matrix.series.forEach((one, place) => {
    one.values.forEach((value, i) => {
      if (one.present[i] === 1) points.push([seriesOf(place), one.first + i, value]);
    });
  });
  return points;
}

export function naivePoints(spec: RangeSpec, samples: readonly Sample[]): [number, number, number][] {
  const instants: bigint[] = [];
  if (spec.stepNs === 0n) instants.push(spec.startNs);
  else for (let t = spec.startNs; t <= spec.endNs; t += spec.stepNs) instants.push(t);
  const points: [number, number, number][] = [];
  const numbers = [...new Set(samples.map(({ series }) => series))].sort((a, b) => a - b);
  for (const series of numbers) {
    instants.forEach((instant, i) => {
      const to = instant - spec.offsetNs;
      const from = to - spec.rangeNs;
      const window = samples
        .filter(sample => sample.series === series && sample.ns > from && sample.ns <= to)
        .sort((a, b) => Number(a.ns - b.ns));
      if (window.length > 0) points.push([series, i, naiveValue(spec, window, from, to)]);
    });
  }
  return points;
}

function naiveValue(spec: RangeSpec, window: readonly Sample[], from: bigint, to: bigint): number {
  const values = window.map(({ value }) => value);
  const seconds = Number(to - from) / 1e9;
  const sum = () => values.reduce((a, b) => a + b, 0);
  const mean = sum() / values.length;
  const variance = values.reduce((total, v) => total + (v - mean) ** 2, 0) / values.length;
  const numbers = values.filter(v => !Number.isNaN(v));
  const op: RangeOp = spec.op;
  switch (op) {
    case 'count_over_time':
    case 'absent_over_time':
      return values.length;
    case 'rate':
      return (spec.unwrapped ? sum() : values.length) / seconds;
    case 'bytes_rate':
      return sum() / seconds;
    case 'bytes_over_time':
    case 'sum_over_time':
      return sum();
    case 'avg_over_time':
      return mean;
    case 'min_over_time':
      return numbers.length === 0 ? Number.NaN : Math.min(...numbers);
    case 'max_over_time':
      return numbers.length === 0 ? Number.NaN : Math.max(...numbers);
    case 'stdvar_over_time':
      return variance;
    case 'stddev_over_time':
      return Math.sqrt(variance);
    case 'first_over_time':
      return values[0];
    case 'last_over_time':
      return values[values.length - 1];
    case 'quantile_over_time': {
      const q = spec.parameter!;
      if (q < 0) return -Infinity;
      if (q > 1) return Infinity;
      const sorted = [
        ...values.filter(v => Number.isNaN(v)),
        ...numbers.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
      ];
      const rank = q * (sorted.length - 1);
      const low = Math.floor(rank);
      const high = Math.min(low + 1, sorted.length - 1);
      const weight = rank - low;
      return sorted[low] * (1 - weight) + sorted[high] * weight;
    }
    case 'rate_counter': {
      if (window.length < 2) return 0;
      let increase = values[values.length - 1] - values[0];
      for (let i = 1; i < values.length; i++) if (values[i] < values[i - 1]) increase += values[i - 1];
      const first = window[0].ns;
      const last = window[window.length - 1].ns;
      const span = Number(last - first) / 1e9;
      const average = span / (window.length - 1);
      let toStart = Number(first - from) / 1e9;
      let toEnd = Number(to - last) / 1e9;
      if (toStart >= 1.1 * average) toStart = average / 2;
      if (increase > 0 && values[0] >= 0) toStart = Math.min(toStart, (span * values[0]) / increase);
      if (toEnd >= 1.1 * average) toEnd = average / 2;
      return (increase * (span + toStart + toEnd)) / span / seconds;
    }
  }
}
