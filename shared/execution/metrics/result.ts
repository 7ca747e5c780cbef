/** Results of metric queries: their order, and the limit on their series (docs/dev/logql-semantics.md#instant-and-range-results, #limits-of-a-query). */
import { BadRequestError } from '../../base/model/errors.ts';
import { compareLabels, type Labels, NO_LABELS } from '../../base/model/labels.ts';
import { labelsKey } from './grouping.ts';
import { countPoints, type MatrixSeries, type SeriesMatrix } from './matrix.ts';
import type { Steps } from './steps.ts';

export interface ScalarResult {
  readonly kind: 'scalar';
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly value: number;
}

interface VectorSample {
  readonly labels: Labels;
  readonly value: number;
}

export interface VectorResult {
  readonly kind: 'vector';
  /** Unix milliseconds of all samples. */
  readonly timeMs: number;
  readonly samples: readonly VectorSample[];
  readonly warnings: readonly string[];
}

interface ResultSeries {
  readonly labels: Labels;
  /** Unix milliseconds, ascending. A time occurs twice if two elements of an instant had equal labels. */
  readonly timesMs: Float64Array;
  /** Values, as long as `timesMs`. */
  readonly values: Float64Array;
}

export interface MatrixResult {
  readonly kind: 'matrix';
  readonly series: readonly ResultSeries[];
  readonly warnings: readonly string[];
}

export type MetricResult = ScalarResult | VectorResult | MatrixResult;

interface SeriesLimit {
  /** Maximum series; 0 is unlimited. */
  readonly maxSeries: number;
  /** Whether too many series yield the largest ones and a warning instead of an error. */
  readonly partial: boolean;
}

/**
 * Returns the only instant as a vector, ordered by labels unless the query requests the order of evaluation.
 */
export function vectorResult(matrix: SeriesMatrix, keepOrder: boolean, limit: SeriesLimit): VectorResult {
  const all: VectorSample[] = [];
  for (const { labels, values, present } of matrix.series) {
    if (present[0] === 1) all.push({ labels, value: values[0] });
  }
  const warnings = checkLimit(all.length, limit);
  let samples = all;
  // If the query defines the order, its first series are the requested ones.
  if (warnings.length > 0 && keepOrder) samples = all.slice(0, limit.maxSeries);
  else if (warnings.length > 0) samples = largest(all, limit.maxSeries, ({ value }) => value);
  if (!keepOrder) samples.sort((a, b) => compareLabels(a.labels, b.labels));
  return { kind: 'vector', timeMs: matrix.timesMs[0], samples, warnings };
}

/** Returns all instants, ordered by labels; elements with equal labels become one series. */
export function* matrixResult({ timesMs, series }: SeriesMatrix, limit: SeriesLimit): Steps<MatrixResult> {
  const byLabels = new Map<string, MatrixSeries[]>();
  let atFirstInstant = 0;
  for (const one of series) {
    yield;
    const points = countPoints(one.present);
    if (points === 0) continue;
    if (one.first === 0 && one.present[0] === 1) atFirstInstant++;
    const key = labelsKey(one.labels);
    const same = byLabels.get(key);
    if (same === undefined) byLabels.set(key, [one]);
    else same.push(one);
  }
  const warnings = checkLimit(Math.max(byLabels.size, atFirstInstant), limit);
  let kept = [...byLabels.values()];
  if (warnings.length > 0) {
    const sums = new Map(kept.map(same => [same, sumOf(same)]));
    kept = largest(kept, limit.maxSeries, same => sums.get(same)!);
  }
  kept.sort((a, b) => compareLabels(a[0].labels, b[0].labels));
  const shown: ResultSeries[] = [];
  for (const same of kept) {
    shown.push(pointsOf(same, timesMs));
    yield;
  }
  return { kind: 'matrix', series: shown, warnings };
}

/** Returns the largest elements. At equal sizes, earlier ones win. NaN counts as the smallest. */
function largest<T>(all: readonly T[], count: number, sizeOf: (one: T) => number): T[] {
  const size = (one: T) => {
    const found = sizeOf(one);
    return Number.isNaN(found) ? Number.NEGATIVE_INFINITY : found;
  };
  // Compare instead of subtracting: the difference of infinities is NaN.
  const compare = (a: number, b: number) => (a === b ? 0 : b > a ? 1 : -1);
  return [...all].sort((a, b) => compare(size(a), size(b))).slice(0, count);
}

function sumOf(series: readonly MatrixSeries[]): number {
  let sum = 0;
  for (const { values, present } of series) {
    for (let i = 0; i < values.length; i++)
      if (present[i] === 1 && !Number.isNaN(values[i])) sum += values[i];
  }
  return sum;
}

/** Returns a literal over a range: one series without labels. */
export function constantResult(timesMs: Float64Array, value: number): MatrixResult {
  const values = new Float64Array(timesMs.length).fill(value);
  return { kind: 'matrix', series: [{ labels: NO_LABELS, timesMs, values }], warnings: [] };
}

function pointsOf(same: readonly MatrixSeries[], instantsMs: Float64Array): ResultSeries {
  const points = same.reduce((sum, { present }) => sum + countPoints(present), 0);
  const timesMs = new Float64Array(points);
  const values = new Float64Array(points);
  let at = 0;
  const put = (one: MatrixSeries, i: number): void => {
    if (one.present[i] !== 1) return;
    timesMs[at] = instantsMs[one.first + i];
    values[at++] = one.values[i];
  };
  if (same.length === 1) {
    for (let i = 0; i < same[0].values.length; i++) put(same[0], i);
  } else {
    for (let instant = 0; instant < instantsMs.length; instant++) {
      for (const one of same) put(one, instant - one.first);
    }
  }
  return { labels: same[0].labels, timesMs, values };
}

/** Returns the warning of a truncated result, or none. Throws BadRequestError. */
function checkLimit(series: number, { maxSeries, partial }: SeriesLimit): string[] {
  if (maxSeries <= 0 || series <= maxSeries) return [];
  const reached = `maximum number of series (${maxSeries}) reached for a single query`;
  if (partial) return [`${reached}; returning partial results`];
  throw new BadRequestError(
    `${reached}; consider reducing query cardinality by adding more specific stream selectors, reducing the time ` +
      'range, or aggregating results with functions like sum(), count() or topk()',
  );
}
