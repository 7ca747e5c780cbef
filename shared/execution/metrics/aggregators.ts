/**
 * State of a pane, by range aggregation: a few numbers with three operations that form a monoid. They create
 * an empty state, add samples, and combine an earlier state with a later one. Windows, workers and retries
 * all rely on `combine`, which works in any grouping.
 *
 * States are adjacent in a Float64Array, `width` numbers each. `combine` may overwrite its first operand.
 * Formulas: running mean and infinity rules, docs/dev/logql-semantics.md#range-aggregations; variance by Welford, merged by Chan's
 * formula.
 */

import type { SampleBatch } from '../../base/model/samples.ts';
import type { RangeOp } from '../../language/logql/ast.ts';

export interface Aggregator {
  /** Types of the numbers of a state. 'whole' numbers are counts below 2^53, encoded as varints. */
  readonly layout: readonly ('whole' | 'float')[];
  readonly init: (cells: Float64Array, at: number) => void;
  /** Adds samples `from` to `to - 1` of a batch, in order. `shift` converts page offsets to query times. */
  readonly add: (
    cells: Float64Array,
    at: number,
    batch: SampleBatch,
    from: number,
    to: number,
    shift: number,
  ) => void;
  readonly combine: (
    out: Float64Array,
    outAt: number,
    earlier: Float64Array,
    earlierAt: number,
    later: Float64Array,
    laterAt: number,
  ) => void;
  readonly value: (cells: Float64Array, at: number) => number;
}

const one = (cells: Float64Array, at: number): number => cells[at];

const COUNT_AGGREGATOR: Aggregator = {
  layout: ['whole'],
  init: (cells, at) => {
    cells[at] = 0;
  },
  add: (cells, at, _batch, from, to) => {
    cells[at] += to - from;
  },
  combine: addFirst,
  value: one,
};

const SUM_AGGREGATOR: Aggregator = {
  layout: ['float'],
  init: (cells, at) => {
    cells[at] = 0;
  },
  add: (cells, at, { values }, from, to) => {
    if (values === undefined) {
      cells[at] += to - from;
      return;
    }
    let sum = cells[at];
    for (let i = from; i < to; i++) sum += values[i];
    cells[at] = sum;
  },
  combine: addFirst,
  value: one,
};

function addFirst(
  out: Float64Array,
  outAt: number,
  earlier: Float64Array,
  earlierAt: number,
  later: Float64Array,
  laterAt: number,
): void {
  out[outAt] = earlier[earlierAt] + later[laterAt];
}

/** Returns whether an infinite mean absorbs a value: any finite value, and an infinity of the same sign. */
export function meanIgnores(mean: number, value: number): boolean {
  return (mean === Infinity || mean === -Infinity) && (value === mean || Number.isFinite(value));
}

/** State: count, mean. */
const MEAN_AGGREGATOR: Aggregator = {
  layout: ['whole', 'float'],
  init: (cells, at) => {
    cells[at] = 0;
    cells[at + 1] = 0;
  },
  add: (cells, at, { values }, from, to) => {
    let count = cells[at];
    let mean = cells[at + 1];
    for (let i = from; i < to; i++) {
      const value = values === undefined ? 1 : values[i];
      count++;
      if (!meanIgnores(mean, value)) mean += value / count - mean / count;
    }
    cells[at] = count;
    cells[at + 1] = mean;
  },
  combine: (out, outAt, earlier, earlierAt, later, laterAt) => {
    const countA = earlier[earlierAt];
    const countB = later[laterAt];
    const meanA = earlier[earlierAt + 1];
    const meanB = later[laterAt + 1];
    const count = countA + countB;
    out[outAt] = count;
    if (countA === 0) out[outAt + 1] = meanB;
    else if (countB === 0 || meanIgnores(meanA, meanB)) out[outAt + 1] = meanA;
    // Apply the weight before the subtraction, so that two large means of opposite signs do not overflow.
    else out[outAt + 1] = meanA + (meanB * (countB / count) - meanA * (countB / count));
  },
  value: (cells, at) => cells[at + 1],
};

/** NaN is the empty state: any number replaces it, and NaN replaces no number. */
const MIN_AGGREGATOR: Aggregator = {
  layout: ['float'],
  init: (cells, at) => {
    cells[at] = Number.NaN;
  },
  add: (cells, at, { values }, from, to) => {
    let least = cells[at];
    for (let i = from; i < to; i++) {
      const value = values === undefined ? 1 : values[i];
      if (value < least || Number.isNaN(least)) least = value;
    }
    cells[at] = least;
  },
  combine: (out, outAt, earlier, earlierAt, later, laterAt) => {
    const a = earlier[earlierAt];
    const b = later[laterAt];
    out[outAt] = b < a || Number.isNaN(a) ? b : a;
  },
  value: one,
};

const MAX_AGGREGATOR: Aggregator = {
  layout: ['float'],
  init: (cells, at) => {
    cells[at] = Number.NaN;
  },
  add: (cells, at, { values }, from, to) => {
    let most = cells[at];
    for (let i = from; i < to; i++) {
      const value = values === undefined ? 1 : values[i];
      if (value > most || Number.isNaN(most)) most = value;
    }
    cells[at] = most;
  },
  combine: (out, outAt, earlier, earlierAt, later, laterAt) => {
    const a = earlier[earlierAt];
    const b = later[laterAt];
    out[outAt] = b > a || Number.isNaN(a) ? b : a;
  },
  value: one,
};

/** State: count, mean, sum of squared distances from the mean. The value is the population variance. */
const VARIANCE_AGGREGATOR: Aggregator = {
  layout: ['whole', 'float', 'float'],
  init: (cells, at) => {
    cells[at] = 0;
    cells[at + 1] = 0;
    cells[at + 2] = 0;
  },
  add: (cells, at, { values }, from, to) => {
    let count = cells[at];
    let mean = cells[at + 1];
    let squares = cells[at + 2];
    for (let i = from; i < to; i++) {
      const value = values === undefined ? 1 : values[i];
      count++;
      const delta = value - mean;
      mean += delta / count;
      squares += delta * (value - mean);
    }
    cells[at] = count;
    cells[at + 1] = mean;
    cells[at + 2] = squares;
  },
  combine: (out, outAt, earlier, earlierAt, later, laterAt) => {
    const countA = earlier[earlierAt];
    const countB = later[laterAt];
    const meanA = earlier[earlierAt + 1];
    const meanB = later[laterAt + 1];
    const squaresA = earlier[earlierAt + 2];
    const squaresB = later[laterAt + 2];
    const count = countA + countB;
    out[outAt] = count;
    if (countA === 0 || countB === 0) {
      out[outAt + 1] = countA === 0 ? meanB : meanA;
      out[outAt + 2] = countA === 0 ? squaresB : squaresA;
      return;
    }
    const delta = meanB - meanA;
    out[outAt + 1] = meanA + delta * (countB / count);
    out[outAt + 2] = squaresA + squaresB + delta * delta * ((countA * countB) / count);
  },
  value: (cells, at) => cells[at + 2] / cells[at],
};

const DEVIATION_AGGREGATOR: Aggregator = {
  ...VARIANCE_AGGREGATOR,
  value: (cells, at) => Math.sqrt(cells[at + 2] / cells[at]),
};

/**
 * State of a first or last sample: time, value, and the numbers that order samples of equal times (SampleOrder). If all
 * are equal, the samples are of one page, and are added in their order.
 */
const ORDERED_LAYOUT = ['float', 'float', 'float', 'float', 'float', 'float'] as const;
const TIME = 0;
const VALUE = 1;
const STREAM = 2;
const CHUNK = 3;
const CHUNK_REST = 4;
const PAGE = 5;

const FIRST_AGGREGATOR: Aggregator = {
  layout: ORDERED_LAYOUT,
  init: (cells, at) => {
    cells.fill(0, at, at + ORDERED_LAYOUT.length);
    cells[at + TIME] = Infinity;
  },
  add: (cells, at, batch, from, to, shift) => {
    const { times, rows } = batch;
    for (let i = from; i < to; i++) {
      const time = times[rows[i]] + shift;
      if (time > cells[at]) continue;
      if (time < cells[at] || compareToState(batch, i, cells, at) < 0) setSample(cells, at, batch, i, time);
    }
  },
  combine: (out, outAt, earlier, earlierAt, later, laterAt) => {
    const isLaterFirst = compareStates(later, laterAt, earlier, earlierAt) < 0;
    copyState(out, outAt, isLaterFirst ? later : earlier, isLaterFirst ? laterAt : earlierAt);
  },
  value: (cells, at) => cells[at + VALUE],
};

const LAST_AGGREGATOR: Aggregator = {
  layout: ORDERED_LAYOUT,
  init: (cells, at) => {
    cells.fill(0, at, at + ORDERED_LAYOUT.length);
    cells[at + TIME] = -Infinity;
  },
  add: (cells, at, batch, from, to, shift) => {
    const { times, rows } = batch;
    for (let i = from; i < to; i++) {
      const time = times[rows[i]] + shift;
      if (time < cells[at]) continue;
      if (time > cells[at] || compareToState(batch, i, cells, at) >= 0) setSample(cells, at, batch, i, time);
    }
  },
  combine: (out, outAt, earlier, earlierAt, later, laterAt) => {
    const isLaterLast = compareStates(later, laterAt, earlier, earlierAt) >= 0;
    copyState(out, outAt, isLaterLast ? later : earlier, isLaterLast ? laterAt : earlierAt);
  },
  value: (cells, at) => cells[at + VALUE],
};

function setSample(
  cells: Float64Array,
  at: number,
  { rows, values, order }: SampleBatch,
  i: number,
  time: number,
): void {
  cells[at + TIME] = time;
  cells[at + VALUE] = values === undefined ? 1 : values[i];
  if (order === undefined) return;
  cells[at + STREAM] = order.streamOf(rows[i]);
  cells[at + CHUNK] = order.chunk[0];
  cells[at + CHUNK_REST] = order.chunk[1];
  cells[at + PAGE] = order.page;
}

/** Compares a sample with the state of its time. Negative if it comes before. */
function compareToState({ rows, order }: SampleBatch, i: number, cells: Float64Array, at: number): number {
  if (order === undefined) return 0;
  const byStream = order.streamOf(rows[i]) - cells[at + STREAM];
  const [chunk, rest] = order.chunk;
  return (
    byStream || chunk - cells[at + CHUNK] || rest - cells[at + CHUNK_REST] || order.page - cells[at + PAGE]
  );
}

function compareStates(a: Float64Array, aAt: number, b: Float64Array, bAt: number): number {
  for (const part of [TIME, STREAM, CHUNK, CHUNK_REST, PAGE]) {
    if (a[aAt + part] !== b[bAt + part]) return a[aAt + part] < b[bAt + part] ? -1 : 1;
  }
  return 0;
}

function copyState(out: Float64Array, outAt: number, from: Float64Array, at: number): void {
  for (let part = 0; part < ORDERED_LAYOUT.length; part++) out[outAt + part] = from[at + part];
}

/**
 * Returns the aggregator of an operation, or undefined for operations that need every sample
 * (quantile_over_time, rate_counter).
 */
export function aggregatorOf(op: RangeOp, unwrapped: boolean): Aggregator | undefined {
  switch (op) {
    case 'count_over_time':
    case 'absent_over_time':
      return COUNT_AGGREGATOR;
    case 'rate':
      return unwrapped ? SUM_AGGREGATOR : COUNT_AGGREGATOR;
    case 'bytes_over_time':
    case 'bytes_rate':
    case 'sum_over_time':
      return SUM_AGGREGATOR;
    case 'avg_over_time':
      return MEAN_AGGREGATOR;
    case 'min_over_time':
      return MIN_AGGREGATOR;
    case 'max_over_time':
      return MAX_AGGREGATOR;
    case 'stdvar_over_time':
      return VARIANCE_AGGREGATOR;
    case 'stddev_over_time':
      return DEVIATION_AGGREGATOR;
    case 'first_over_time':
      return FIRST_AGGREGATOR;
    case 'last_over_time':
      return LAST_AGGREGATOR;
    case 'quantile_over_time':
    case 'rate_counter':
      return undefined;
  }
}

/** Returns whether the operation uses the first or last sample, so that batches need their order. */
export function needsOrder(op: RangeOp): boolean {
  return op === 'first_over_time' || op === 'last_over_time';
}

/** Returns whether the value of the operation is divided by the seconds of the range. */
export function isRate(op: RangeOp): boolean {
  return op === 'rate' || op === 'bytes_rate';
}
