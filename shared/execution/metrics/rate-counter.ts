/**
 * Evaluates rate_counter: the increase of a counter that may reset, extrapolated to the window
 * (docs/dev/logql-semantics.md#rate_counter). The state of consecutive samples is count, first value and time, last value and time, and
 * the sum lost in resets. Joining two states only checks the border between them.
 */
import { NS_OF_SECOND } from '../../base/model/time-units.ts';
import type { Aggregator } from './aggregators.ts';
import type { GroupedSamples } from './sample-log.ts';

const COUNT = 0;
const FIRST_VALUE = 1;
const FIRST_TIME = 2;
const LAST_VALUE = 3;
const LAST_TIME = 4;
const LOST = 5;
const WIDTH = 6;

/** Combines states from `counterStates`. It has no batches, because samples may arrive out of order. */
export const COUNTER_AGGREGATOR: Aggregator = {
  layout: ['whole', 'float', 'float', 'float', 'float', 'float'],
  init: (cells, at) => {
    cells.fill(0, at, at + WIDTH);
  },
  add: () => {},
  combine: (out, outAt, earlier, earlierAt, later, laterAt) => {
    const before = earlier[earlierAt + LAST_VALUE];
    const reset = later[laterAt + FIRST_VALUE] < before ? before : 0;
    const lost = earlier[earlierAt + LOST] + reset + later[laterAt + LOST];
    const count = earlier[earlierAt] + later[laterAt];
    const firstValue = earlier[earlierAt + FIRST_VALUE];
    const firstTime = earlier[earlierAt + FIRST_TIME];
    out[outAt + COUNT] = count;
    out[outAt + FIRST_VALUE] = firstValue;
    out[outAt + FIRST_TIME] = firstTime;
    out[outAt + LAST_VALUE] = later[laterAt + LAST_VALUE];
    out[outAt + LAST_TIME] = later[laterAt + LAST_TIME];
    out[outAt + LOST] = lost;
  },
  value: (cells, at) => cells[at],
};

/** Returns one state for each group of samples, in group order; samples of a group ascend by time. */
export function counterStates({ starts, values, times }: GroupedSamples): Float64Array {
  const groups = starts.length - 1;
  const cells = new Float64Array(groups * WIDTH);
  for (let group = 0; group < groups; group++) {
    const from = starts[group];
    const last = starts[group + 1] - 1;
    let lost = 0;
    for (let i = from + 1; i <= last; i++) if (values[i] < values[i - 1]) lost += values[i - 1];
    const at = group * WIDTH;
    cells[at + COUNT] = last - from + 1;
    cells[at + FIRST_VALUE] = values[from];
    cells[at + FIRST_TIME] = times[from];
    cells[at + LAST_VALUE] = values[last];
    cells[at + LAST_TIME] = times[last];
    cells[at + LOST] = lost;
  }
  return cells;
}

/**
 * Returns the rate per second of a window. Times and window borders are ns on one scale; `rangeSeconds` is
 * the window's length. Fewer than two samples yield 0; samples at only one instant yield NaN.
 */
export function counterRate(
  state: Float64Array,
  windowStart: number,
  windowEnd: number,
  rangeSeconds: number,
): number {
  const count = state[COUNT];
  if (count < 2) return 0;
  const first = state[FIRST_VALUE];
  const increase = state[LAST_VALUE] - first + state[LOST];
  const span = (state[LAST_TIME] - state[FIRST_TIME]) / NS_OF_SECOND;
  const average = span / (count - 1);
  const threshold = average * 1.1;
  let toStart = (state[FIRST_TIME] - windowStart) / NS_OF_SECOND;
  let toEnd = (windowEnd - state[LAST_TIME]) / NS_OF_SECOND;
  if (toStart >= threshold) toStart = average / 2;
  // A counter is never below zero: do not extrapolate past the time at which it was zero.
  if (increase > 0 && first >= 0) toStart = Math.min(toStart, span * (first / increase));
  if (toEnd >= threshold) toEnd = average / 2;
  return (increase * ((span + toStart + toEnd) / span)) / rangeSeconds;
}
