/**
 * Intermediate result of metric evaluation: values of each series over the instants of the query.
 *
 * A series covers only the instants from its first to its last value, because a query may have 100,000 short
 * series over 10,000 instants. Presence is separate from the value, because NaN is a value. Two series of a
 * matrix may have equal labels (docs/dev/logql-semantics.md#labels-of-a-series, #label_replace); each is then a separate element at every
 * instant.
 */
import type { Labels } from '../../base/model/labels.ts';

export interface MatrixSeries {
  readonly labels: Labels;
  /** Instant number of `values[0]`. */
  readonly first: number;
  readonly values: Float64Array;
  /** 1 for each existing value; as long as `values`. */
  readonly present: Uint8Array;
}

export interface SeriesMatrix {
  /** All instants of the query, Unix milliseconds. */
  readonly timesMs: Float64Array;
  readonly series: readonly MatrixSeries[];
}

/** Bytes of one cell of a series: a value and its presence. */
export const BYTES_PER_CELL = 9;

export function hasPoints(present: Uint8Array): boolean {
  return present.includes(1);
}

export function countPoints(present: Uint8Array): number {
  let points = 0;
  for (let i = 0; i < present.length; i++) points += present[i];
  return points;
}

/** Returns a series with one value at every instant. */
export function constantSeries(labels: Labels, value: number, instants: number): MatrixSeries {
  return {
    labels,
    first: 0,
    values: new Float64Array(instants).fill(value),
    present: new Uint8Array(instants).fill(1),
  };
}

/** Returns the range from the first instant to the one after the last. There must be at least one series. */
export function spanOf(series: readonly MatrixSeries[]): { first: number; end: number } {
  let first = Infinity;
  let end = 0;
  for (const one of series) {
    first = Math.min(first, one.first);
    end = Math.max(end, one.first + one.values.length);
  }
  return { first, end };
}
