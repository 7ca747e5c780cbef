/**
 * Evaluates quantile_over_time. Windows without common panes sort their values. Overlapping windows slide
 * over a Fenwick tree of ranks: a value is added and removed once, and a quantile takes two searches. The
 * cost is O(n log n) per series for any overlap.
 */

import { binaryFirst } from '../../base/model/binary-search.ts';
import type { GroupedSamples } from './sample-log.ts';
import type { WindowSink } from './sliding.ts';
import type { Windows } from './windows.ts';

/**
 * Returns the q-quantile of n values by linear interpolation at rank q (n - 1). `valueAt` returns values in
 * ascending order, NaN smallest. Below 0 the quantile is -Inf, above 1 +Inf.
 */
function quantileOf(q: number, count: number, valueAt: (rank: number) => number): number {
  if (count === 0 || Number.isNaN(q)) return Number.NaN;
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  const rank = q * (count - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(count - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return valueAt(lower) * (1 - weight) + valueAt(upper) * weight;
}

/** Reads ascending values with NaN at the end, as typed arrays sort, as if NaN came first. */
function quantileOfSorted(q: number, sorted: Float64Array): number {
  const numbers = numbersOf(sorted);
  const nans = sorted.length - numbers;
  return quantileOf(q, sorted.length, rank => (rank < nans ? Number.NaN : sorted[rank - nans]));
}

/** Returns the number of sorted values that are not NaN. */
function numbersOf(sorted: Float64Array): number {
  return binaryFirst(sorted.length, index => Number.isNaN(sorted[index]));
}

/** Fills the sink with the quantile of each window, from panes and samples `from` to `to - 1`. */
export function slideQuantile(
  q: number,
  panes: Int32Array,
  samples: GroupedSamples,
  from: number,
  to: number,
  windows: Windows,
  sink: WindowSink,
): void {
  if (windows.overlapping) slideOverRanks(q, panes, samples, from, to, windows, sink);
  else quantileOfPanes(q, panes, samples, from, to, windows, sink);
}

/** Handles windows that have at most one pane each. */
function quantileOfPanes(
  q: number,
  panes: Int32Array,
  { starts, values }: GroupedSamples,
  from: number,
  to: number,
  { firstPane, lastPane }: Windows,
  sink: WindowSink,
): void {
  let index = from;
  for (let i = 0; i < sink.values.length; i++) {
    const instant = sink.first + i;
    while (index < to && panes[index] < firstPane[instant]) index++;
    if (index === to || panes[index] > lastPane[instant]) continue;
    sink.values[i] = quantileOfSorted(q, values.slice(starts[index], starts[index + 1]).sort());
    sink.present[i] = 1;
  }
}

function slideOverRanks(
  q: number,
  panes: Int32Array,
  { starts, values }: GroupedSamples,
  from: number,
  to: number,
  { firstPane, lastPane }: Windows,
  sink: WindowSink,
): void {
  const own = values.subarray(starts[from], starts[to]);
  const base = starts[from];
  const window = new RankWindow(own);
  let low = from;
  let high = from;
  for (let i = 0; i < sink.values.length; i++) {
    const instant = sink.first + i;
    for (; high < to && panes[high] <= lastPane[instant]; high++) {
      for (let s = starts[high]; s < starts[high + 1]; s++) window.change(s - base, 1);
    }
    for (; low < high && panes[low] < firstPane[instant]; low++) {
      for (let s = starts[low]; s < starts[low + 1]; s++) window.change(s - base, -1);
    }
    if (low === high) continue;
    sink.values[i] = window.quantile(q);
    sink.present[i] = 1;
  }
}

/** Samples of the current window, as counts by rank in a Fenwick tree. */
class RankWindow {
  readonly #distinct: Float64Array;
  /** Rank of each sample from 1; 0 for NaN. */
  readonly #rankOf: Uint32Array;
  readonly #tree: Int32Array;
  readonly #topBit: number;
  #nans = 0;
  #count = 0;

  constructor(values: Float64Array) {
    const sorted = values.slice().sort();
    const numbers = numbersOf(sorted);
    let distinct = 0;
    for (let i = 0; i < numbers; i++) {
      if (distinct === 0 || sorted[i] !== sorted[distinct - 1]) sorted[distinct++] = sorted[i];
    }
    this.#distinct = sorted.subarray(0, distinct);
    this.#rankOf = new Uint32Array(values.length);
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (!Number.isNaN(value)) {
        this.#rankOf[i] = binaryFirst(distinct, index => this.#distinct[index] >= value) + 1;
      }
    }
    this.#tree = new Int32Array(distinct + 1);
    this.#topBit = distinct === 0 ? 0 : 1 << (31 - Math.clz32(distinct));
  }

  /** Adds (1) or removes (-1) sample number `sample`. */
  change(sample: number, by: number): void {
    this.#count += by;
    const rank = this.#rankOf[sample];
    if (rank === 0) {
      this.#nans += by;
      return;
    }
    for (let at = rank; at < this.#tree.length; at += at & -at) this.#tree[at] += by;
  }

  quantile(q: number): number {
    return quantileOf(q, this.#count, rank => this.#valueAt(rank));
  }

  #valueAt(rank: number): number {
    if (rank < this.#nans) return Number.NaN;
    let before = rank - this.#nans;
    let at = 0;
    for (let bit = this.#topBit; bit > 0; bit >>= 1) {
      const next = at + bit;
      if (next < this.#tree.length && this.#tree[next] <= before) {
        at = next;
        before -= this.#tree[next];
      }
    }
    return this.#distinct[at];
  }
}
