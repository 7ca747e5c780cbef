/**
 * Vector aggregations that reduce a group to one series (docs/dev/logql-semantics.md#vector-aggregations): sum, avg, count, min, max,
 * stddev, stdvar. Each processes whole series, member by member, so the members of an instant are added in
 * input order.
 */
import type { Grouping } from '../../language/logql/ast.ts';
import { meanIgnores } from './aggregators.ts';
import { groupBy } from './grouping.ts';
import { type MatrixSeries, type SeriesMatrix, spanOf } from './matrix.ts';
import { MEMBERS_A_STEP, type Steps } from './steps.ts';

type ReduceOp = 'sum' | 'avg' | 'count' | 'min' | 'max' | 'stddev' | 'stdvar';

export function* reduceGroups(
  matrix: SeriesMatrix,
  op: ReduceOp,
  grouping: Grouping | undefined,
): Steps<SeriesMatrix> {
  const scratch = new ScratchColumns(matrix.timesMs.length);
  const series: MatrixSeries[] = [];
  for (const { labels, members } of yield* groupBy(matrix.series, grouping)) {
    const lone = members.length === 1 && op !== 'count' && op !== 'stddev' && op !== 'stdvar';
    series.push(lone ? { ...members[0], labels } : { labels, ...(yield* reduce(op, members, scratch)) });
    yield;
  }
  return { timesMs: matrix.timesMs, series };
}

/** Scratch columns by instant, reused by each group. */
class ScratchColumns {
  readonly counts: Float64Array;
  readonly means: Float64Array;

  constructor(instants: number) {
    this.counts = new Float64Array(instants);
    this.means = new Float64Array(instants);
  }
}

function* reduce(
  op: ReduceOp,
  members: readonly MatrixSeries[],
  scratch: ScratchColumns,
): Steps<Omit<MatrixSeries, 'labels'>> {
  const { first, end } = spanOf(members);
  const values = new Float64Array(end - first);
  const present = new Uint8Array(end - first);
  const counts = scratch.counts.fill(0, 0, end - first);
  for (let i = 0; i < members.length; i++) {
    addMember(op, { values, present, counts, means: scratch.means }, members[i], members[i].first - first);
    if (i % MEMBERS_A_STEP === 0) yield;
  }
  if (op === 'stddev' || op === 'stdvar') {
    for (let i = 0; i < values.length; i++) {
      if (present[i] === 0) continue;
      const variance = values[i] / counts[i];
      values[i] = op === 'stdvar' ? variance : Math.sqrt(variance);
    }
  }
  return { first, values, present };
}

interface InstantSums {
  readonly values: Float64Array;
  readonly present: Uint8Array;
  readonly counts: Float64Array;
  readonly means: Float64Array;
}

function addMember(
  op: ReduceOp,
  { values, present, counts, means }: InstantSums,
  member: MatrixSeries,
  shift: number,
): void {
  switch (op) {
    case 'sum':
      addSum(values, present, member, shift);
      break;
    case 'count':
      addCount(values, member, shift);
      break;
    case 'min':
      addLeast(values, present, member, shift);
      break;
    case 'max':
      addMost(values, present, member, shift);
      break;
    case 'avg':
      addMean(values, counts, member, shift);
      break;
    case 'stddev':
    case 'stdvar':
      addSquares(values, counts, means, member, shift);
      break;
  }
  for (let i = 0; i < member.present.length; i++) present[i + shift] |= member.present[i];
}

function addSum(
  sums: Float64Array,
  present: Uint8Array,
  { values, present: own }: MatrixSeries,
  shift: number,
): void {
  for (let i = 0; i < values.length; i++) {
    if (own[i] === 1) sums[i + shift] = present[i + shift] === 1 ? sums[i + shift] + values[i] : values[i];
  }
}

function addCount(counts: Float64Array, { present: own }: MatrixSeries, shift: number): void {
  for (let i = 0; i < own.length; i++) counts[i + shift] += own[i];
}

/** Any later value replaces NaN. */
function addLeast(
  least: Float64Array,
  present: Uint8Array,
  { values, present: own }: MatrixSeries,
  shift: number,
): void {
  for (let i = 0; i < values.length; i++) {
    if (own[i] === 0) continue;
    const at = i + shift;
    if (present[at] === 0 || values[i] < least[at] || Number.isNaN(least[at])) least[at] = values[i];
  }
}

function addMost(
  most: Float64Array,
  present: Uint8Array,
  { values, present: own }: MatrixSeries,
  shift: number,
): void {
  for (let i = 0; i < values.length; i++) {
    if (own[i] === 0) continue;
    const at = i + shift;
    if (present[at] === 0 || values[i] > most[at] || Number.isNaN(most[at])) most[at] = values[i];
  }
}

/** m += (v - m) / k; an infinite mean ignores finite values and infinities of the same sign. */
function addMean(
  means: Float64Array,
  counts: Float64Array,
  { values, present: own }: MatrixSeries,
  shift: number,
): void {
  for (let i = 0; i < values.length; i++) {
    if (own[i] === 0) continue;
    const at = i + shift;
    const count = ++counts[at];
    if (count === 1) means[at] = values[i];
    else if (!meanIgnores(means[at], values[i])) means[at] += (values[i] - means[at]) / count;
  }
}

/** Welford's update; the first value is the mean and adds no distance, whatever it is. */
function addSquares(
  squares: Float64Array,
  counts: Float64Array,
  means: Float64Array,
  { values, present: own }: MatrixSeries,
  shift: number,
): void {
  for (let i = 0; i < values.length; i++) {
    if (own[i] === 0) continue;
    const at = i + shift;
    const count = ++counts[at];
    if (count === 1) {
      means[at] = values[i];
      continue;
    }
    const delta = values[i] - means[at];
    means[at] += delta / count;
    squares[at] += delta * (values[i] - means[at]);
  }
}
